//! `GET /metrics`

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use crate::app::App;

/// Get metrics
///
/// As Prometheus reads them.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "Operation",
    responses((status = 200, description = "The metrics", content_type = "text/plain", body = String, example = "http_requests_total 1")),
    security(())
)]
pub(super) async fn get_metrics(State(app): State<App>) -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
        app.metrics(),
    )
}
