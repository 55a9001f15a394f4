//! Changes proposed by agents that wait for the account owner's approval.

use jiff::Timestamp;
use uuid::Uuid;

use crate::columns::{Table, json, text, values};
use crate::database::query;
use crate::model::{AccountId, Approval, ApprovalId, ApprovalStatus};
use crate::purge::Purge;
use crate::sqlite::row;
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

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

row! {
    struct ApprovalRow {
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
}

impl TryFrom<ApprovalRow> for Approval {
    type Error = StoreError;

    fn try_from(row: ApprovalRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: ApprovalId(row.id),
            account: AccountId(row.account_id),
            tool: row.tool,
            arguments: TABLE.object(&row.arguments)?,
            preview: row.preview,
            asked_by: row.asked_by,
            status: TABLE.parse("status", &row.status, ApprovalStatus::from_name)?,
            created_at: TABLE.instant(row.created_at)?,
            expires_at: TABLE.instant(row.expires_at)?,
            begun_at: TABLE.optional_instant(row.begun_at)?,
            decided_at: TABLE.optional_instant(row.decided_at)?,
        })
    }
}

/// Expired approvals.
const EXPIRED_APPROVALS: Purge = Purge {
    dependents: &[],
    counted: &["DELETE FROM approvals WHERE seq IN
         (SELECT seq FROM approvals WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)"],
};

impl Store {
    /// Returns an account's approvals, newest first, at most `limit`.
    pub async fn approvals(&self, account: AccountId, limit: u32) -> Result<Vec<Approval>, StoreError> {
        let sql = select!("WHERE account_id = $1 ORDER BY seq DESC LIMIT $2");
        values(query!(fetch_all ApprovalRow, &self.pools, sql, account.0, i64::from(limit))?)
    }

    /// Deletes approvals that expired before `before`, at most `limit`. Returns the number deleted.
    pub async fn purge_approvals(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.purge(EXPIRED_APPROVALS, before, limit).await
    }
}

impl UnitOfWork {
    /// Returns an account's approval.
    pub async fn approval(&mut self, account: AccountId, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        let row =
            fetch!(self, fetch_optional ApprovalRow, select!("WHERE id = $1 AND account_id = $2"), id.0, account.0);
        row.map(Approval::try_from).transpose()
    }

    /// Returns an account's pending approvals that have not expired, oldest first.
    pub async fn pending_approvals(&mut self, account: AccountId, now: Timestamp) -> Result<Vec<Approval>, StoreError> {
        let sql = select!("WHERE account_id = $1 AND status = 'pending' AND expires_at > $2 ORDER BY seq");
        values(fetch!(self, fetch_all ApprovalRow, sql, account.0, now.as_microsecond()))
    }

    /// Inserts an approval.
    pub async fn insert_approval(&mut self, approval: &Approval) -> Result<(), StoreError> {
        let arguments = json(&approval.arguments)?;
        write_rows!(
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

    /// Moves an approval to another status by compare-and-set. Returns `false` if it has changed since it was read.
    pub async fn advance_approval(
        &mut self,
        approval: &Approval,
        status: ApprovalStatus,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let now = now.as_microsecond();
        let is_begun = status == ApprovalStatus::Begun;
        let is_decided = matches!(status, ApprovalStatus::Approved | ApprovalStatus::Denied);
        let rows = write_rows!(
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
