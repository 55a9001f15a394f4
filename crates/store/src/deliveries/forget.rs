//! What is done with long ago is forgotten.

use jiff::Timestamp;

use super::claim::never;
use crate::unit::write;
use crate::{Abort, BoxFuture, Store, StoreError, Unit, Work};

impl Store {
    /// Removes deliveries with their attempts that were made before `before` and wait for nothing: at most so many, those
    /// first that are oldest. Says how many. Their events stay.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn forget_deliveries(&self, before: Timestamp, at_most: u32) -> Result<u64, StoreError> {
        self.write(Forget { before, at_most }).await.map_err(never)
    }
}

struct Forget {
    before: Timestamp,
    at_most: u32,
}

impl Work for Forget {
    type Done = u64;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<u64, Abort<Self::Refusal>>> {
        let (before, at_most) = (self.before.as_microsecond(), i64::from(self.at_most));
        Box::pin(async move {
            // They are found in the order in which they were made, so that nothing is gone through that is too young.
            write!(
                unit,
                "DELETE FROM delivery_attempts WHERE delivery_seq IN
                 (SELECT seq FROM (SELECT seq, created_at FROM deliveries WHERE status <> 'pending' ORDER BY seq LIMIT $2)
                  oldest WHERE created_at < $1)",
                before, at_most,
            );
            Ok(write!(
                unit,
                "DELETE FROM deliveries WHERE status <> 'pending' AND created_at < $1 AND seq IN
                 (SELECT seq FROM deliveries WHERE status <> 'pending' ORDER BY seq LIMIT $2)",
                before, at_most,
            ))
        })
    }
}
