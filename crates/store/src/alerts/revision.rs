//! The revision of each account's alerts: it grows with every change of what the account's lists show of them.
//!
//! So a list that was read at a revision is unchanged as long as the account still has it. Transactions already report each such change
//! for the totals (`totals.rs`), and raise the revision of the same accounts.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::bulk::{Statement, write_many};
use crate::database::query;
use crate::model::{AccountId, AlertRevision};
use crate::{Store, StoreError, UnitOfWork};

const RAISE: Statement = Statement {
    before: "INSERT INTO alert_revisions (account_id, revision) VALUES ",
    columns: 2,
    after: " ON CONFLICT (account_id) DO UPDATE SET revision = alert_revisions.revision + 1",
};

impl Store {
    /// Returns the revision of an account's alerts.
    pub async fn alert_revision(&self, account: AccountId) -> Result<AlertRevision, StoreError> {
        let sql = "SELECT revision FROM alert_revisions WHERE account_id = $1";
        let found = query!(fetch_optional(i64,), self.short_reads(), sql, account.0)?;
        Ok(AlertRevision(found.map_or(0, |(revision,)| revision)))
    }
}

impl UnitOfWork {
    /// Raises the revision of accounts. PostgreSQL locks the rows, always in the same order.
    pub(super) async fn raise_alert_revisions(&mut self, accounts: &BTreeSet<Uuid>) -> Result<(), StoreError> {
        let accounts: Vec<Uuid> = accounts.iter().copied().collect();
        write_many!(self, RAISE, &accounts, |query, account| query
            .bind(*account)
            .bind(1_i64));
        Ok(())
    }
}
