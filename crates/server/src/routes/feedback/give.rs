//! `POST /feedback`

use axum::extract::State;
use http::StatusCode;
use utoipa::ToSchema;

use super::view::Feedback;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::WithSession;
use crate::body::JsonObject;
use crate::document::names::FeedbackCategoryName;
use crate::error::ApiError;

/// What somebody wishes for or finds broken.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct GiveFeedback {
    /// What it is about, on one line.
    #[schema(min_length = 1, max_length = 120, example = "Alerts on options")]
    title: String,
    /// What there is to say.
    #[schema(
        min_length = 1,
        max_length = 4000,
        example = "It would help to be told when an option is in the money."
    )]
    body: String,
    /// What kind it is; left out, `other`.
    #[schema(value_type = Option<FeedbackCategoryName>)]
    category: Option<String>,
}

/// Give feedback
///
/// Everybody who has an account sees it, and nobody whose it is. At most twenty pieces a day come of an account.
#[utoipa::path(
    post,
    path = "/feedback",
    tag = "Feedback",
    request_body(content = GiveFeedback, description = "What there is to say"),
    responses((status = 201, description = "The feedback", body = Envelope<Feedback>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn give_feedback(
    State(app): State<App>,
    who: WithSession,
    JsonObject(body): JsonObject,
) -> Result<Reply<Feedback>, ApiError> {
    let given = app.service().feedback.give_feedback(&who.actor, &body).await?;
    Ok(Reply::with(StatusCode::CREATED, Feedback::of(given, &who.actor)))
}
