//! `POST /user/account/deactivate`, `POST /user/account/reactivate`

use crate::document::names::SubscriptionStatusName;
use crate::routes::prelude::*;

/// A deactivated account.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Deactivated)]
pub struct DeactivatedAccount {
    /// Always `deactivated`.
    #[schema(value_type = SubscriptionStatusName, example = "deactivated")]
    pub status: &'static str,
    /// Number of alerts paused by this request.
    #[schema(example = 3)]
    pub paused_alerts: usize,
}

/// A reactivated account.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Reactivated)]
pub struct ReactivatedAccount {
    /// Always `active`.
    #[schema(value_type = SubscriptionStatusName, example = "active")]
    pub status: &'static str,
}

/// Deactivate the account
///
/// Pauses all active alerts. Until the account is reactivated, requests that create or activate something return 403 with the
/// reason `deactivated`. Reading and signing in still work.
#[utoipa::path(
    post,
    path = "/user/account/deactivate",
    tag = "User",
    responses((status = 200, description = "The account is deactivated", body = Envelope<DeactivatedAccount>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn deactivate_account(
    State(app): State<App>,
    caller: AuthenticatedSession,
    _body: IgnoredJsonBody,
) -> Result<ApiResponse<DeactivatedAccount>, ApiError> {
    let paused_alerts = app.service().account_settings.deactivate_account(&caller.actor).await?;
    Ok(ApiResponse::ok(DeactivatedAccount {
        status: "deactivated",
        paused_alerts,
    }))
}

/// Reactivate the account
///
/// Alerts stay paused until they are activated.
#[utoipa::path(
    post,
    path = "/user/account/reactivate",
    tag = "User",
    responses((status = 200, description = "The account is active again", body = Envelope<ReactivatedAccount>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn reactivate_account(
    State(app): State<App>,
    caller: AuthenticatedSession,
    _body: IgnoredJsonBody,
) -> Result<ApiResponse<ReactivatedAccount>, ApiError> {
    app.service().account_settings.reactivate_account(&caller.actor).await?;
    Ok(ApiResponse::ok(ReactivatedAccount { status: "active" }))
}
