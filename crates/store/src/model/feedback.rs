//! User feedback about the service.

use jiff::Timestamp;
use uuid::Uuid;

use super::AccountId;

/// Feedback id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FeedbackId(pub Uuid);

alerts::named_enum! {
    /// The category of a piece of feedback.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum FeedbackCategory {
        /// A feature request.
        Feature = "feature",
        /// A bug report.
        Bug = "bug",
        /// Anything else.
        Other = "other",
    }
}

/// A piece of feedback.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Feedback {
    /// Unique id.
    pub id: FeedbackId,
    /// Owning account.
    pub account: AccountId,
    /// Title, one line.
    pub title: String,
    /// Text.
    pub body: String,
    /// Category.
    pub category: FeedbackCategory,
    /// Number of likes.
    pub likes: u64,
    /// Creation time.
    pub created_at: Timestamp,
}

/// A piece of feedback and whether the viewer likes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FeedbackWithLike {
    /// The feedback.
    pub feedback: Feedback,
    /// Whether the viewer likes it.
    pub is_liked: bool,
}
