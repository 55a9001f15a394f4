//! `GET /firings/{id}`

use super::view::FiringView;
use crate::routes::prelude::*;

/// Get a firing
///
/// Returns a firing with the time of each step, the messages about it, and its acknowledgement.
#[utoipa::path(
    get,
    path = "/firings/{id}",
    tag = "Firings",
    params(("id" = uuid::Uuid, Path, description = "Firing id: the id of its event")),
    responses(
        (status = 200, description = "The firing", body = Envelope<FiringView>),
        (status = 404, description = "Firing not found"),
    ),
    security(("ApiKeyHeader" = ["alerts:read"]))
)]
pub(super) async fn get_firing(
    State(app): State<App>,
    caller: Authorized<AlertsRead>,
    FiringPath(id): FiringPath,
) -> Result<ApiResponse<FiringView>, ApiError> {
    let firing = app.service().firings.firing(&caller.actor, id).await?;
    Ok(ApiResponse::ok(FiringView::of(firing)))
}
