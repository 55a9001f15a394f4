//! `POST /feedback/like`

use axum::extract::State;
use utoipa::ToSchema;
use uuid::Uuid;

use super::view::Feedback;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::WithSession;
use crate::body::JsonObject;
use crate::error::ApiError;

/// What somebody likes.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct LikeFeedback {
    /// The feedback.
    id: Uuid,
    /// Whether they like it; left out, they do. `false` takes a like back.
    #[schema(default = true)]
    liked: Option<bool>,
}

/// Like feedback
///
/// Each account counts once, however often it says so.
#[utoipa::path(
    post,
    path = "/feedback/like",
    tag = "Feedback",
    request_body(content = LikeFeedback, description = "What is liked"),
    responses(
        (status = 200, description = "The feedback as it is now", body = Envelope<Feedback>),
        (status = 404, description = "No such feedback"),
    ),
    security(("SessionCookie" = []))
)]
pub(super) async fn like_feedback(
    State(app): State<App>,
    who: WithSession,
    JsonObject(body): JsonObject,
) -> Result<Reply<Feedback>, ApiError> {
    let liked = app.service().feedback.like_feedback(&who.actor, &body).await?;
    Ok(Reply::ok(Feedback::of(liked, &who.actor)))
}
