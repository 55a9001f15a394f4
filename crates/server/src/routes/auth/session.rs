//! `GET|PATCH /auth/session`

use accounts::identity::requests::UpdateSessionRequest;
use accounts::identity::{Account, UserSession};

use super::view::UserView;
use crate::routes::prelude::*;

/// A session and its account's owner.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionView {
    /// The account's owner.
    pub user: UserView,
    /// The session.
    pub session: SessionDetails,
}

/// Details of a session.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SessionFacts)]
pub struct SessionDetails {
    /// Unique id.
    pub id: Uuid,
    /// Time of the sign-in.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
    /// Time when the session ends if it is not used before.
    #[schema(format = DateTime, example = "2026-04-01T15:04:00.000Z")]
    pub expires_at: String,
}

impl SessionView {
    pub(crate) fn of(session: &UserSession, account: &Account) -> Self {
        Self {
            user: UserView::of(account),
            session: SessionDetails {
                id: session.id.0,
                created_at: timestamp(session.created_at),
                expires_at: timestamp(session.expires_at),
            },
        }
    }
}

/// Get the session
#[utoipa::path(
    get,
    path = "/auth/session",
    tag = "Identity",
    responses((status = 200, description = "The session and its owner", body = Envelope<SessionView>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn get_session(
    State(app): State<App>,
    caller: AuthenticatedSession,
) -> Result<ApiResponse<SessionView>, ApiError> {
    let (session, account) = app.service().identity.session(&caller.actor).await?;
    Ok(ApiResponse::ok(SessionView::of(&session, &account)))
}

/// Update the session owner's profile
#[utoipa::path(
    patch,
    path = "/auth/session",
    tag = "Identity",
    request_body(content = UpdateSessionRequest, description = "The fields to change"),
    responses((status = 200, description = "The session and its updated owner", body = Envelope<SessionView>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn update_session(
    State(app): State<App>,
    caller: AuthenticatedSession,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<SessionView>, ApiError> {
    let service = app.service();
    service.account_settings.update_profile(&caller.actor, &body).await?;
    let (session, account) = service.identity.session(&caller.actor).await?;
    Ok(ApiResponse::ok(SessionView::of(&session, &account)))
}
