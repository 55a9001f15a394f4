//! What is done with long ago is forgotten.

use jiff::Timestamp;

use crate::deliveries::never;
use crate::unit::write;
use crate::{Abort, BoxFuture, Store, StoreError, Unit, Work};

impl Store {
    /// Removes messages that were done with before `before`, and what the outbox kept by then: at most so many of each. Says
    /// how many. What limits still count must not be forgotten.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn forget_messages(&self, before: Timestamp, at_most: u32) -> Result<u64, StoreError> {
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
            let messages = write!(
                unit,
                "DELETE FROM messages WHERE seq IN
                 (SELECT seq FROM messages WHERE finished_at < $1 ORDER BY finished_at LIMIT $2)",
                before, at_most,
            );
            // These are never changed, so the oldest come first.
            let kept = write!(
                unit,
                "DELETE FROM outbox WHERE created_at < $1 AND seq IN (SELECT seq FROM outbox ORDER BY seq LIMIT $2)",
                before, at_most,
            );
            Ok(messages + kept)
        })
    }
}
