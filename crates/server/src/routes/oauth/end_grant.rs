//! `DELETE /oauth/grants/{id}`

use crate::routes::prelude::*;

/// A revoked grant.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EndedGrant)]
pub struct RevokedGrant {
    /// Grant id.
    pub id: Uuid,
    /// Always `true`.
    pub deleted: bool,
}

/// Revoke an app's grant
///
/// The app's tokens are refused immediately; other processes of this service may accept them for a few more seconds. Requires a
/// session; API keys are refused.
#[utoipa::path(
    delete,
    path = "/oauth/grants/{id}",
    tag = "OAuth",
    params(("id" = uuid::Uuid, Path, description = "Grant id")),
    responses(
        (status = 200, description = "The grant is revoked", body = Envelope<RevokedGrant>),
        (status = 404, description = "Grant not found"),
    ),
    security(("SessionCookie" = []))
)]
pub(super) async fn end_grant(
    State(app): State<App>,
    caller: AuthenticatedSession,
    GrantPath(id): GrantPath,
) -> Result<ApiResponse<RevokedGrant>, ApiError> {
    app.service().oauth.end_grant(&caller.actor, id).await?;
    Ok(ApiResponse::ok(RevokedGrant {
        id: id.0,
        deleted: true,
    }))
}
