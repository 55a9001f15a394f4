//! `GET /openapi.json`, `GET /openapi.yaml`

use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;

use crate::app::App;

/// Get the OpenAPI document as JSON
#[utoipa::path(
    get,
    path = "/openapi.json",
    tag = "Description",
    responses((status = 200,
     description = "This document",
     content_type = "application/json", body = Object, example = json!({"openapi": "3.1.0", "info": {"title": "Bellwether"}}))),
    security(())
)]
pub(super) async fn get_openapi_json(State(app): State<App>, headers: HeaderMap) -> Response {
    app.document().answer_json(&headers)
}

/// Get the OpenAPI document as YAML
#[utoipa::path(
    get,
    path = "/openapi.yaml",
    tag = "Description",
    responses((status = 200,
     description = "This document",
     content_type = "application/yaml", body = Object, example = json!({"openapi": "3.1.0", "info": {"title": "Bellwether"}}))),
    security(())
)]
pub(super) async fn get_openapi_yaml(State(app): State<App>, headers: HeaderMap) -> Response {
    app.document().answer_yaml(&headers)
}
