//! `GET /readyz`

use serde_json::json;

use crate::routes::prelude::*;

/// Get readiness
///
/// Returns 200 while the database responds and evaluation keeps up.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "Operation",
    responses(
        (status = 200,
         description = "The service is ready",
         content_type = "application/json", body = Object, example = json!({"status": "ready"})),
        (status = 503,
         description = "The service is not ready; the body contains the reason",
         content_type = "application/json", body = Object, example = json!({"status": "not ready", "reason": "the database does not answer"})),
    ),
    security(())
)]
pub(super) async fn get_readiness(State(app): State<App>) -> Response {
    let (status, body) = match app.service().ready().await {
        Ok(()) => (StatusCode::OK, json!({"status": "ready"})),
        Err(error) => (
            StatusCode::SERVICE_UNAVAILABLE,
            json!({"status": "not ready", "reason": error.to_string()}),
        ),
    };
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (status, headers, alerts::json::text(&body)).into_response()
}
