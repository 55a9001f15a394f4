//! The fence of observations: a node that has lost a shard no longer writes anything of it, even if it does not know yet.
//!
//! The transaction locks the rows of the shards and compares owner and epoch. A claim of one of them waits until the transaction has
//! ended, so no observation of the former owner follows the claim.
//!
//! # Locks
//!
//! A commit without a clock takes the shared lock, one with a clock the lock of an update at once: two transactions that both raise
//! shared locks would deadlock. Rows are locked in the order of the shards, as by claims. In a group of commits, a later one may raise
//! the shared lock of an earlier one. Only a transaction of the same node could share it: its transactions run one after another, but for
//! the two that write many firings at once, and these wait for nothing that the other one has locked. A former owner that waited for a
//! claim may hold a shared lock of a row that it has lost, until its transaction ends; if it then waits for a row of the new owner, the
//! server ends one of them and the write queue retries it.

use jiff::Timestamp;
use uuid::Uuid;

use crate::database::Either;
use crate::job_leases::server_time;
use crate::model::{Fence, Shard, ShardProgress};
use crate::timeouts::with_statement_timeout;
use crate::{StoreError, UnitOfWork};

macro_rules! lock_shards {
    ($lock:literal) => {
        concat!(
            "SELECT shards.shard, shards.epoch FROM shards
             JOIN UNNEST(CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[])) AS owned (shard, epoch)
               ON shards.shard = owned.shard AND shards.epoch = owned.epoch
             WHERE shards.owner_id = $1 ORDER BY shards.shard ",
            $lock,
            " OF shards"
        )
    };
}

const SHARE_SHARDS: &str = lock_shards!("FOR SHARE");
const LOCK_SHARDS: &str = lock_shards!("FOR NO KEY UPDATE");

const MARK_CLOCK: &str = "UPDATE shards SET clock = $1 WHERE shard = ANY ($2) AND (clock IS NULL OR clock < $1)";

const RECORD_PROGRESS: &str = concat!(
    "INSERT INTO shard_progress (shard, origin_id, sequence, judged_at)
     SELECT shard, origin_id, sequence, ",
    server_time!(),
    " FROM UNNEST(CAST($1 AS BIGINT[]), CAST($2 AS UUID[]), CAST($3 AS BIGINT[])) AS judged (shard, origin_id, sequence)
     ORDER BY shard, origin_id
     ON CONFLICT (shard, origin_id) DO UPDATE SET sequence = excluded.sequence, judged_at = excluded.judged_at
     WHERE shard_progress.sequence < excluded.sequence"
);

impl UnitOfWork {
    /// Locks the shards of a fence against claims until the end of the transaction. Returns those that are not owned, in order. On
    /// SQLite, no shard is owned.
    pub(super) async fn lock_fence(&mut self, fence: &Fence, writes_clock: bool) -> Result<Vec<Shard>, StoreError> {
        let mut shards = fence.shards.clone();
        shards.sort_unstable();
        if let (Either::Pg(connection), false) = (&mut self.connection, shards.is_empty()) {
            let sql = if writes_clock { LOCK_SHARDS } else { SHARE_SHARDS };
            let (numbers, epochs): (Vec<i64>, Vec<i64>) = shards
                .iter()
                .map(|(shard, epoch)| (i64::from(shard.0), epoch.0))
                .unzip();
            let query = sqlx::query_as::<_, (i64, i64)>(sql).bind(fence.owner.0);
            let owned = with_statement_timeout(query.bind(numbers).bind(epochs).fetch_all(connection)).await;
            let owned = self.track(owned)?;
            shards.retain(|(shard, epoch)| owned.binary_search(&(i64::from(shard.0), epoch.0)).is_err());
        }
        let mut lost: Vec<Shard> = shards.into_iter().map(|(shard, _)| shard).collect();
        lost.dedup();
        Ok(lost)
    }

    /// Raises the clock of the shards of a fence.
    pub(super) async fn mark_clock_of_shards(&mut self, fence: &Fence, clock: Timestamp) -> Result<(), StoreError> {
        if let Either::Pg(connection) = &mut self.connection {
            let numbers: Vec<i64> = fence.shards.iter().map(|(shard, _)| i64::from(shard.0)).collect();
            let query = sqlx::query(MARK_CLOCK).bind(clock.as_microsecond()).bind(numbers);
            let marked = with_statement_timeout(query.execute(connection))
                .await
                .map(|done| done.rows_affected());
            self.track_rows(marked)?;
        }
        Ok(())
    }

    /// Records which messages the observations come from. Each shard and origin must occur once.
    pub(super) async fn record_shard_progress(&mut self, progress: &[ShardProgress]) -> Result<(), StoreError> {
        if let (Either::Pg(connection), false) = (&mut self.connection, progress.is_empty()) {
            let shards: Vec<i64> = progress.iter().map(|judged| i64::from(judged.shard.0)).collect();
            let origins: Vec<Uuid> = progress.iter().map(|judged| judged.origin).collect();
            let sequences: Vec<i64> = progress.iter().map(|judged| judged.sequence.cast_signed()).collect();
            let query = sqlx::query(RECORD_PROGRESS).bind(shards).bind(origins).bind(sequences);
            let recorded = with_statement_timeout(query.execute(connection))
                .await
                .map(|done| done.rows_affected());
            self.track_rows(recorded)?;
        }
        Ok(())
    }
}
