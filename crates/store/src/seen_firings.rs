//! Which firings an account has seen.

use crate::database::query;
use crate::model::AccountId;
use crate::unit_of_work::write_rows;
use crate::{Store, StoreError, UnitOfWork};

/// Larger numbers of unseen firings are not counted.
const MAX_COUNTED: i64 = 1_000;

impl Store {
    /// Returns the number of an account's firings after the position that it has seen, at most 1,000.
    pub async fn unseen_firings(&self, account: AccountId) -> Result<u32, StoreError> {
        let sql = "SELECT COUNT(*) FROM (
                       SELECT seq FROM events
                       WHERE account_id = $1 AND seq > (SELECT seen_firings FROM accounts WHERE id = $1) LIMIT $2) AS unseen";
        let (count,) = query!(fetch_one(i64,), &self.pools, sql, account.0, MAX_COUNTED)?;
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// Records that an account has seen its firings up to a position. The position never moves back.
    pub async fn mark_firings_seen(&self, account: AccountId, position: i64) -> Result<(), StoreError> {
        self.commit((), move |(), unit| Box::pin(unit.mark_firings_seen(account, position)))
            .await
    }
}

impl UnitOfWork {
    async fn mark_firings_seen(&mut self, account: AccountId, position: i64) -> Result<(), StoreError> {
        write_rows!(
            self,
            "UPDATE accounts SET seen_firings = $2 WHERE id = $1 AND seen_firings < $2",
            account.0,
            position,
        );
        Ok(())
    }
}
