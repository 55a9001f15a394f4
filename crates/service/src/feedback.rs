//! Feedback: feature requests and bug reports that all accounts can read and like.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use store::model::{Page, PageRequest};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};
use uuid::Uuid;

use foundation::body::BodyReader;
use foundation::{Actor, Ports, ServiceError};
use store::model::AccountId;

pub use store::model::{Feedback, FeedbackCategory, FeedbackId, FeedbackWithLike};

/// Maximum length of a title, in characters.
pub const MAX_TITLE_CHARACTERS: usize = 120;
/// Maximum length of a text, in characters.
pub const MAX_BODY_CHARACTERS: usize = 4000;
/// Maximum number of feedback entries per account and day.
const MAX_FEEDBACK_PER_DAY: u64 = 20;
const ONE_DAY: SignedDuration = SignedDuration::from_hours(24);

/// Use cases for feedback about the service.
#[derive(Clone)]
pub struct FeedbackBoard {
    pub(crate) ports: Ports,
}

impl FeedbackBoard {
    /// Returns all feedback, most likes first.
    pub async fn feedback(&self, actor: &Actor, page: PageRequest) -> Result<Page<FeedbackWithLike>, ServiceError> {
        Ok(self.ports.store.feedback(actor.account, page).await?)
    }

    /// Creates feedback from a body `{title, body, category?}`.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for an invalid body, [`ServiceError::RateLimited`].
    pub async fn create_feedback(&self, actor: &Actor, body: &Value) -> Result<FeedbackWithLike, ServiceError> {
        let mut members = BodyReader::new(body)?;
        let title = members.line("title", 1, MAX_TITLE_CHARACTERS);
        let text = text(&mut members);
        let (all, name) = (FeedbackCategory::ALL, FeedbackCategory::name);
        let category = members.one_of("category", all, FeedbackCategory::from_name, name);
        if title.is_none() {
            members.add_missing("title");
        }
        if text.is_none() {
            members.add_missing("body");
        }
        members.finish()?;
        let feedback = Feedback {
            id: FeedbackId(self.ports.random.uuid()),
            account: actor.account,
            title: title.unwrap_or_default().to_owned(),
            body: text.unwrap_or_default(),
            category: category.unwrap_or(FeedbackCategory::Other),
            likes: 0,
            created_at: self.ports.clock.now(),
        };
        self.ports.store.write(CreateFeedback(feedback.clone())).await?;
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
        let mut members = BodyReader::new(body)?;
        let id = members.required("id").map(Uuid::try_parse);
        if matches!(id, Some(Err(_))) {
            members.add_error("id", "must be the id of a feedback entry, a UUID");
        }
        let likes = members.boolean("liked").unwrap_or(true);
        members.finish()?;
        let Some(Ok(id)) = id else {
            return Err(ServiceError::NotFound("feedback"));
        };
        let like = LikeFeedback {
            account: actor.account,
            id: FeedbackId(id),
            likes,
        };
        Ok(self.ports.store.write(like).await?)
    }
}

/// Reads a text of several lines. Line ends are normalized to line feeds; other control characters except tabs are
/// rejected.
fn text(members: &mut BodyReader<'_>) -> Option<String> {
    let text = members.trimmed("body", 1, MAX_BODY_CHARACTERS)?.replace("\r\n", "\n");
    if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        members.add_error("body", "must not contain control characters except line feeds and tabs");
        return None;
    }
    Some(text)
}

struct CreateFeedback(Feedback);

impl Transaction for CreateFeedback {
    type Output = ();
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<ServiceError>>> {
        Box::pin(async move {
            foundation::account::lock_active_account(unit, self.0.account).await?;
            let since = self.0.created_at.saturating_sub(ONE_DAY).unwrap_or(Timestamp::MIN);
            if unit.count_feedback(self.0.account, since).await? >= MAX_FEEDBACK_PER_DAY {
                return Err(Abort::Refused(ServiceError::RateLimited {
                    message: format!(
                        "an account can create at most {MAX_FEEDBACK_PER_DAY} feedback entries per day; try again tomorrow"
                    ),
                    retry_after_s: ONE_DAY.as_secs().unsigned_abs(),
                }));
            }
            Ok(unit.insert_feedback(&self.0).await?)
        })
    }
}

struct LikeFeedback {
    account: AccountId,
    id: FeedbackId,
    likes: bool,
}

impl Transaction for LikeFeedback {
    type Output = FeedbackWithLike;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<FeedbackWithLike, Abort<ServiceError>>> {
        Box::pin(async move {
            foundation::account::lock_active_account(unit, self.account).await?;
            let seen = unit.like_feedback(self.account, self.id, self.likes).await?;
            seen.ok_or(Abort::Refused(ServiceError::NotFound("feedback")))
        })
    }
}
