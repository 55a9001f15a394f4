//! What people think of the service.

use jiff::Timestamp;
use uuid::Uuid;

use super::AccountId;

/// Which piece of feedback.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FeedbackId(pub Uuid);

/// What a piece of feedback is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FeedbackCategory {
    /// Something that is wished for.
    Feature,
    /// Something that is broken.
    Bug,
    /// Anything else.
    Other,
}

impl FeedbackCategory {
    /// Every category there is.
    pub const ALL: &'static [Self] = &[Self::Feature, Self::Bug, Self::Other];

    /// Its name in its column and in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Feature => "feature",
            Self::Bug => "bug",
            Self::Other => "other",
        }
    }

    /// The category of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|category| category.name() == name)
    }
}

/// A piece of feedback.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Feedback {
    /// Which one.
    pub id: FeedbackId,
    /// Whose.
    pub account: AccountId,
    /// What it is about, in a line.
    pub title: String,
    /// What they say.
    pub body: String,
    /// What kind it is.
    pub category: FeedbackCategory,
    /// How many like it.
    pub likes: u64,
    /// When it was given.
    pub created_at: Timestamp,
}

/// A piece of feedback as somebody sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeenFeedback {
    /// What was said.
    pub feedback: Feedback,
    /// Whether whoever sees it likes it.
    pub is_liked: bool,
}
