//! `GET /healthz`

use crate::routes::prelude::*;

/// Get health
///
/// Returns 200 while the process responds.
#[utoipa::path(
    get,
    path = "/healthz",
    tag = "Operation",
    responses((status = 200,
     description = "The process is alive",
     content_type = "application/json", body = Object, example = json!({"status": "ok"}))),
    security(())
)]
pub(super) async fn get_health() -> impl IntoResponse {
    let json = (header::CONTENT_TYPE, "application/json");
    ([json, (header::CACHE_CONTROL, "no-store")], r#"{"status":"ok"}"#)
}
