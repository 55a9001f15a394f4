//! One chunk of an evaluation as a unit of work.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use alerts::AlertId;
use jiff::Timestamp;
use tokio::sync::Notify;

use super::prepare::FiringRow;
use crate::alerts::side_name;
use crate::bulk::{Statement, execute_many, query_many};
use crate::deliveries::make::Fired;
use crate::model::{LatestQuote, SideDecided, StoredAlert};
use crate::unit::write;
use crate::{Abort, BoxFuture, StoreError, Unit, Work};

/// Fires alerts that still are what was judged, and says which.
const FIRE: Statement = Statement {
    before: "WITH fired (seq, revision, next_revision, status, at) AS (VALUES ",
    columns: 5,
    after: ") UPDATE alerts
            SET status = fired.status, revision = fired.next_revision, triggered_at = fired.at
            FROM fired
            WHERE alerts.seq = fired.seq AND alerts.revision = fired.revision AND alerts.status = 'active'
            AND alerts.deleted_at IS NULL
            RETURNING alerts.seq",
};

/// The same without looking, see [`Options`](crate::Options).
const FIRE_WITHOUT_LOOKING: Statement = Statement {
    before: FIRE.before,
    columns: 5,
    after: ") UPDATE alerts
            SET status = fired.status, revision = fired.next_revision, triggered_at = fired.at
            FROM fired
            WHERE alerts.seq = fired.seq AND fired.revision IS NOT NULL
            RETURNING alerts.seq",
};

/// Writes the history of firings and says which place each has got.
const RECORD: Statement = Statement {
    before: "INSERT INTO history (alert_seq, action, previous_status, new_status, at, price, details)
             SELECT column1, 'triggered', 'active', column2, column3, column4, column5 FROM (VALUES ",
    columns: 5,
    after: ") AS fired RETURNING alert_seq, seq",
};

const NOTE_EVENTS: Statement = Statement {
    before: "INSERT INTO events (seq, id, account_id, alert_seq, at, data) VALUES ",
    columns: 6,
    after: "",
};

const DECIDE_SIDES: Statement = Statement {
    before: "WITH decided (id, revision, side) AS (VALUES ",
    columns: 3,
    after: ") UPDATE alerts SET rsi_side = decided.side
            FROM decided
            WHERE alerts.id = decided.id AND alerts.revision = decided.revision AND alerts.status = 'active'
            AND alerts.deleted_at IS NULL",
};

/// What was observed and decided beside firings.
#[derive(Debug, Default)]
pub(super) struct Observed {
    pub(super) sides: Vec<SideDecided>,
    pub(super) quotes: Vec<LatestQuote>,
    pub(super) clock: Option<Timestamp>,
}

impl Observed {
    pub(super) fn is_empty(&self) -> bool {
        self.sides.is_empty() && self.quotes.is_empty() && self.clock.is_none()
    }
}

/// A chunk of firings, and with the last one what was observed.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) rows: Vec<FiringRow>,
    /// Firings that are not taken, whatever is found now.
    pub(super) stale: Vec<(usize, AlertId)>,
    pub(super) observed: Observed,
    pub(super) compares: bool,
    /// Rings when deliveries were made.
    pub(super) bell: Option<Arc<Notify>>,
}

/// What became of a chunk.
#[derive(Debug)]
pub(super) struct Outcome {
    taken: HashSet<usize>,
    has_deliveries: bool,
    stale: Vec<(usize, AlertId)>,
    /// Those that were not taken, as they are; deleted ones are missing.
    current: HashMap<AlertId, StoredAlert>,
}

impl Outcome {
    /// Whether the firing at that place was taken.
    pub(super) fn is_taken(&self, place: usize) -> bool {
        self.taken.contains(&place)
    }

    /// What an alert is now whose firing was not taken; `None`: it is deleted.
    pub(super) fn current(&self, id: &AlertId) -> Option<&StoredAlert> {
        self.current.get(id)
    }

    /// The firings that were stale before they came here.
    pub(super) fn stale_places(&mut self) -> Vec<(usize, AlertId)> {
        std::mem::take(&mut self.stale)
    }
}

impl Chunk {
    pub(super) const fn of_observed(observed: Observed) -> Self {
        Self {
            rows: Vec::new(),
            stale: Vec::new(),
            observed,
            compares: true,
            bell: None,
        }
    }

    /// Fires what can be fired and gives back what was.
    async fn fire(&self, unit: &mut Unit) -> Result<Vec<&FiringRow>, StoreError> {
        let statement = if self.compares { FIRE } else { FIRE_WITHOUT_LOOKING };
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

    /// Writes history, events and deliveries of what was fired. Answers whether there are deliveries.
    async fn record(&self, unit: &mut Unit, fired: &[&FiringRow]) -> Result<bool, StoreError> {
        if fired.is_empty() {
            return Ok(false);
        }
        unit.announce_history().await?;
        let recorded = query_many!((i64, i64), &mut unit.link, RECORD, fired, |query, row| {
            query
                .bind(row.alert_seq)
                .bind(row.status)
                .bind(row.at)
                .bind(row.price)
                .bind(row.details.as_str())
        });
        let places: HashMap<i64, i64> = unit.noted_writing(recorded)?.into_iter().collect();
        let events: Vec<(i64, &FiringRow)> = fired
            .iter()
            .filter_map(|row| Some((*places.get(&row.alert_seq)?, *row)))
            .collect();
        let noted = execute_many!(&mut unit.link, NOTE_EVENTS, &events, |query, event| {
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
        let fired: Vec<Fired> = events.iter().map(|(seq, row)| row.as_fired(*seq)).collect();
        unit.make_deliveries(&fired).await
    }

    async fn observe(&self, unit: &mut Unit) -> Result<(), StoreError> {
        let Observed { sides, quotes, clock } = &self.observed;
        let decided = execute_many!(&mut unit.link, DECIDE_SIDES, sides, |query, decided| {
            query
                .bind(decided.alert.0)
                .bind(i64::from(decided.revision.0))
                .bind(side_name(decided.side))
        });
        unit.noted_rows(decided)?;
        unit.record_quotes(quotes).await?;
        if let Some(clock) = clock {
            write!(
                unit,
                "INSERT INTO marks (name, at) VALUES ('clock', $1)
                 ON CONFLICT (name) DO UPDATE SET at = excluded.at WHERE excluded.at > marks.at",
                clock.as_microsecond(),
            );
        }
        Ok(())
    }
}

impl Work for Chunk {
    type Done = Outcome;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<Outcome, Abort<Self::Refusal>>> {
        Box::pin(async move {
            let fired = self.fire(unit).await?;
            let has_deliveries = self.record(unit, &fired).await?;
            self.observe(unit).await?;
            let taken: HashSet<usize> = fired.into_iter().map(|row| row.place).collect();
            let lost = self.rows.iter().filter(|row| !taken.contains(&row.place));
            let mut not_taken: Vec<AlertId> = lost.map(|row| row.alert).collect();
            not_taken.extend(self.stale.iter().map(|(_, id)| *id));
            let current = unit.alerts_by_id(&not_taken).await?;
            Ok(Outcome {
                taken,
                has_deliveries,
                stale: self.stale.clone(),
                current: current.into_iter().map(|alert| (alert.alert.id, alert)).collect(),
            })
        })
    }

    fn committed(&self, outcome: &Outcome) {
        if let Some(bell) = self.bell.as_ref().filter(|_| outcome.has_deliveries) {
            bell.notify_one();
        }
    }
}
