//! Feedback: what people wish for and what they find broken, for all who have an account to see and to like.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use store::model::{Page, PageRequest};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};
use uuid::Uuid;

use crate::body::Members;
use crate::{AccountId, Actor, Ports, ServiceError};

pub use store::model::{Feedback, FeedbackCategory, FeedbackId, FeedbackWithLike};

/// The longest title, in characters.
pub const MAX_TITLE: usize = 120;
/// The longest text, in characters.
pub const MAX_BODY: usize = 4000;
/// So many pieces an account gives in a day.
const MOST_A_DAY: u64 = 20;
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// Feedback about the service.
#[derive(Clone)]
pub struct FeedbackBoard {
    pub(crate) ports: Ports,
}

impl FeedbackBoard {
    /// Everybody's feedback, what most people like first.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] only.
    pub async fn feedback(&self, actor: &Actor, page: PageRequest) -> Result<Page<FeedbackWithLike>, ServiceError> {
        Ok(self.ports.store.feedback(actor.account, page).await?)
    }

    /// Takes feedback of a body `{title, body, category?}`.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for a body that will not do, [`ServiceError::TooMany`].
    pub async fn give_feedback(&self, actor: &Actor, body: &Value) -> Result<FeedbackWithLike, ServiceError> {
        let mut members = Members::of(body)?;
        let title = members.line("title", 1, MAX_TITLE);
        let text = text(&mut members);
        let (all, name) = (FeedbackCategory::ALL, FeedbackCategory::name);
        let category = members.word("category", all, FeedbackCategory::from_name, name);
        if title.is_none() {
            members.missing("title");
        }
        if text.is_none() {
            members.missing("body");
        }
        members.finish()?;
        let feedback = Feedback {
            id: FeedbackId(self.ports.chance.uuid()),
            account: actor.account,
            title: title.unwrap_or_default().to_owned(),
            body: text.unwrap_or_default(),
            category: category.unwrap_or(FeedbackCategory::Other),
            likes: 0,
            created_at: self.ports.clock.now(),
        };
        self.ports.store.write(Give(feedback.clone())).await?;
        Ok(FeedbackWithLike {
            feedback,
            is_liked: false,
        })
    }

    /// Likes feedback by a body `{id, liked?}`; `liked: false` takes it back. Each account counts once.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for a body that will not do,
    /// [`ServiceError::NotFound`].
    pub async fn like_feedback(&self, actor: &Actor, body: &Value) -> Result<FeedbackWithLike, ServiceError> {
        let mut members = Members::of(body)?;
        let id = members.required("id").map(Uuid::try_parse);
        if matches!(id, Some(Err(_))) {
            members.fault("id", "must be the id of a piece of feedback, a UUID");
        }
        let likes = members.flag("liked").unwrap_or(true);
        members.finish()?;
        let Some(Ok(id)) = id else {
            return Err(ServiceError::NotFound("feedback"));
        };
        let like = Like {
            account: actor.account,
            id: FeedbackId(id),
            likes,
        };
        Ok(self.ports.store.write(like).await?)
    }
}

/// A text of several lines, each ended by a line feed; nothing else in it cannot be seen.
fn text(members: &mut Members<'_>) -> Option<String> {
    let text = members.trimmed("body", 1, MAX_BODY)?.replace("\r\n", "\n");
    if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        members.fault("body", "must have no control characters but line feeds and tabs");
        return None;
    }
    Some(text)
}

struct Give(Feedback);

impl Transaction for Give {
    type Output = ();
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<ServiceError>>> {
        Box::pin(async move {
            crate::identity::account::awake(unit, self.0.account).await?;
            let since = self.0.created_at.saturating_sub(DAY).unwrap_or(Timestamp::MIN);
            if unit.count_feedback(self.0.account, since).await? >= MOST_A_DAY {
                return Err(Abort::Refused(ServiceError::TooMany {
                    message: format!(
                        "an account gives at most {MOST_A_DAY} pieces of feedback a day; come again tomorrow"
                    ),
                    retry_after_s: DAY.as_secs().unsigned_abs(),
                }));
            }
            Ok(unit.insert_feedback(&self.0).await?)
        })
    }
}

struct Like {
    account: AccountId,
    id: FeedbackId,
    likes: bool,
}

impl Transaction for Like {
    type Output = FeedbackWithLike;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<FeedbackWithLike, Abort<ServiceError>>> {
        Box::pin(async move {
            crate::identity::account::awake(unit, self.account).await?;
            let seen = unit.like_feedback(self.account, self.id, self.likes).await?;
            seen.ok_or(Abort::Refused(ServiceError::NotFound("feedback")))
        })
    }
}
