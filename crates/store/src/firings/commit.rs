//! One chunk of an evaluation as a unit of work. How its firings are written is in `write.rs`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use alerts::AlertId;
use jiff::Timestamp;
use tokio::sync::Notify;

use super::prepare::FiringRow;
use crate::alerts::side_name;
use crate::bulk::{Statement, execute_many};
use crate::model::{LatestQuote, SideDecided, StoredAlert, SupersededQuote};
use crate::unit::write;
use crate::{Abort, BoxFuture, StoreError, Unit, Work};

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
    pub(super) superseded: Vec<SupersededQuote>,
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

    async fn observe(&self, unit: &mut Unit) -> Result<(), StoreError> {
        let Observed {
            sides,
            quotes,
            superseded,
            clock,
        } = &self.observed;
        let decided = execute_many!(&mut unit.link, DECIDE_SIDES, sides, |query, decided| {
            query
                .bind(decided.alert.0)
                .bind(i64::from(decided.revision.0))
                .bind(side_name(decided.side))
        });
        unit.noted_rows(decided)?;
        unit.remove_superseded(superseded).await?;
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
