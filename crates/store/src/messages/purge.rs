//! Purges finished messages.

use jiff::Timestamp;

use crate::purge::Purge;
use crate::{Store, StoreError};

const FINISHED_MESSAGES: Purge = Purge {
    dependents: &[],
    counted: &[
        "DELETE FROM messages WHERE seq IN
         (SELECT seq FROM messages WHERE finished_at < $1 ORDER BY finished_at LIMIT $2)",
        // Outbox rows never change, so the oldest come first.
        "DELETE FROM outbox WHERE created_at < $1 AND seq IN (SELECT seq FROM outbox ORDER BY seq LIMIT $2)",
    ],
};

impl Store {
    /// Deletes messages that were finished before `before`, and older outbox rows: at most `limit` of each. Returns
    /// the number deleted. Messages that limits still count must be kept.
    pub async fn purge_messages(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.purge(FINISHED_MESSAGES, before, limit).await
    }
}
