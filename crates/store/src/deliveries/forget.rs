//! What is done with long ago is forgotten.

use jiff::Timestamp;

use crate::forget::Forget;
use crate::{Store, StoreError};

/// They are found in the order in which they were made, so that nothing is gone through that is too young.
const DELIVERIES: Forget = Forget {
    with_them: &["DELETE FROM delivery_attempts WHERE delivery_seq IN
         (SELECT seq FROM (SELECT seq, created_at FROM deliveries WHERE status <> 'pending' ORDER BY seq LIMIT $2)
          oldest WHERE created_at < $1)"],
    counted: &[
        "DELETE FROM deliveries WHERE status <> 'pending' AND created_at < $1 AND seq IN
         (SELECT seq FROM deliveries WHERE status <> 'pending' ORDER BY seq LIMIT $2)",
    ],
};

impl Store {
    /// Removes deliveries with their attempts that were made before `before` and wait for nothing: at most so many, those
    /// first that are oldest. Says how many. Their events stay.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn forget_deliveries(&self, before: Timestamp, at_most: u32) -> Result<u64, StoreError> {
        self.forget(DELIVERIES, before, at_most).await
    }
}
