//! `GET /openapi.json`, `GET /openapi.yaml`

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use crate::app::App;

/// Get the OpenAPI document as JSON
#[utoipa::path(
    get,
    path = "/openapi.json",
    tag = "Description",
    responses((status = 200, description = "This document", content_type = "application/json", body = Object)),
    security(())
)]
pub(super) async fn get_openapi_json(State(app): State<App>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], app.document().json())
}

/// Get the OpenAPI document as YAML
#[utoipa::path(
    get,
    path = "/openapi.yaml",
    tag = "Description",
    responses((status = 200, description = "This document", content_type = "application/yaml", body = Object)),
    security(())
)]
pub(super) async fn get_openapi_yaml(State(app): State<App>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/yaml")], app.document().yaml())
}
