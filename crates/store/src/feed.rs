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

use std::collections::BTreeMap;

use alerts::AlertId;

use crate::database::{Either, query};
use crate::model::{LastChange, PositionedAlert};
use crate::timeouts::with_statement_timeout;
use crate::unit_of_work::fetch;
use crate::{Store, StoreError, UnitOfWork};

/// The entries that change their alert.
macro_rules! changes_alert {
    () => {
        "action NOT IN ('not_evaluated', 'notification_sent', 'notification_failed', 'acknowledged')"
    };
}

/// The action of a firing's entry.
const FIRED: &str = "triggered";

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
    /// Returns the last position that an entry has got, or 0. Entries up to there may still be uncommitted, see
    /// [`Self::history_position`].
    pub async fn history_last(&self) -> Result<i64, StoreError> {
        let sql = if self.pools.is_pg() {
            "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM history_order"
        } else {
            "SELECT COALESCE(MAX(seq), 0) FROM history"
        };
        Ok(query!(fetch_one(i64,), &self.pools, sql)?.0)
    }

    /// Returns the position up to which the history is complete: no entry will appear at or before it. A caller that
    /// reads alerts afterwards misses no change from there on.
    pub async fn history_position(&self) -> Result<i64, StoreError> {
        let last_assigned = self.history_last().await?;
        if !self.pools.is_pg() {
            return Ok(last_assigned);
        }
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

    /// Returns the alerts that changed after a position, and the next position. Reads at most `limit` entries. If the position
    /// does not move, there is nothing more.
    ///
    /// An alert is returned as it is now, which may be newer than the next position. Its own position is that of its last change then.
    pub async fn changed_since(&self, position: i64, limit: u32) -> Result<(Vec<PositionedAlert>, i64), StoreError> {
        let complete = self.history_position().await?;
        self.committed_changes(position, complete, limit).await
    }

    /// Returns the alerts with committed changes after a position and at or before `until`, and the next position, as
    /// [`Self::changed_since`] does. Beyond [`Self::history_position`], other changes may appear between them later.
    pub async fn committed_changes(
        &self,
        position: i64,
        until: i64,
        limit: u32,
    ) -> Result<(Vec<PositionedAlert>, i64), StoreError> {
        let sql = concat!(
            "SELECT seq, alert_seq, action FROM history WHERE seq > $1 AND seq <= $2 AND ",
            changes_alert!(),
            " ORDER BY seq LIMIT $3"
        );
        let entries = query!(
            fetch_all(i64, i64, String),
            &self.pools,
            sql,
            position,
            until,
            i64::from(limit)
        )?;
        let is_last_page = entries.len() < usize::try_from(limit).unwrap_or(usize::MAX);
        let next = match entries.last() {
            Some((seq, ..)) if !is_last_page => *seq,
            _ => until.max(position),
        };
        // The last entry of each alert.
        let last = entries
            .into_iter()
            .map(|(position, alert, action)| (alert, (position, action == FIRED)));
        let entries: BTreeMap<i64, (i64, bool)> = last.collect();
        let mut alerts = Vec::with_capacity(entries.len());
        let mut unread: Vec<i64> = entries.keys().copied().collect();
        while !unread.is_empty() {
            let before = self.last_changes(&unread).await?;
            let rows = self.alert_rows(&unread).await?;
            let after = self.last_changes(&unread).await?;
            // An alert that has changed meanwhile is read again, so that each is as of its position.
            let is_changing = |alert: &i64| before.get(alert) != after.get(alert);
            unread.retain(&is_changing);
            for row in rows.into_iter().filter(|row| !is_changing(&row.seq)) {
                // An alert over many stocks is never evaluated; its members have entries of their own.
                if row.is_scoped() {
                    continue;
                }
                let last = after.get(&row.seq).or_else(|| entries.get(&row.seq));
                let (id, last) = (row.id(), last.copied());
                let stored = if row.is_deleted() { None } else { Some(row.try_into()?) };
                alerts.extend(last.map(|(position, has_fired)| PositionedAlert {
                    id,
                    position,
                    has_fired,
                    stored,
                }));
            }
        }
        Ok((alerts, next))
    }

    /// Returns the last changes of alerts. Nothing on SQLite, where one process writes.
    pub async fn change_positions(&self, ids: &[AlertId]) -> Result<Vec<LastChange>, StoreError> {
        let numbers = self.alert_numbers(ids).await?;
        let changes = self
            .last_changes(&numbers.keys().copied().collect::<Vec<i64>>())
            .await?;
        let positions = changes.into_iter().filter_map(|(number, (position, has_fired))| {
            let alert = *numbers.get(&number)?;
            Some(LastChange {
                alert,
                position,
                has_fired,
            })
        });
        Ok(positions.collect())
    }

    /// Returns the positions of the last changes of alerts, and whether these are firings. Nothing on SQLite, where one process writes.
    async fn last_changes(&self, alerts: &[i64]) -> Result<BTreeMap<i64, (i64, bool)>, StoreError> {
        let Either::Pg(pool) = &self.pools else {
            return Ok(BTreeMap::new());
        };
        if alerts.is_empty() {
            return Ok(BTreeMap::new());
        }
        let sql = concat!(
            "SELECT changed.alert_seq, last.seq, last.action FROM UNNEST(CAST($1 AS BIGINT[])) AS changed (alert_seq)
             CROSS JOIN LATERAL (SELECT seq, action FROM history WHERE history.alert_seq = changed.alert_seq AND ",
            changes_alert!(),
            " ORDER BY seq DESC LIMIT 1) AS last"
        );
        let query = sqlx::query_as::<_, (i64, i64, String)>(sql).bind(alerts);
        let last = with_statement_timeout(query.fetch_all(pool)).await?;
        let last = last.into_iter();
        Ok(last
            .map(|(alert, seq, action)| (alert, (seq, action == FIRED)))
            .collect())
    }
}
