//! `GET /offline` and `GET /sw.js`: the page that a browser shows when it cannot reach the service, and the worker that keeps it.

use axum::response::IntoResponse as _;
use web::assets;

use crate::routes::pages::page::{Page, not_found_page};
use crate::routes::prelude::*;

/// Shows the page.
pub(super) async fn show_offline() -> Response {
    let text = "The service cannot be reached. Alerts are judged there, not in your browser, so they go on. Try again when you are \
                online.";
    Page::message("You are offline", text).with_link("/", "Try again").ok()
}

/// Returns the worker. Its address has no digest, because its scope is that of its address.
pub(super) async fn get_worker() -> Response {
    let Some(worker) = assets::file("sw.js") else {
        return not_found_page();
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(worker.content_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    (headers, worker.bytes.into_owned()).into_response()
}
