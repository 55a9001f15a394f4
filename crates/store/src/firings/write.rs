//! Writes firings: alerts by compare-and-set, then history, events, messages, deliveries and escalations of the accepted firings.
//!
//! On PostgreSQL, a few statements write many rows each, and return the fired alerts and the assigned positions. On SQLite, one
//! prepared statement runs for each row. No other connection writes during the transaction, so positions are counted up from the
//! last one.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::commit::FiringChunk;
use super::prepare::FiringRow;
use crate::bulk::{Statement, write_many, write_many_returning};
use crate::database::Either;
use crate::queue::create::FiredEvent;
use crate::unit_of_work::fetch;
use crate::{StoreError, UnitOfWork};

macro_rules! fire_alerts {
    ($($condition:expr),+) => {
        Statement {
            before: "WITH fired (seq, revision, next_revision, status, at, lifecycle) AS (VALUES ",
            columns: 6,
            after: concat!(
                ") UPDATE alerts
                 SET status = fired.status, revision = fired.next_revision, triggered_at = fired.at,
                 lifecycle = COALESCE(fired.lifecycle, alerts.lifecycle)
                 FROM fired WHERE alerts.seq = fired.seq AND ",
                $($condition,)+
                " RETURNING alerts.seq"
            ),
        }
    };
}

/// Fires alerts that have not changed since the evaluation, and returns them, on PostgreSQL.
const FIRE: Statement = fire_alerts!("alerts.revision = fired.revision AND ", is_unchanged!());

/// Fires an alert that has not changed since the evaluation, on SQLite.
const FIRE_ONE: &str = concat!(
    "UPDATE alerts SET status = ?, revision = ?, triggered_at = ?, lifecycle = COALESCE(?, lifecycle)
     WHERE seq = ? AND revision = ? AND ",
    is_unchanged!()
);

/// Like [`FIRE`] without compare-and-set, see [`StoreOptions`](crate::StoreOptions).
const FIRE_UNCONDITIONALLY: Statement = fire_alerts!("fired.revision IS NOT NULL");

/// Inserts the history of firings and returns the assigned positions.
const INSERT_HISTORY_RETURNING: Statement = Statement {
    before: "INSERT INTO history (alert_seq, action, previous_status, new_status, at, price, details, parent_seq)
             SELECT column1, 'triggered', 'active', column2, column3, column4, column5, column6 FROM (VALUES ",
    columns: 6,
    after: ") AS fired RETURNING alert_seq, seq",
};

/// Inserts the history of a firing at a given position, on SQLite.
const INSERT_ENTRY: &str =
    "INSERT INTO history (seq, alert_seq, action, previous_status, new_status, at, price, details, parent_seq)
     VALUES (?, ?, 'triggered', 'active', ?, ?, ?, ?, ?)";

const INSERT_EVENTS: Statement = Statement {
    before: "INSERT INTO events (seq, id, account_id, alert_seq, at, data, quoted_at, judged_at, committed_at) VALUES ",
    columns: 9,
    after: "",
};

/// The position of the history entry of an accepted firing, and the firing.
type PositionedFiring<'a> = (i64, &'a FiringRow);

impl FiringChunk {
    /// Fires alerts and returns the accepted firings.
    pub(super) async fn fire(&self, unit: &mut UnitOfWork) -> Result<Vec<&FiringRow>, StoreError> {
        if !self.uses_compare_and_set {
            return self.fire_returning(unit, FIRE_UNCONDITIONALLY).await;
        }
        let Either::Lite(connection) = &mut unit.connection else {
            return self.fire_returning(unit, FIRE).await;
        };
        if self.rows.is_empty() {
            return Ok(Vec::new());
        }
        let fired = connection.execute_each(FIRE_ONE, &self.rows, |query, row| {
            query
                .bind(row.status.name())
                .bind(row.next_revision)
                .bind(row.at)
                .bind(row.lifecycle.as_deref())
                .bind(row.alert_seq)
                .bind(row.evaluated_revision)
        });
        let fired = unit.track_write(fired)?;
        let fired = self.rows.iter().zip(fired).filter(|(_, updated)| *updated > 0);
        Ok(fired.map(|(row, _)| row).collect())
    }

