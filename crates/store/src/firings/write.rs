//! Writes firings: alerts by compare-and-set, then history, events, messages and deliveries of the accepted firings.
//!
//! A few statements write many rows each. PostgreSQL returns the changed alerts and the assigned positions from the
//! writing statements. On SQLite, returning a row costs as much as writing it, and no other connection writes during
//! the transaction. So on SQLite the few *changed* alerts are queried first, and positions are counted up from the
//! last one.

use std::collections::{HashMap, HashSet};

use super::commit::FiringChunk;
use super::prepare::FiringRow;
use crate::bulk::{Statement, fetch_many, write_many, write_many_returning};
use crate::queue::create::FiredEvent;
use crate::unit_of_work::fetch;
use crate::{StoreError, UnitOfWork};

macro_rules! fire_alerts {
    ($condition:literal, $returning:literal) => {
        Statement {
            before: "WITH fired (seq, revision, next_revision, status, at, lifecycle) AS (VALUES ",
            columns: 6,
            after: concat!(
                ") UPDATE alerts
                 SET status = fired.status, revision = fired.next_revision, triggered_at = fired.at,
                 lifecycle = COALESCE(fired.lifecycle, alerts.lifecycle)
                 FROM fired WHERE alerts.seq = fired.seq AND ",
                $condition,
                $returning
            ),
        }
    };
}

macro_rules! fire_if_unchanged {
    ($returning:literal) => {
        fire_alerts!(
            "alerts.revision = fired.revision AND alerts.status = 'active' AND alerts.deleted_at IS NULL",
            $returning
        )
    };
}

/// Fires alerts that have not changed since the evaluation.
const FIRE: Statement = fire_if_unchanged!("");

/// Like [`FIRE`], and returns the fired alerts.
const FIRE_RETURNING: Statement = fire_if_unchanged!(" RETURNING alerts.seq");

/// Like [`FIRE_RETURNING`] without compare-and-set, see [`StoreOptions`](crate::StoreOptions).
const FIRE_UNCONDITIONALLY: Statement = fire_alerts!("fired.revision IS NOT NULL", " RETURNING alerts.seq");

/// Alerts that have changed since the evaluation.
const CHANGED_ALERTS: Statement = Statement {
    before: "WITH fired (seq, revision) AS (VALUES ",
    columns: 2,
    after: ") SELECT fired.seq FROM fired WHERE NOT EXISTS
              (SELECT 1 FROM alerts WHERE alerts.seq = fired.seq AND alerts.revision = fired.revision
               AND alerts.status = 'active' AND alerts.deleted_at IS NULL)",
};

/// Inserts the history of firings and returns the assigned positions.
const INSERT_HISTORY_RETURNING: Statement = Statement {
    before: "INSERT INTO history (alert_seq, action, previous_status, new_status, at, price, details, parent_seq)
             SELECT column1, 'triggered', 'active', column2, column3, column4, column5, column6 FROM (VALUES ",
    columns: 6,
    after: ") AS fired RETURNING alert_seq, seq",
};

/// Inserts the history of firings at given positions.
const INSERT_HISTORY_WITH_SEQ: Statement = Statement {
    before: "INSERT INTO history (seq, alert_seq, action, previous_status, new_status, at, price, details, parent_seq)
             SELECT column1, column2, 'triggered', 'active', column3, column4, column5, column6, column7 FROM (VALUES ",
    columns: 7,
    after: ") AS fired",
};

const INSERT_EVENTS: Statement = Statement {
    before: "INSERT INTO events (seq, id, account_id, alert_seq, at, data) VALUES ",
    columns: 6,
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
        if unit.connection.is_pg() {
            return self.fire_returning(unit, FIRE_RETURNING).await;
        }
        let changed = fetch_many!(unit, (i64,), CHANGED_ALERTS, &self.rows, |query, row| query
            .bind(row.alert_seq)
            .bind(row.evaluated_revision));
        let changed: HashSet<i64> = changed.into_iter().map(|(seq,)| seq).collect();
        let rows: Vec<&FiringRow> = self
            .rows
            .iter()
            .filter(|row| !changed.contains(&row.alert_seq))
            .collect();
        let updated = write_many!(unit, FIRE, &rows, |query, row| {
            query
                .bind(row.alert_seq)
                .bind(row.evaluated_revision)
                .bind(row.next_revision)
                .bind(row.status.name())
                .bind(row.at)
                .bind(row.lifecycle.as_deref())
        });
        if u64::try_from(rows.len()).ok() == Some(updated) {
            Ok(rows)
        } else {
            Err(StoreError::Aborted(format!(
                "{updated} of {} alerts were updated",
                rows.len()
            )))
        }
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

    /// Writes history, events, messages and deliveries of accepted firings.
    pub(super) async fn record_firings(&self, unit: &mut UnitOfWork, fired: &[&FiringRow]) -> Result<(), StoreError> {
        if fired.is_empty() {
            return Ok(());
        }
        for row in fired {
            if let Some(account) = row.account {
                unit.count_changed(account, row.kind, row.status);
            }
        }
        let positioned = if unit.connection.is_pg() {
            unit.insert_history_returning(fired).await?
        } else {
            unit.insert_history_with_seq(fired).await?
        };
        write_many!(unit, INSERT_EVENTS, &positioned, |query, event| {
            let (seq, row) = event;
            query
                .bind(seq)
                .bind(row.event)
                .bind(row.account)
                .bind(row.alert_seq)
                .bind(row.at)
                .bind(row.data.as_str())
        });
        let events: Vec<FiredEvent<'_>> = positioned.iter().map(|(seq, row)| row.as_event(*seq)).collect();
        unit.create_messages(&events).await?;
        unit.create_deliveries(&events).await
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

    async fn insert_history_with_seq<'a>(
        &mut self,
        fired: &[&'a FiringRow],
    ) -> Result<Vec<PositionedFiring<'a>>, StoreError> {
        let last = "SELECT seq FROM sqlite_sequence WHERE name = 'history'";
        let last = fetch!(self, fetch_optional(i64,), last).map_or(0, |(seq,)| seq);
        let positioned: Vec<PositionedFiring<'a>> = (last + 1..).zip(fired.iter().copied()).collect();
        write_many!(self, INSERT_HISTORY_WITH_SEQ, &positioned, |query, entry| {
            let (seq, row) = entry;
            query
                .bind(seq)
                .bind(row.alert_seq)
                .bind(row.status.name())
                .bind(row.at)
                .bind(row.price)
                .bind(row.details.as_str())
                .bind(row.parent_seq)
        });
        Ok(positioned)
    }
}
