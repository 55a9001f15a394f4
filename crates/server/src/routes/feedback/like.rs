//! `POST /feedback/like`

use axum::extract::State;
use utoipa::ToSchema;
use uuid::Uuid;

use super::view::FeedbackView;
use crate::auth::AuthenticatedSession;
use crate::body::JsonObject;
use crate::error::ApiError;
use crate::response::{ApiResponse, Envelope};
use crate::state::App;

/// The feedback to like or unlike.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
#[schema(as = LikeFeedback)]
pub struct LikeFeedbackRequest {
    /// Feedback id.
    id: Uuid,
    /// Whether to like it; defaults to `true`. `false` removes the like.
    #[schema(default = true)]
    liked: Option<bool>,
}

/// Like feedback
///
/// Each account counts once; repeated likes have no effect.
#[utoipa::path(
    post,
    path = "/feedback/like",
    tag = "Feedback",
    request_body(content = LikeFeedbackRequest, description = "The feedback to like or unlike"),
    responses(
        (status = 200, description = "The updated feedback", body = Envelope<FeedbackView>),
        (status = 404, description = "Feedback not found"),
    ),
    security(("SessionCookie" = []))
)]
pub(super) async fn like_feedback(
    State(app): State<App>,
    caller: AuthenticatedSession,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<FeedbackView>, ApiError> {
    let liked = app.service().feedback.like_feedback(&caller.actor, &body).await?;
    Ok(ApiResponse::ok(FeedbackView::of(liked, &caller.actor)))
}
