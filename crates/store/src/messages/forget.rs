//! What is done with long ago is forgotten.

use jiff::Timestamp;

use crate::forget::Forget;
use crate::{Store, StoreError};

const MESSAGES: Forget = Forget {
    with_them: &[],
    counted: &[
        "DELETE FROM messages WHERE seq IN
         (SELECT seq FROM messages WHERE finished_at < $1 ORDER BY finished_at LIMIT $2)",
        // These are never changed, so the oldest come first.
        "DELETE FROM outbox WHERE created_at < $1 AND seq IN (SELECT seq FROM outbox ORDER BY seq LIMIT $2)",
    ],
};

impl Store {
    /// Removes messages that were done with before `before`, and what the outbox kept by then: at most so many of each. Says
    /// how many. What limits still count must not be forgotten.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn forget_messages(&self, before: Timestamp, at_most: u32) -> Result<u64, StoreError> {
        self.forget(MESSAGES, before, at_most).await
    }
}
