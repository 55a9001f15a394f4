//! Purges finished rows.

use jiff::Timestamp;

use crate::purge::Purge;
use crate::{Store, StoreError};

/// Rows are found in order of creation, so rows that are too young are not scanned.
const FINISHED_DELIVERIES: Purge = Purge {
    dependents: &["DELETE FROM delivery_attempts WHERE delivery_seq IN
         (SELECT seq FROM (SELECT seq, created_at FROM deliveries WHERE status <> 'pending' ORDER BY seq LIMIT $2)
          oldest WHERE created_at < $1)"],
    counted: &[
        "DELETE FROM deliveries WHERE status <> 'pending' AND created_at < $1 AND seq IN
         (SELECT seq FROM deliveries WHERE status <> 'pending' ORDER BY seq LIMIT $2)",
    ],
};

const FINISHED_MESSAGES: Purge = Purge {
    // An escalation that only waits for a failure is kept as long as its message.
    dependents: &["DELETE FROM escalations WHERE event_seq IN
         (SELECT event_seq FROM escalations WHERE created_at < $1 AND due_at IS NULL
          AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.id = escalations.current_id AND m.status = 'pending')
          ORDER BY event_seq LIMIT $2)"],
    counted: &[
        "DELETE FROM messages WHERE seq IN
         (SELECT seq FROM messages WHERE finished_at < $1 ORDER BY finished_at LIMIT $2)",
        // Outbox rows never change, so the oldest come first.
        "DELETE FROM outbox WHERE created_at < $1 AND seq IN (SELECT seq FROM outbox ORDER BY seq LIMIT $2)",
    ],
};

impl Store {
    /// Deletes finished deliveries created before `before`, with their attempts: at most `limit`, oldest first.
    /// Returns the number deleted. Their events remain.
    pub async fn purge_deliveries(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.purge(FINISHED_DELIVERIES, before, limit).await
    }

    /// Deletes messages that were finished before `before`, and older outbox rows: at most `limit` of each. Returns
    /// the number deleted. Messages that limits still count must be kept.
    pub async fn purge_messages(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.purge(FINISHED_MESSAGES, before, limit).await
    }
}
