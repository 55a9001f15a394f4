//! Feedback and likes.

use sqlx::AssertSqlSafe;
use uuid::Uuid;

use crate::columns::{Table, text, values};
use crate::database::query;
use crate::merged::merged;
use crate::model::{AccountId, Feedback, FeedbackCategory, FeedbackId, FeedbackWithLike, ListError, ListRequest, Page};
use crate::sqlite::row;
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

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

row! {
    struct FeedbackRow {
        id: Uuid,
        account_id: Uuid,
        title: String,
        body: String,
        category: String,
        likes: i64,
        created_at: i64,
        is_liked: i64,
    }
}

impl TryFrom<FeedbackRow> for FeedbackWithLike {
    type Error = StoreError;

    fn try_from(row: FeedbackRow) -> Result<Self, StoreError> {
        Ok(Self {
            feedback: Feedback {
                id: FeedbackId(row.id),
                account: AccountId(row.account_id),
                title: row.title,
                body: row.body,
                category: TABLE.parse("category", &row.category, FeedbackCategory::from_name)?,
                likes: TABLE.narrow("likes", row.likes)?,
                created_at: TABLE.instant(row.created_at)?,
            },
            is_liked: row.is_liked != 0,
        })
    }
}

impl Store {
    /// Returns a page of all feedback as `viewer` sees it: most liked first, then newest first.
    pub async fn feedback(
        &self,
        viewer: AccountId,
        request: impl Into<ListRequest<FeedbackId>>,
    ) -> Result<Page<FeedbackWithLike>, ListError> {
        let request = request.into();
        let mut end = (i64::MAX, i64::MAX);
        if let Some(after) = request.after {
            let sql = "SELECT likes, seq FROM feedback WHERE id = $1";
            let found = query!(fetch_optional(i64, i64), &self.pools, sql, after.0)?;
            end = found.ok_or(ListError::UnknownItem)?;
        }
        let (total,) = query!(fetch_one(i64,), &self.pools, "SELECT COUNT(*) FROM feedback")?;
        // Two statements, because SQLite finds no place among equal numbers of likes by a comparison of both columns.
        let positions = merged(
            ["likes = $2 AND seq < $3", "likes < $2"]
                .map(|place| format!("SELECT likes, seq FROM feedback WHERE {place}")),
            "likes DESC, seq DESC",
            "$6",
        );
        let sql = format!(
            select!(
                "WHERE feedback.seq IN (SELECT seq FROM ({} LIMIT $4 OFFSET $5) page) ORDER BY likes DESC, feedback.seq DESC"
            ),
            positions
        );
        let (limit, offset) = request.limit_and_offset();
        let (sql, reach) = (AssertSqlSafe(sql), request.rows_until_end());
        let rows = query!(fetch_all FeedbackRow, &self.pools, sql, viewer.0, end.0, end.1, limit, offset, reach)?;
        let items = values(rows)?;
        Ok(Page {
            items,
            total: TABLE.narrow("COUNT(*)", total)?,
        })
    }

    /// Returns the feedback that an account has given, oldest first.
    pub async fn feedback_of(&self, account: AccountId) -> Result<Vec<FeedbackWithLike>, StoreError> {
        let sql = select!("WHERE feedback.account_id = $1 ORDER BY feedback.seq");
        values(query!(fetch_all FeedbackRow, &self.pools, sql, account.0)?)
    }
}

impl UnitOfWork {
    /// Counts the feedback that an account has given after `since`.
    pub async fn count_feedback(&mut self, account: AccountId, since: jiff::Timestamp) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM feedback WHERE account_id = $1 AND created_at > $2";
        let (count,) = fetch!(self, fetch_one(i64,), sql, account.0, since.as_microsecond());
        TABLE.narrow("COUNT(*)", count)
    }

    /// Inserts feedback with no likes.
    pub async fn insert_feedback(&mut self, feedback: &Feedback) -> Result<(), StoreError> {
        write_rows!(
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

    /// Sets or removes an account's like. Each account counts once. `None`: there is no such feedback.
    pub async fn like_feedback(
        &mut self,
        account: AccountId,
        id: FeedbackId,
        likes: bool,
    ) -> Result<Option<FeedbackWithLike>, StoreError> {
        let change = if likes {
            "INSERT INTO feedback_likes (feedback_seq, account_id) SELECT seq, $2 FROM feedback WHERE id = $1
             ON CONFLICT (feedback_seq, account_id) DO NOTHING"
        } else {
            "DELETE FROM feedback_likes
             WHERE account_id = $2 AND feedback_seq = (SELECT seq FROM feedback WHERE id = $1)"
        };
        if write_rows!(self, change, id.0, account.0) > 0 {
            let by: i64 = if likes { 1 } else { -1 };
            write_rows!(self, "UPDATE feedback SET likes = likes + $2 WHERE id = $1", id.0, by);
        }
        let row = fetch!(self, fetch_optional FeedbackRow, select!("WHERE feedback.id = $2"), account.0, id.0);
        row.map(FeedbackWithLike::try_from).transpose()
    }
}
