//! `POST /feedback`

use service::feedback::CreateFeedbackRequest;

use super::view::FeedbackView;
use crate::routes::prelude::*;

/// Give feedback
///
/// Feedback is visible to all accounts, without its author. Limit: 20 per day and account.
#[utoipa::path(
    post,
    path = "/feedback",
    tag = "Feedback",
    request_body(content = CreateFeedbackRequest, description = "The feedback to create"),
    responses((status = 201, description = "The created feedback", body = Envelope<FeedbackView>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn give_feedback(
    State(app): State<App>,
    caller: AuthenticatedSession,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<FeedbackView>, ApiError> {
    let given = app.service().feedback.create_feedback(&caller.actor, &body).await?;
    Ok(ApiResponse::with(
        StatusCode::CREATED,
        FeedbackView::of(given, &caller.actor),
    ))
}
