//! Alerts of people without an account.
//!
//! They are their address's. An account can take one over; and those that were never verified go away for good, with all
//! that tells of them: nobody has shown that the address is theirs.

use alerts::AlertId;
use jiff::Timestamp;

use super::row::{AlertRow, TABLE, select};
use crate::bulk::{Statement, execute_many};
use crate::columns;
use crate::deliveries::never;
use crate::model::{AccountId, StoredAlert};
use crate::unit::{ask, write};
use crate::{Abort, BoxFuture, Store, StoreError, Unit, Work};

const FORGET_HISTORY: Statement = Statement {
    before: "DELETE FROM history WHERE alert_seq IN (VALUES ",
    columns: 1,
    after: ")",
};

const FORGET: Statement = Statement {
    before: "DELETE FROM alerts WHERE seq IN (VALUES ",
    columns: 1,
    after: ")",
};

impl Store {
    /// Removes guests' alerts that were made before an instant and never verified, and their history; at most so many, and
    /// says how many.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn forget_unverified_alerts(&self, before: Timestamp, at_most: u32) -> Result<u64, StoreError> {
        self.write(Forget { before, at_most }).await.map_err(never)
    }
}

impl Unit {
    /// An alert of a guest, kept from changing until the end of the transaction. `None`: there is no such alert, it was
    /// deleted, or it belongs to an account.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn guest_alert_to_change(&mut self, id: AlertId) -> Result<Option<StoredAlert>, StoreError> {
        let sql = if self.link.is_pg() {
            select!("WHERE id = $1 AND guest_email IS NOT NULL AND deleted_at IS NULL FOR NO KEY UPDATE")
        } else {
            select!("WHERE id = $1 AND guest_email IS NOT NULL AND deleted_at IS NULL")
        };
        let row = ask!(self, fetch_optional AlertRow, sql, id.0);
        row.map(StoredAlert::try_from).transpose()
    }

    /// How many of a guest's alerts are active.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn count_active_alerts_of_guest(&mut self, email: &str) -> Result<u32, StoreError> {
        let sql = "SELECT COUNT(*) FROM alerts WHERE guest_email = $1 AND status = 'active' AND deleted_at IS NULL";
        let (count,) = ask!(self, fetch_one(i64,), sql, columns::text(email));
        TABLE.narrow("COUNT(*)", count)
    }

    /// Makes a guest's alert an account's. `false`: it is no guest's any more, and nothing was written.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn give_guest_alert(&mut self, id: AlertId, account: AccountId) -> Result<bool, StoreError> {
        let sql = "UPDATE alerts SET account_id = $2, guest_email = NULL
                   WHERE id = $1 AND guest_email IS NOT NULL AND deleted_at IS NULL";
        Ok(write!(self, sql, id.0, account.0) == 1)
    }
}

/// Removes what was never verified.
struct Forget {
    before: Timestamp,
    at_most: u32,
}

impl Work for Forget {
    type Done = u64;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<u64, Abort<Self::Refusal>>> {
        Box::pin(async move {
            // Locked, so that none of them is verified in between.
            let sql = if unit.link.is_pg() {
                "SELECT seq FROM alerts WHERE guest_email IS NOT NULL AND status = 'inactive' AND created_at < $1
                 ORDER BY seq LIMIT $2 FOR UPDATE"
            } else {
                "SELECT seq FROM alerts WHERE guest_email IS NOT NULL AND status = 'inactive' AND created_at < $1
                 ORDER BY seq LIMIT $2"
            };
            let (before, at_most) = (self.before.as_microsecond(), i64::from(self.at_most));
            let seqs: Vec<(i64,)> = ask!(unit, fetch_all(i64,), sql, before, at_most);
            let history = execute_many!(&mut unit.link, FORGET_HISTORY, &seqs, |query, one| query.bind(one.0));
            unit.noted_rows(history)?;
            let forgotten = execute_many!(&mut unit.link, FORGET, &seqs, |query, one| query.bind(one.0));
            Ok(unit.noted_rows(forgotten)?)
        })
    }
}
