//! `GET /openapi.json`, `GET /openapi.yaml`

use std::sync::Arc;

use axum::Extension;
use axum::response::Response;
use http::HeaderMap;

use crate::document::openapi::OpenApiDocument;

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
pub(super) async fn get_openapi_json(
    Extension(document): Extension<Arc<OpenApiDocument>>,
    headers: HeaderMap,
) -> Response {
    document.respond_json(&headers)
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
pub(super) async fn get_openapi_yaml(
    Extension(document): Extension<Arc<OpenApiDocument>>,
    headers: HeaderMap,
) -> Response {
    document.respond_yaml(&headers)
}
