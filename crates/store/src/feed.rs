//! The order of all history entries as a feed of changes.
//!
//! Whoever has read up to a place goes on from there. That is only sound if no entry turns up later at a place that was
//! passed. On SQLite none does: there is one writer at a time. On PostgreSQL places are given out when entries are written
//! and entries are seen when their transactions commit, in another order. So there each transaction *announces*, before
//! it writes its first entry, the last place given out by then: it holds a shared advisory lock on that number until it
//! ends. A reader first looks which place was given out last, then which announcements stand, and reads no further than
//! either of the two ([`Store::place`]). All entries up to there are committed or will never be.
//!
//! Announcements never wait for each other, and a dump that is read into another server keeps the places.
//!
//! Nothing is passed too early, so nothing has to be read twice.

use alerts::AlertId;

use crate::database::query;
use crate::model::StoredAlert;
use crate::unit::ask;
use crate::{Store, StoreError, Unit};

/// The upper half of the numbers that are locked: "BW". Places are far from reaching it.
const ANNOUNCEMENTS: i64 = 0x4257 << 48;
/// The lower half.
const PLACES: i64 = (1 << 48) - 1;

impl Unit {
    /// Announces that this transaction writes history.
    pub(crate) async fn announce_history(&mut self) -> Result<(), StoreError> {
        if self.link.is_pg() && !self.is_announced {
            let sql = "SELECT CAST(pg_advisory_xact_lock_shared(
                           $1 + CASE WHEN is_called THEN last_value ELSE 0 END) AS TEXT)
                       FROM history_order";
            ask!(self, fetch_one(String,), sql, ANNOUNCEMENTS);
            self.is_announced = true;
        }
        Ok(())
    }
}

impl Store {
    /// The place in the order of all history entries up to which it is complete: no entry will turn up at this place or
    /// before. Whoever reads the alerts after asking for the place misses no change from there on.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn place(&self) -> Result<i64, StoreError> {
        if !self.pools.is_pg() {
            let sql = "SELECT COALESCE(MAX(seq), 0) FROM history";
            return Ok(query!(fetch_one(i64,), &self.pools, sql)?.0);
        }
        let sql = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM history_order";
        let (given_out,) = query!(fetch_one(i64,), &self.pools, sql)?;
        // After the above, and not together with it: a transaction that announces itself in between begins later.
        let sql = "SELECT COALESCE(MIN(((CAST(classid AS BIGINT) << 32) | CAST(objid AS BIGINT)) & $2), $3)
                   FROM pg_locks
                   WHERE locktype = 'advisory' AND mode = 'ShareLock' AND objsubid = 1
                   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                   AND ((CAST(classid AS BIGINT) << 32) & ~$2) = $1";
        let (announced,) = query!(fetch_one(i64,), &self.pools, sql, ANNOUNCEMENTS, PLACES, i64::MAX)?;
        Ok(given_out.min(announced))
    }

    /// The alerts that have changed after a place in the order of all history entries, deleted ones as `None`, and the
    /// place to go on from. Looks at `limit` entries at most; when the place does not move, there is nothing more.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn changed_since(
        &self,
        place: i64,
        limit: u32,
    ) -> Result<(Vec<(AlertId, Option<StoredAlert>)>, i64), StoreError> {
        let complete = self.place().await?;
        // What became of a notification changes no alert.
        let sql = "SELECT seq, alert_seq FROM history
                   WHERE seq > $1 AND seq <= $2 AND action NOT IN ('notification_sent', 'notification_failed')
                   ORDER BY seq LIMIT $3";
        let entries = query!(fetch_all(i64, i64), &self.pools, sql, place, complete, i64::from(limit))?;
        let all = entries.len() < usize::try_from(limit).unwrap_or(usize::MAX);
        let next = match entries.last() {
            Some((seq, _)) if !all => *seq,
            _ => complete.max(place),
        };
        let mut changed: Vec<i64> = entries.into_iter().map(|(_, alert)| alert).collect();
        changed.sort_unstable();
        changed.dedup();
        let mut alerts = Vec::with_capacity(changed.len());
        for row in self.alert_rows(&changed).await? {
            let id = row.id();
            let alert = if row.is_deleted() { None } else { Some(row.try_into()?) };
            alerts.push((id, alert));
        }
        Ok((alerts, next))
    }
}
