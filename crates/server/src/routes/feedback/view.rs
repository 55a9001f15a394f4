//! Feedback in responses. Authors are not shown.

use foundation::Actor;
use service::feedback::FeedbackWithLike;

use crate::document::names::FeedbackCategoryName;
use crate::routes::prelude::*;

/// Feedback of an account.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Feedback)]
pub struct FeedbackView {
    /// Unique id.
    pub id: Uuid,
    /// Title, as plain text.
    #[schema(example = "Alerts on options")]
    pub title: String,
    /// Text, as plain text.
    #[schema(example = "It would help to get an alert when an option is in the money.")]
    pub body: String,
    /// Category.
    #[schema(value_type = FeedbackCategoryName)]
    pub category: &'static str,
    /// Number of likes.
    #[schema(example = 3)]
    pub likes: u64,
    /// Whether you like it.
    pub is_liked: bool,
    /// Whether you wrote it.
    pub is_mine: bool,
    /// Time of creation.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
}

impl FeedbackView {
    pub(super) fn of(item: FeedbackWithLike, actor: &Actor) -> Self {
        let feedback = item.feedback;
        Self {
            id: feedback.id.0,
            title: feedback.title,
            body: feedback.body,
            category: feedback.category.name(),
            likes: feedback.likes,
            is_liked: item.is_liked,
            is_mine: feedback.account == actor.account,
            created_at: timestamp(feedback.created_at),
        }
    }
}
