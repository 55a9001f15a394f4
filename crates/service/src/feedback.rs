//! Feedback: feature requests and bug reports that all accounts can read and like.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use store::Abort;
use store::model::{ListRequest, Page};

use foundation::request::{Line, OrTrue, Request, string};
use foundation::{Actor, Ports, ServiceError};
use foundation::{request, texts};

pub use store::model::{Feedback, FeedbackCategory, FeedbackId, FeedbackWithLike};

/// Maximum length of a title, in characters.
pub const MAX_TITLE_CHARACTERS: usize = 120;
/// Maximum length of a text, in characters.
pub const MAX_BODY_CHARACTERS: usize = 4000;
/// Maximum number of feedback entries per account and day.
const MAX_FEEDBACK_PER_DAY: u64 = 20;
const ONE_DAY: SignedDuration = SignedDuration::from_hours(24);

texts! {
    /// A text of several lines. Line ends are normalized to line feeds; other control characters except tabs are
    /// rejected.
    FeedbackText = |text| {
        let text = text.trim();
        if !(1..=MAX_BODY_CHARACTERS).contains(&text.chars().count()) {
            return Err(format!("must have 1 to {MAX_BODY_CHARACTERS} characters"));
        }
        let text = text.replace("\r\n", "\n");
        if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
            return Err("must not contain control characters except line feeds and tabs".to_owned());
        }
        Ok(text)
    }, string().min_length(Some(1)).max_length(Some(MAX_BODY_CHARACTERS));
}

request! {
    /// The feedback to create.
    CreateFeedbackRequest as "GiveFeedback" {
        /// Title, on one line.
        title: Line<MAX_TITLE_CHARACTERS> = "Alerts on options",
        /// Text.
        body: FeedbackText = "It would help to get an alert when an option is in the money.",
        /// Category; defaults to `other`.
        category: Option<FeedbackCategory>,
    }
}

request! {
    /// The feedback to like or unlike.
    LikeFeedbackRequest as "LikeFeedback" {
        /// Feedback id.
        id: FeedbackId,
        /// Whether to like it; defaults to `true`. `false` removes the like.
        liked: OrTrue,
    }
}

/// Use cases for feedback about the service.
#[derive(Clone)]
pub struct FeedbackBoard {
    pub(crate) ports: Ports,
}

impl FeedbackBoard {
    /// Returns all feedback, most likes first.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] if there is no feedback `after`.
    pub async fn feedback(
        &self,
        actor: &Actor,
        request: impl Into<ListRequest<FeedbackId>>,
    ) -> Result<Page<FeedbackWithLike>, ServiceError> {
        Ok(self.ports.store.feedback(actor.account, request).await?)
    }

    /// Creates feedback from a body `{title, body, category?}`.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for an invalid body, [`ServiceError::RateLimited`].
    pub async fn create_feedback(&self, actor: &Actor, body: &Value) -> Result<FeedbackWithLike, ServiceError> {
        let request = CreateFeedbackRequest::read(body)?;
        let feedback = Feedback {
            id: FeedbackId(self.ports.random.uuid()),
            account: actor.account,
            title: request.title.0,
            body: request.body.0,
            category: request.category.unwrap_or(FeedbackCategory::Other),
            likes: 0,
            created_at: self.ports.clock.now(),
        };
        let transaction = self.ports.transaction(feedback.clone(), |feedback, unit| {
            Box::pin(async move {
                foundation::account::lock_active_account(unit, feedback.account).await?;
                let since = feedback.created_at.saturating_sub(ONE_DAY).unwrap_or(Timestamp::MIN);
                if unit.count_feedback(feedback.account, since).await? >= MAX_FEEDBACK_PER_DAY {
                    return Err(Abort::Refused(ServiceError::RateLimited {
                        message: format!(
                            "an account can create at most {MAX_FEEDBACK_PER_DAY} feedback entries per day; try again \
                         tomorrow"
                        ),
                        retry_after_s: ONE_DAY.as_secs().unsigned_abs(),
                    }));
                }
                Ok(unit.insert_feedback(feedback).await?)
            })
        });
        transaction.await?;
        Ok(FeedbackWithLike {
            feedback,
            is_liked: false,
        })
    }

    /// Likes feedback with a body `{id, liked?}`; `liked: false` removes the like. Each account counts once.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for an invalid body, [`ServiceError::NotFound`].
    pub async fn like_feedback(&self, actor: &Actor, body: &Value) -> Result<FeedbackWithLike, ServiceError> {
        let request = LikeFeedbackRequest::read(body)?;
        let inputs = (actor.account, request.id, request.liked.0);
        let transaction = self.ports.transaction(inputs, |&(account, id, likes), unit| {
            Box::pin(async move {
                foundation::account::lock_active_account(unit, account).await?;
                let seen = unit.like_feedback(account, id, likes).await?;
                seen.ok_or(Abort::Refused(ServiceError::NotFound("feedback")))
            })
        });
        transaction.await
    }
}
