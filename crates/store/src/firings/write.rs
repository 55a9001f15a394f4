//! Writing firings: alerts by compare-and-set, then the history, the events, the messages and the deliveries of those that were taken.
//!
//! A few statements of many rows each. Which alerts were taken, and which places their entries got, PostgreSQL says with the
//! statements that write. Rows that come back from SQLite cost as much as rows that are written, and within a transaction
//! nobody else writes there; so there the few that are *not* as they were judged are asked for beforehand, and the places
//! are counted on from the last one.

use std::collections::{HashMap, HashSet};

use super::commit::Chunk;
use super::prepare::FiringRow;
use crate::bulk::{Statement, execute_many, query_many};
use crate::deliveries::make::Fired;
use crate::messages::make::Told;
use crate::unit::ask;
use crate::{StoreError, Unit};

macro_rules! fire {
    ($judged:literal, $returning:literal) => {
        Statement {
            before: "WITH fired (seq, revision, next_revision, status, at) AS (VALUES ",
            columns: 5,
            after: concat!(
                ") UPDATE alerts
                 SET status = fired.status, revision = fired.next_revision, triggered_at = fired.at
                 FROM fired WHERE alerts.seq = fired.seq AND ",
                $judged,
                $returning
            ),
        }
    };
}

macro_rules! as_judged {
    ($returning:literal) => {
        fire!(
            "alerts.revision = fired.revision AND alerts.status = 'active' AND alerts.deleted_at IS NULL",
            $returning
        )
    };
}

/// Fires alerts that still are what was judged.
const FIRE: Statement = as_judged!("");

/// The same, and says which.
const FIRE_AND_TELL: Statement = as_judged!(" RETURNING alerts.seq");

/// The same without looking, see [`Options`](crate::Options).
const FIRE_WITHOUT_LOOKING: Statement = fire!("fired.revision IS NOT NULL", " RETURNING alerts.seq");

/// Which alerts are not what was judged any more.
const LATE: Statement = Statement {
    before: "WITH fired (seq, revision) AS (VALUES ",
    columns: 2,
    after: ") SELECT fired.seq FROM fired WHERE NOT EXISTS
              (SELECT 1 FROM alerts WHERE alerts.seq = fired.seq AND alerts.revision = fired.revision
               AND alerts.status = 'active' AND alerts.deleted_at IS NULL)",
};

