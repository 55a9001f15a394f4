//! What agents want to change, waiting for the account's owner.

use jiff::Timestamp;
use uuid::Uuid;

use crate::columns::{Table, json, text};
use crate::database::query;
use crate::forget::Forget;
use crate::model::{AccountId, Approval, ApprovalId, ApprovalStatus};
use crate::unit::{ask, write};
use crate::{Store, StoreError, Unit};

const TABLE: Table = Table("approvals");

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, account_id, tool, arguments, preview, asked_by, status, created_at, expires_at, begun_at, decided_at \
             FROM approvals ",
            $rest
        )
    };
}

#[derive(sqlx_macros::FromRow)]
struct Row {
    id: Uuid,
    account_id: Uuid,
    tool: String,
    arguments: String,
    preview: String,
    asked_by: String,
    status: String,
    created_at: i64,
    expires_at: i64,
    begun_at: Option<i64>,
    decided_at: Option<i64>,
}

impl TryFrom<Row> for Approval {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: ApprovalId(row.id),
            account: AccountId(row.account_id),
            tool: row.tool,
            arguments: TABLE.object(&row.arguments)?,
            preview: row.preview,
            asked_by: row.asked_by,
            status: TABLE.named("status", &row.status, ApprovalStatus::from_name)?,
            created_at: TABLE.instant(row.created_at)?,
            expires_at: TABLE.instant(row.expires_at)?,
            begun_at: TABLE.instant_if_any(row.begun_at)?,
            decided_at: TABLE.instant_if_any(row.decided_at)?,
        })
    }
}

/// What is over.
const OVER: Forget = Forget {
    with_them: &[],
    counted: &["DELETE FROM approvals WHERE seq IN
         (SELECT seq FROM approvals WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)"],
};

impl Store {
    /// The approvals of an account, newest first, at most so many.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn approvals(&self, account: AccountId, at_most: u32) -> Result<Vec<Approval>, StoreError> {
        let sql = select!("WHERE account_id = $1 ORDER BY seq DESC LIMIT $2");
        let rows = query!(fetch_all Row, &self.pools, sql, account.0, i64::from(at_most))?;
        rows.into_iter().map(Approval::try_from).collect()
    }

    /// Removes approvals whose time was over before `before`, at most so many. Says how many.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn forget_approvals(&self, before: Timestamp, at_most: u32) -> Result<u64, StoreError> {
        self.forget(OVER, before, at_most).await
    }
}

impl Unit {
    /// An account's approval.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn approval(&mut self, account: AccountId, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        let row = ask!(self, fetch_optional Row, select!("WHERE id = $1 AND account_id = $2"), id.0, account.0);
        row.map(Approval::try_from).transpose()
    }

    /// The approvals of an account that can still be given, oldest first.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn pending_approvals(&mut self, account: AccountId, now: Timestamp) -> Result<Vec<Approval>, StoreError> {
        let sql = select!("WHERE account_id = $1 AND status = 'pending' AND expires_at > $2 ORDER BY seq");
        let rows = ask!(self, fetch_all Row, sql, account.0, now.as_microsecond());
        rows.into_iter().map(Approval::try_from).collect()
    }

    /// Adds an approval that nobody has decided.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn insert_approval(&mut self, approval: &Approval) -> Result<(), StoreError> {
        let arguments = json(&approval.arguments)?;
        write!(
            self,
            "INSERT INTO approvals (id, account_id, tool, arguments, preview, asked_by, status, created_at, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            approval.id.0,
            approval.account.0,
            &approval.tool,
            &arguments,
            text(&approval.preview),
            text(&approval.asked_by),
            approval.status.name(),
            approval.created_at.as_microsecond(),
            approval.expires_at.as_microsecond(),
        );
        Ok(())
    }

    /// Takes an approval on, unless it has gone on since it was read. `false`: it has.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn advance_approval(
        &mut self,
        approval: &Approval,
        status: ApprovalStatus,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let now = now.as_microsecond();
        let is_begun = status == ApprovalStatus::Begun;
        let is_decided = matches!(status, ApprovalStatus::Approved | ApprovalStatus::Denied);
        let rows = write!(
            self,
            "UPDATE approvals SET status = $3, begun_at = $4, decided_at = $5
             WHERE id = $1 AND status = $2 AND COALESCE(begun_at, 0) = $6",
            approval.id.0,
            approval.status.name(),
            status.name(),
            if is_begun {
                Some(now)
            } else {
                approval.begun_at.map(Timestamp::as_microsecond)
            },
            is_decided.then_some(now),
            approval.begun_at.map_or(0, Timestamp::as_microsecond),
        );
        Ok(rows == 1)
    }
}