    /// Fires with a statement that returns the fired alerts.
    async fn fire_returning(&self, unit: &mut UnitOfWork, statement: Statement) -> Result<Vec<&FiringRow>, StoreError> {
        let updated = write_many_returning!(unit, (i64,), statement, &self.rows, |query, row| {
            query
                .bind(row.alert_seq)
                .bind(row.evaluated_revision)
                .bind(row.next_revision)
                .bind(row.status.name())
                .bind(row.at)
                .bind(row.lifecycle.as_deref())
        });
        let accepted: HashSet<i64> = updated.into_iter().map(|(seq,)| seq).collect();
        Ok(self
            .rows
            .iter()
            .filter(|row| accepted.contains(&row.alert_seq))
            .collect())
    }

    /// Writes history, events, messages, deliveries and escalations of accepted firings.
    pub(super) async fn record_firings(&self, unit: &mut UnitOfWork, fired: &[&FiringRow]) -> Result<(), StoreError> {
        if fired.is_empty() {
            return Ok(());
        }
        for row in fired {
            if let Some(account) = row.account {
                unit.count_changed(account, row.kind, row.status);
            }
        }
        let positioned = unit.insert_history(fired).await?;
        // The transaction ends with the observations of the evaluation, a moment later.
        let committed_at = self.composer.now().map(Timestamp::as_microsecond);
        write_many!(unit, INSERT_EVENTS, &positioned, |query, event| {
            let (seq, row) = event;
            query
                .bind(seq)
                .bind(row.event)
                .bind(row.account)
                .bind(row.alert_seq)
                .bind(row.at)
                .bind(row.data.as_str())
                .bind(row.quoted_at)
                .bind(row.judged_at)
                .bind(committed_at)
        });
        let events: Vec<FiredEvent<'_>> = positioned.iter().map(|(seq, row)| row.as_event(*seq)).collect();
        let deliveries = unit.create_deliveries(&events).await?;
        let events = events.into_iter().map(|event| event.without_lost_route(&deliveries));
        let events: Vec<FiredEvent<'_>> = events.collect();
        unit.create_messages(&events).await?;
        unit.create_escalations(&events, &deliveries).await
    }
}

impl UnitOfWork {
    async fn insert_history_returning<'a>(
        &mut self,
        fired: &[&'a FiringRow],
    ) -> Result<Vec<PositionedFiring<'a>>, StoreError> {
        self.announce_history().await?;
        let recorded = write_many_returning!(self, (i64, i64), INSERT_HISTORY_RETURNING, fired, |query, row| {
            query
                .bind(row.alert_seq)
                .bind(row.status.name())
                .bind(row.at)
                .bind(row.price)
                .bind(row.details.as_str())
                .bind(row.parent_seq)
        });
        let seqs: HashMap<i64, i64> = recorded.into_iter().collect();
        let positioned = fired.iter().filter_map(|row| Some((*seqs.get(&row.alert_seq)?, *row)));
        Ok(positioned.collect())
    }

    async fn insert_history<'a>(&mut self, fired: &[&'a FiringRow]) -> Result<Vec<PositionedFiring<'a>>, StoreError> {
        if self.connection.is_pg() {
            return self.insert_history_returning(fired).await;
        }
        let last = "SELECT seq FROM sqlite_sequence WHERE name = 'history'";
        let last = fetch!(self, fetch_optional(i64,), last).map_or(0, |(seq,)| seq);
        let positioned: Vec<PositionedFiring<'a>> = (last + 1..).zip(fired.iter().copied()).collect();
        if let Either::Lite(connection) = &mut self.connection {
            let inserted = connection.execute_each(INSERT_ENTRY, &positioned, |query, (seq, row)| {
                query
                    .bind(seq)
                    .bind(row.alert_seq)
                    .bind(row.status.name())
                    .bind(row.at)
                    .bind(row.price)
                    .bind(row.details.as_str())
                    .bind(row.parent_seq)
            });
            self.track_write(inserted)?;
        }
        Ok(positioned)
    }
}
