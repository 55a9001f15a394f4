//! `GET /healthz`

use axum::http::header;
use axum::response::IntoResponse;

/// Get health
///
/// 200 as long as the program answers at all.
#[utoipa::path(
    get,
    path = "/healthz",
    tag = "Operation",
    responses((status = 200, description = "The program is alive", content_type = "application/json", body = Object, example = json!({"status": "ok"}))),
    security(())
)]
pub(super) async fn get_health() -> impl IntoResponse {
    let json = (header::CONTENT_TYPE, "application/json");
    ([json, (header::CACHE_CONTROL, "no-store")], r#"{"status":"ok"}"#)
}
