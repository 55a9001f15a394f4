//! `POST /firings/{id}/acknowledge`

use super::view::FiringView;
use crate::routes::prelude::*;

/// Acknowledge a firing
///
/// Records that the firing was seen. The first acknowledgement counts and is in the alert's history; to repeat it changes
/// nothing.
#[utoipa::path(
    post,
    path = "/firings/{id}/acknowledge",
    tag = "Firings",
    params(("id" = uuid::Uuid, Path, description = "Firing id: the id of its event")),
    responses(
        (status = 200, description = "The firing with its acknowledgement", body = Envelope<FiringView>),
        (status = 400, description = "The body is not a JSON object"),
        (status = 404, description = "Firing not found"),
    ),
    security(("ApiKeyHeader" = ["alerts:write"]))
)]
pub(super) async fn acknowledge_firing(
    State(app): State<App>,
    caller: Authorized<AlertsWrite>,
    FiringPath(id): FiringPath,
    _body: IgnoredJsonBody,
) -> Result<ApiResponse<FiringView>, ApiError> {
    let firing = app.service().firings.acknowledge(&caller.actor, id, "api").await?;
    Ok(ApiResponse::ok(FiringView::of(firing)))
}