/// Writes the history of firings and says which place each has got.
const RECORD_AND_TELL: Statement = Statement {
    before: "INSERT INTO history (alert_seq, action, previous_status, new_status, at, price, details)
             SELECT column1, 'triggered', 'active', column2, column3, column4, column5 FROM (VALUES ",
    columns: 5,
    after: ") AS fired RETURNING alert_seq, seq",
};

/// Writes the history of firings, each at its place.
const RECORD: Statement = Statement {
    before: "INSERT INTO history (seq, alert_seq, action, previous_status, new_status, at, price, details)
             SELECT column1, column2, 'triggered', 'active', column3, column4, column5, column6 FROM (VALUES ",
    columns: 6,
    after: ") AS fired",
};

const NOTE_EVENTS: Statement = Statement {
    before: "INSERT INTO events (seq, id, account_id, alert_seq, at, data) VALUES ",
    columns: 6,
    after: "",
};

/// A firing that was taken, with the place of its history entry.
type Placed<'a> = (i64, &'a FiringRow);

impl Chunk {
    /// Fires what can be fired and gives back what was.
    pub(super) async fn fire(&self, unit: &mut Unit) -> Result<Vec<&FiringRow>, StoreError> {
        if !self.compares {
            return self.fire_and_tell(unit, FIRE_WITHOUT_LOOKING).await;
        }
        if unit.link.is_pg() {
            return self.fire_and_tell(unit, FIRE_AND_TELL).await;
        }
        let late = query_many!((i64,), &mut unit.link, LATE, &self.rows, |query, row| query
            .bind(row.alert_seq)
            .bind(row.judged_revision));
        let late: HashSet<i64> = unit.noted(late)?.into_iter().map(|(seq,)| seq).collect();
        let rows: Vec<&FiringRow> = self.rows.iter().filter(|row| !late.contains(&row.alert_seq)).collect();
        let updated = execute_many!(&mut unit.link, FIRE, &rows, |query, row| {
            query
                .bind(row.alert_seq)
                .bind(row.judged_revision)
                .bind(row.next_revision)
                .bind(row.status)
                .bind(row.at)
        });
        let updated = unit.noted_rows(updated)?;
        if u64::try_from(rows.len()).ok() == Some(updated) {
            Ok(rows)
        } else {
            Err(StoreError::Spoiled(format!(
                "of {} alerts {updated} have fired",
                rows.len()
            )))
        }
    }

    /// Fires with a statement that says what it has fired.
    async fn fire_and_tell(&self, unit: &mut Unit, statement: Statement) -> Result<Vec<&FiringRow>, StoreError> {
        let updated = query_many!((i64,), &mut unit.link, statement, &self.rows, |query, row| {
            query
                .bind(row.alert_seq)
                .bind(row.judged_revision)
                .bind(row.next_revision)
                .bind(row.status)
                .bind(row.at)
        });
        let taken: HashSet<i64> = unit.noted_writing(updated)?.into_iter().map(|(seq,)| seq).collect();
        Ok(self.rows.iter().filter(|row| taken.contains(&row.alert_seq)).collect())
    }

    /// Writes history, events, messages and deliveries of what was fired. Answers whether there are deliveries.
    pub(super) async fn record(&self, unit: &mut Unit, fired: &[&FiringRow]) -> Result<bool, StoreError> {
        if fired.is_empty() {
            return Ok(false);
        }
        let placed = if unit.link.is_pg() {
            unit.write_history_and_tell(fired).await?
        } else {
            unit.write_history_in_places(fired).await?
        };
        let noted = execute_many!(&mut unit.link, NOTE_EVENTS, &placed, |query, event| {
            let (seq, row) = event;
            query
                .bind(seq)
                .bind(row.event)
                .bind(row.account)
                .bind(row.alert_seq)
                .bind(row.at)
                .bind(row.data.as_str())
        });
        unit.noted_rows(noted)?;
        let told: Vec<Told<'_>> = placed.iter().map(|(seq, row)| row.as_told(*seq)).collect();
        unit.make_messages(&told).await?;
        let fired: Vec<Fired> = placed.iter().map(|(seq, row)| row.as_fired(*seq)).collect();
        unit.make_deliveries(&fired).await
    }
}

impl Unit {
    async fn write_history_and_tell<'a>(&mut self, fired: &[&'a FiringRow]) -> Result<Vec<Placed<'a>>, StoreError> {
        self.announce_history().await?;
        let recorded = query_many!((i64, i64), &mut self.link, RECORD_AND_TELL, fired, |query, row| {
            query
                .bind(row.alert_seq)
                .bind(row.status)
                .bind(row.at)
                .bind(row.price)
                .bind(row.details.as_str())
        });
        let places: HashMap<i64, i64> = self.noted_writing(recorded)?.into_iter().collect();
        let placed = fired
            .iter()
            .filter_map(|row| Some((*places.get(&row.alert_seq)?, *row)));
        Ok(placed.collect())
    }

    async fn write_history_in_places<'a>(&mut self, fired: &[&'a FiringRow]) -> Result<Vec<Placed<'a>>, StoreError> {
        let last = "SELECT seq FROM sqlite_sequence WHERE name = 'history'";
        let last = ask!(self, fetch_optional(i64,), last).map_or(0, |(seq,)| seq);
        let placed: Vec<Placed<'a>> = (last + 1..).zip(fired.iter().copied()).collect();
        let recorded = execute_many!(&mut self.link, RECORD, &placed, |query, entry| {
            let (seq, row) = entry;
            query
                .bind(seq)
                .bind(row.alert_seq)
                .bind(row.status)
                .bind(row.at)
                .bind(row.price)
                .bind(row.details.as_str())
        });
        self.noted_rows(recorded)?;
        Ok(placed)
    }
}
