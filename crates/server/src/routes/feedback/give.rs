//! `POST /feedback`

use axum::extract::State;
use http::StatusCode;
use utoipa::ToSchema;

use super::view::FeedbackView;
use crate::auth::AuthenticatedSession;
use crate::body::JsonObject;
use crate::document::names::FeedbackCategoryName;
use crate::error::ApiError;
use crate::response::{ApiResponse, Envelope};
use crate::state::App;

/// The feedback to create.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
#[schema(as = GiveFeedback)]
pub struct CreateFeedbackRequest {
    /// Title, on one line.
    #[schema(min_length = 1, max_length = 120, example = "Alerts on options")]
    title: String,
    /// Text.
    #[schema(
        min_length = 1,
        max_length = 4000,
        example = "It would help to get an alert when an option is in the money."
    )]
    body: String,
    /// Category; defaults to `other`.
    #[schema(value_type = Option<FeedbackCategoryName>)]
    category: Option<String>,
}

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
