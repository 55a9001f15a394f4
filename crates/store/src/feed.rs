//! All history entries as an ordered change feed.
//!
//! A reader continues from the position that it has reached. This requires that no entry appears later at or before
//! that position. SQLite has one writer at a time, so positions appear in order. On PostgreSQL, positions are
//! assigned when entries are written but become visible when their transactions commit, possibly in another order.
//!
//! So each PostgreSQL transaction *announces* the last position assigned before its first entry: it holds a shared
//! advisory lock on that number until it ends. A reader first reads the last assigned position, then the
//! announcements, and reads no further than the lower of the two ([`Store::history_position`]). All entries up to
//! there are committed or will never exist.
//!
//! Announcements never block each other, and a dump that is restored on another server keeps the positions. No
//! position is passed too early, so nothing has to be read twice.

use alerts::AlertId;

use crate::database::query;
use crate::model::StoredAlert;
use crate::unit_of_work::fetch;
use crate::{Store, StoreError, UnitOfWork};

/// The upper half of the lock numbers ("BW"). Positions stay far below it.
const ANNOUNCEMENT_LOCK_PREFIX: i64 = 0x4257 << 48;
/// The lower half of the lock numbers.
const POSITION_MASK: i64 = (1 << 48) - 1;

impl UnitOfWork {
    /// Announces that this transaction writes history.
    pub(crate) async fn announce_history(&mut self) -> Result<(), StoreError> {
        if self.connection.is_pg() && !self.is_announced {
            let sql = "SELECT CAST(pg_advisory_xact_lock_shared(
                           $1 + CASE WHEN is_called THEN last_value ELSE 0 END) AS TEXT)
                       FROM history_order";
            fetch!(self, fetch_one(String,), sql, ANNOUNCEMENT_LOCK_PREFIX);
            self.is_announced = true;
        }
        Ok(())
    }
}

impl Store {
    /// Returns the position up to which the history is complete: no entry will appear at or before it. A caller that
    /// reads alerts afterwards misses no change from there on.
    pub async fn history_position(&self) -> Result<i64, StoreError> {
        if !self.pools.is_pg() {
            let sql = "SELECT COALESCE(MAX(seq), 0) FROM history";
            return Ok(query!(fetch_one(i64,), &self.pools, sql)?.0);
        }
        let sql = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM history_order";
        let (last_assigned,) = query!(fetch_one(i64,), &self.pools, sql)?;
        // A separate statement after the first: a transaction that announces itself in between starts later.
        let sql = "SELECT COALESCE(MIN(((CAST(classid AS BIGINT) << 32) | CAST(objid AS BIGINT)) & $2), $3)
                   FROM pg_locks
                   WHERE locktype = 'advisory' AND mode = 'ShareLock' AND objsubid = 1
                   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                   AND ((CAST(classid AS BIGINT) << 32) & ~$2) = $1";
        let (announced,) = query!(
            fetch_one(i64,),
            &self.pools,
            sql,
            ANNOUNCEMENT_LOCK_PREFIX,
            POSITION_MASK,
            i64::MAX
        )?;
        Ok(last_assigned.min(announced))
    }

    /// Returns the alerts that changed after a position (deleted ones as `None`) and the next position. Reads at
    /// most `limit` entries. If the position does not move, there is nothing more.
    pub async fn changed_since(
        &self,
        position: i64,
        limit: u32,
    ) -> Result<(Vec<(AlertId, Option<StoredAlert>)>, i64), StoreError> {
        let complete = self.history_position().await?;
        // These entries do not change the alert.
        let sql = "SELECT seq, alert_seq FROM history
                   WHERE seq > $1 AND seq <= $2 AND action NOT IN ('not_evaluated', 'notification_sent', 'notification_failed', 'acknowledged')
                   ORDER BY seq LIMIT $3";
        let entries = query!(
            fetch_all(i64, i64),
            &self.pools,
            sql,
            position,
            complete,
            i64::from(limit)
        )?;
        let is_last_page = entries.len() < usize::try_from(limit).unwrap_or(usize::MAX);
        let next = match entries.last() {
            Some((seq, _)) if !is_last_page => *seq,
            _ => complete.max(position),
        };
        let mut changed: Vec<i64> = entries.into_iter().map(|(_, alert)| alert).collect();
        changed.sort_unstable();
        changed.dedup();
        let mut alerts = Vec::with_capacity(changed.len());
        for row in self.alert_rows(&changed).await? {
            // An alert over many stocks is never evaluated; its members have entries of their own.
            if row.is_scoped() {
                continue;
            }
            let id = row.id();
            let alert = if row.is_deleted() { None } else { Some(row.try_into()?) };
            alerts.push((id, alert));
        }
        Ok((alerts, next))
    }
}
