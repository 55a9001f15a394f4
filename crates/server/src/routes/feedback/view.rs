//! Feedback as it is shown. Whose it is, nobody is told.

use serde::Serialize;
use service::Actor;
use service::feedback::SeenFeedback;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::document::names::FeedbackCategoryName;
use crate::values::timestamp;

/// A piece of feedback.
#[derive(Debug, Serialize, ToSchema)]
pub struct Feedback {
    /// Which one.
    pub id: Uuid,
    /// What it is about, as plain text.
    #[schema(example = "Alerts on options")]
    pub title: String,
    /// What is said, as plain text.
    #[schema(example = "It would help to be told when an option is in the money.")]
    pub body: String,
    /// What kind it is.
    #[schema(value_type = FeedbackCategoryName)]
    pub category: &'static str,
    /// How many like it.
    #[schema(example = 3)]
    pub likes: u64,
    /// Whether you do.
    pub is_liked: bool,
    /// Whether it is yours.
    pub is_mine: bool,
    /// When it was given.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
}

impl Feedback {
    pub(super) fn of(seen: SeenFeedback, actor: &Actor) -> Self {
        let feedback = seen.feedback;
        Self {
            id: feedback.id.0,
            title: feedback.title,
            body: feedback.body,
            category: feedback.category.name(),
            likes: feedback.likes,
            is_liked: seen.is_liked,
            is_mine: feedback.account == actor.account,
            created_at: timestamp(feedback.created_at),
        }
    }
}
