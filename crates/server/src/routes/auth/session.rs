//! `GET|PATCH /auth/session`

use axum::extract::State;
use serde::Serialize;
use service::identity::{Account, Session};
use utoipa::ToSchema;
use uuid::Uuid;

use super::view::User;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::WithSession;
use crate::body::JsonObject;
use crate::error::ApiError;
use crate::values::timestamp;

/// A session, and who has it.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionView {
    /// Who has it.
    pub user: User,
    /// The session.
    pub session: SessionFacts,
}

/// A session.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionFacts {
    /// Which one.
    pub id: Uuid,
    /// When they signed in.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
    /// When it ends unless it is used before.
    #[schema(format = DateTime, example = "2026-04-01T15:04:00.000Z")]
    pub expires_at: String,
}

impl SessionView {
    pub(crate) fn of(session: &Session, account: &Account) -> Self {
        Self {
            user: User::of(account),
            session: SessionFacts {
                id: session.id.0,
                created_at: timestamp(session.created_at),
                expires_at: timestamp(session.expires_at),
            },
        }
    }
}

/// What is to change; what is left out stays.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct UpdateSession {
    /// What they are called; null for no name.
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = r"^[^\u0000-\u001f\u007f-\u009f]*$",
        example = "Ann Example"
    )]
    full_name: Option<String>,
    /// The IANA name of the zone their clocks show.
    #[schema(example = "Europe/Berlin")]
    time_zone: Option<String>,
}

/// Read the session
#[utoipa::path(
    get,
    path = "/auth/session",
    tag = "Identity",
    responses((status = 200, description = "The session, and who has it", body = Envelope<SessionView>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn get_session(State(app): State<App>, who: WithSession) -> Result<Reply<SessionView>, ApiError> {
    let (session, account) = app.service().identity.session(&who.actor).await?;
    Ok(Reply::ok(SessionView::of(&session, &account)))
}

/// Change what is told about whoever has the session
#[utoipa::path(
    patch,
    path = "/auth/session",
    tag = "Identity",
    request_body(content = UpdateSession, description = "What is to change"),
    responses((status = 200, description = "The session, and who has it, as they are now", body = Envelope<SessionView>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn update_session(
    State(app): State<App>,
    who: WithSession,
    JsonObject(body): JsonObject,
) -> Result<Reply<SessionView>, ApiError> {
    let service = app.service();
    service.account_settings.update_profile(&who.actor, &body).await?;
    let (session, account) = service.identity.session(&who.actor).await?;
    Ok(Reply::ok(SessionView::of(&session, &account)))
}
