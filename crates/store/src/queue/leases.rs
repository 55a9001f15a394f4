//! Releases rows that would otherwise wait too long.

use jiff::Timestamp;
use sqlx::AssertSqlSafe;

use super::{DELIVERIES, MESSAGES, QueueTable};
use crate::unit_of_work::write_rows;
use crate::{Store, StoreError, UnitOfWork};

/// The tables with queues.
const TABLES: [&QueueTable; 2] = [&DELIVERIES, &MESSAGES];

impl Store {
    /// Releases all leases and returns their number. For a process that has just started and is the only one on its
    /// database: work claimed by its crashed predecessor need not wait for the leases to expire.
    pub async fn release_all_leases(&self, now: Timestamp) -> Result<u64, StoreError> {
        let transaction = self.commit(now, |&now, unit| {
            Box::pin(async move {
                let now = now.as_microsecond();
                let sql = "UPDATE analyst_queue SET lease = NULL, due_at = $1 WHERE lease IS NOT NULL";
                let mut released = write_rows!(unit, sql, now);
                for QueueTable { table, .. } in TABLES {
                    let sql = format!(
                        "UPDATE {} SET lease = NULL, due_at = $1 WHERE status = 'pending' AND lease IS NOT NULL",
                        table.0
                    );
                    released += write_rows!(unit, AssertSqlSafe(sql), now);
                }
                Ok(released)
            })
        });
        transaction.await
    }
}

impl UnitOfWork {
    /// Makes rows due at `now` that were queued after it, are leased or due after `latest`, or are held back
    /// after `latest_held`.
    pub(crate) async fn reschedule_future_notifications(
        &mut self,
        now: i64,
        latest: i64,
        latest_held: i64,
    ) -> Result<(), StoreError> {
        for QueueTable { table, is_held, .. } in TABLES {
            let sql = format!(
                "UPDATE {} SET due_at = $1, lease = NULL
                 WHERE status = 'pending' AND due_at > $1 AND CASE WHEN lease IS NOT NULL THEN due_at > $2
                     ELSE created_at > $1 OR due_at > $3 OR (due_at > $2 AND NOT ({is_held})) END",
                table.0
            );
            write_rows!(self, AssertSqlSafe(sql), now, latest, latest_held);
        }
        Ok(())
    }
}
