//! `GET|PATCH /user/session`

use axum::extract::State;
use serde::Serialize;
use service::Actor;
use service::identity::{Account, Session};
use utoipa::ToSchema;

use super::phone::VerifiedPhone;
use super::preferences::QuietHours;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::WithSession;
use crate::body::JsonObject;
use crate::document::names::SubscriptionStatusName;
use crate::error::ApiError;
use crate::routes::auth::session::{SessionView, UpdateSession};

/// A session, who has it, and what they have said about themselves.
#[derive(Debug, Serialize, ToSchema)]
pub struct UserSession {
    /// Who has it, and the session.
    #[serde(flatten)]
    pub seen: SessionView,
    /// `active`, or `deactivated` for an account that rests.
    #[schema(value_type = SubscriptionStatusName, example = "active")]
    pub status: &'static str,
    /// The number that text messages go to; null if none was verified.
    #[schema(required)]
    pub phone: Option<VerifiedPhone>,
    /// When they do not want to be disturbed; null for never.
    #[schema(required)]
    pub quiet_hours: Option<QuietHours>,
}

impl UserSession {
    fn of(session: &Session, account: &Account) -> Self {
        let profile = &account.profile;
        let rests = profile.deactivated_at.is_some();
        Self {
            seen: SessionView::of(session, account),
            status: if rests { "deactivated" } else { "active" },
            phone: profile.phone.as_ref().map(VerifiedPhone::of),
            quiet_hours: profile.quiet_hours.map(QuietHours::of),
        }
    }
}

async fn shown(app: &App, actor: &Actor) -> Result<Reply<UserSession>, ApiError> {
    let (session, account) = app.service().identity.session(actor).await?;
    Ok(Reply::ok(UserSession::of(&session, &account)))
}

/// Read the session and the profile
#[utoipa::path(
    get,
    path = "/user/session",
    tag = "User",
    responses((status = 200, description = "The session, and who has it", body = Envelope<UserSession>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn get_user_session(State(app): State<App>, who: WithSession) -> Result<Reply<UserSession>, ApiError> {
    shown(&app, &who.actor).await
}

/// Change the profile
///
/// What is left out stays. Quiet hours have a route of their own (`/user/preferences`).
#[utoipa::path(
    patch,
    path = "/user/session",
    tag = "User",
    request_body(content = UpdateSession, description = "What is to change"),
    responses((status = 200, description = "The session, and who has it, as they are now", body = Envelope<UserSession>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn update_user_session(
    State(app): State<App>,
    who: WithSession,
    JsonObject(body): JsonObject,
) -> Result<Reply<UserSession>, ApiError> {
    app.service().account_settings.update_profile(&who.actor, &body).await?;
    shown(&app, &who.actor).await
}
