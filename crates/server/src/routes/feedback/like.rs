//! `POST /feedback/like`

use service::feedback::LikeFeedbackRequest;

use super::view::FeedbackView;
use crate::routes::prelude::*;

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
