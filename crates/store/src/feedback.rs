//! Feedback, and who likes it.

use uuid::Uuid;

use crate::columns::{Table, text};
use crate::database::query;
use crate::model::{AccountId, Feedback, FeedbackCategory, FeedbackId, Page, PageRequest, SeenFeedback};
use crate::unit::{ask, write};
use crate::{Store, StoreError, Unit};

const TABLE: Table = Table("feedback");

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT feedback.id, feedback.account_id, title, body, category, likes, feedback.created_at,
             CAST(CASE WHEN feedback_likes.account_id IS NULL THEN 0 ELSE 1 END AS BIGINT) AS is_liked
             FROM feedback LEFT JOIN feedback_likes
             ON feedback_likes.feedback_seq = feedback.seq AND feedback_likes.account_id = $1 ",
            $rest
        )
    };
}

#[derive(sqlx_macros::FromRow)]
struct Row {
    id: Uuid,
    account_id: Uuid,
    title: String,
    body: String,
    category: String,
    likes: i64,
    created_at: i64,
    is_liked: i64,
}

impl TryFrom<Row> for SeenFeedback {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            feedback: Feedback {
                id: FeedbackId(row.id),
                account: AccountId(row.account_id),
                title: row.title,
                body: row.body,
                category: TABLE.named("category", &row.category, FeedbackCategory::from_name)?,
                likes: TABLE.narrow("likes", row.likes)?,
                created_at: TABLE.instant(row.created_at)?,
            },
            is_liked: row.is_liked != 0,
        })
    }
}

impl Store {
    /// Everybody's feedback as `viewer` sees it: what most people like comes first, of equals the newest.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn feedback(&self, viewer: AccountId, page: PageRequest) -> Result<Page<SeenFeedback>, StoreError> {
        let (total,) = query!(fetch_one(i64,), &self.pools, "SELECT COUNT(*) FROM feedback")?;
        let sql = select!("ORDER BY likes DESC, feedback.seq DESC LIMIT $2 OFFSET $3");
        let (limit, offset) = (i64::from(page.limit), page.offset());
        let rows = query!(fetch_all Row, &self.pools, sql, viewer.0, limit, offset)?;
        let items = rows.into_iter().map(SeenFeedback::try_from).collect::<Result<_, _>>()?;
        Ok(Page {
            items,
            total: TABLE.narrow("COUNT(*)", total)?,
        })
    }

    /// The feedback that an account has given, oldest first.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn feedback_of(&self, account: AccountId) -> Result<Vec<SeenFeedback>, StoreError> {
        let sql = select!("WHERE feedback.account_id = $1 ORDER BY feedback.seq");
        let rows = query!(fetch_all Row, &self.pools, sql, account.0)?;
        rows.into_iter().map(SeenFeedback::try_from).collect()
    }
}

impl Unit {
    /// How many pieces of feedback an account has given since an instant.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn count_feedback(&mut self, account: AccountId, since: jiff::Timestamp) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM feedback WHERE account_id = $1 AND created_at > $2";
        let (count,) = ask!(self, fetch_one(i64,), sql, account.0, since.as_microsecond());
        TABLE.narrow("COUNT(*)", count)
    }

    /// Adds a piece of feedback, which nobody likes yet.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn insert_feedback(&mut self, feedback: &Feedback) -> Result<(), StoreError> {
        write!(
            self,
            "INSERT INTO feedback (id, account_id, title, body, category, likes, created_at)
             VALUES ($1, $2, $3, $4, $5, 0, $6)",
            feedback.id.0,
            feedback.account.0,
            text(&feedback.title),
            text(&feedback.body),
            feedback.category.name(),
            feedback.created_at.as_microsecond(),
        );
        Ok(())
    }

    /// Has an account like a piece of feedback, or like it no more; each counts once. `None`: there is no such feedback.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn like_feedback(
        &mut self,
        account: AccountId,
        id: FeedbackId,
        likes: bool,
    ) -> Result<Option<SeenFeedback>, StoreError> {
        let change = if likes {
            "INSERT INTO feedback_likes (feedback_seq, account_id) SELECT seq, $2 FROM feedback WHERE id = $1
             ON CONFLICT (feedback_seq, account_id) DO NOTHING"
        } else {
            "DELETE FROM feedback_likes
             WHERE account_id = $2 AND feedback_seq = (SELECT seq FROM feedback WHERE id = $1)"
        };
        if write!(self, change, id.0, account.0) > 0 {
            let by: i64 = if likes { 1 } else { -1 };
            write!(self, "UPDATE feedback SET likes = likes + $2 WHERE id = $1", id.0, by);
        }
        let row = ask!(self, fetch_optional Row, select!("WHERE feedback.id = $2"), account.0, id.0);
        row.map(SeenFeedback::try_from).transpose()
    }
}
