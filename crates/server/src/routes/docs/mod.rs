//! The API's description: for programs, and for people.

pub mod openapi;

use axum::Router;
use axum::routing::get;

use crate::app::App;

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/openapi.json", get(openapi::get_json))
        .route("/openapi.yaml", get(openapi::get_yaml))
}
