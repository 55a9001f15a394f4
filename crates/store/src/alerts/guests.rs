//! Alerts of guests: people without an account.
//!
//! A guest alert belongs to an email address. An account can take it over. Alerts that were never verified are
//! deleted with their history, because the address may belong to someone else.

use alerts::AlertId;
use jiff::Timestamp;

use super::row::{AlertRow, TABLE, select};
use super::totals::kind_column;
use crate::bulk::{Statement, write_many};
use crate::columns;
use crate::database::query;
use crate::model::{AccountId, StoredAlert};
use crate::unit_of_work::{fetch, select_locked};
use crate::{Store, StoreError, UnitOfWork};

const DELETE_HISTORY: Statement = Statement {
    before: "DELETE FROM history WHERE alert_seq IN (VALUES ",
    columns: 1,
    after: ")",
};

const DELETE_ALERTS: Statement = Statement {
    before: "DELETE FROM alerts WHERE seq IN (VALUES ",
    columns: 1,
    after: ")",
};

macro_rules! unverified {
    ($lock:literal) => {
        concat!(
            "SELECT seq FROM alerts WHERE guest_email IS NOT NULL AND status = 'inactive' AND created_at < $1
             ORDER BY seq LIMIT $2",
            $lock
        )
    };
}

impl Store {
    /// Deletes unverified guest alerts created before `before`, with their history. Deletes at most `limit` alerts
    /// and returns the number deleted.
    pub async fn purge_unverified_alerts(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let transaction = self.commit((before, limit), |&(before, limit), unit| {
            Box::pin(async move {
                // Locked, so that no alert is verified in between.
                let sql = if unit.connection.is_pg() {
                    unverified!(" FOR UPDATE")
                } else {
                    unverified!("")
                };
                let (before, limit) = (before.as_microsecond(), i64::from(limit));
                let seqs: Vec<(i64,)> = fetch!(unit, fetch_all(i64,), sql, before, limit);
                write_many!(unit, DELETE_HISTORY, &seqs, |query, seq| query.bind(seq.0));
                Ok(write_many!(unit, DELETE_ALERTS, &seqs, |query, seq| query.bind(seq.0)))
            })
        });
        transaction.await
    }
}

impl UnitOfWork {
    /// Returns a guest's alert and locks it until the end of the transaction. `None`: the alert does not exist, is
    /// deleted, or belongs to an account.
    pub async fn lock_guest_alert(&mut self, id: AlertId) -> Result<Option<StoredAlert>, StoreError> {
        let sql = select_locked!(
            self,
            select!("WHERE id = $1 AND guest_email IS NOT NULL AND deleted_at IS NULL")
        );
        let row = fetch!(self, fetch_optional AlertRow, sql, id.0);
        row.map(StoredAlert::try_from).transpose()
    }

    /// Counts a guest's active alerts.
    pub async fn count_active_alerts_of_guest(&mut self, email: &str) -> Result<u32, StoreError> {
        let sql = "SELECT COUNT(*) FROM alerts WHERE guest_email = $1 AND status = 'active' AND deleted_at IS NULL";
        let (count,) = fetch!(self, fetch_one(i64,), sql, columns::text(email));
        TABLE.narrow("COUNT(*)", count)
    }

    /// Transfers a guest's alert to an account. Returns `false`, and writes nothing, if the alert no longer belongs
    /// to a guest.
    pub async fn assign_guest_alert(&mut self, id: AlertId, account: AccountId) -> Result<bool, StoreError> {
        let sql = concat!(
            "UPDATE alerts SET account_id = $2, guest_email = NULL
             WHERE id = $1 AND guest_email IS NOT NULL AND deleted_at IS NULL RETURNING account_id, ",
            kind_column!()
        );
        let assigned = query!(
            fetch_optional(Option<uuid::Uuid>, String),
            &mut self.connection,
            sql,
            id.0,
            account.0
        );
        let Some(assigned) = self.track_optional_write(assigned)? else {
            return Ok(false);
        };
        if let Some((account, kind)) = Self::counted_kind(assigned)? {
            self.count_added(account, kind);
        }
        Ok(true)
    }
}
