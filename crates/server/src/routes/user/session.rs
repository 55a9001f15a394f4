//! `GET|PATCH /user/session`

use accounts::identity::requests::UpdateSessionRequest;
use accounts::identity::{Account, UserSession};
use foundation::Actor;

use super::phone::VerifiedPhone;
use super::preferences::QuietHoursView;
use crate::document::names::SubscriptionStatusName;
use crate::routes::auth::session::SessionView;
use crate::routes::prelude::*;

/// A session with its owner's profile.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UserSession)]
pub struct UserSessionView {
    /// The session and its owner.
    #[serde(flatten)]
    pub session: SessionView,
    /// Status of the account: `active` or `deactivated`.
    #[schema(value_type = SubscriptionStatusName, example = "active")]
    pub status: &'static str,
    /// Phone number for text messages; null if none is verified.
    #[schema(required)]
    pub phone: Option<VerifiedPhone>,
    /// Quiet hours; null for none.
    #[schema(required)]
    pub quiet_hours: Option<QuietHoursView>,
}

impl UserSessionView {
    fn of(session: &UserSession, account: &Account) -> Self {
        let profile = &account.profile;
        let is_deactivated = profile.deactivated_at.is_some();
        Self {
            session: SessionView::of(session, account),
            status: if is_deactivated { "deactivated" } else { "active" },
            phone: profile.phone.as_ref().map(VerifiedPhone::of),
            quiet_hours: profile.quiet_hours.map(QuietHoursView::of),
        }
    }
}

async fn current_session(app: &App, actor: &Actor) -> Result<ApiResponse<UserSessionView>, ApiError> {
    let (session, account) = app.service().identity.session(actor).await?;
    Ok(ApiResponse::ok(UserSessionView::of(&session, &account)))
}

/// Get the session and the profile
#[utoipa::path(
    get,
    path = "/user/session",
    tag = "User",
    responses((status = 200, description = "The session and its owner", body = Envelope<UserSessionView>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn get_user_session(
    State(app): State<App>,
    caller: AuthenticatedSession,
) -> Result<ApiResponse<UserSessionView>, ApiError> {
    current_session(&app, &caller.actor).await
}

/// Update the profile
///
/// Omitted fields keep their values. To change quiet hours, use `/user/preferences`.
#[utoipa::path(
    patch,
    path = "/user/session",
    tag = "User",
    request_body(content = UpdateSessionRequest, description = "The fields to change"),
    responses((status = 200, description = "The session and its updated owner", body = Envelope<UserSessionView>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn update_user_session(
    State(app): State<App>,
    caller: AuthenticatedSession,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<UserSessionView>, ApiError> {
    app.service()
        .account_settings
        .update_profile(&caller.actor, &body)
        .await?;
    current_session(&app, &caller.actor).await
}
