//! One chunk of an evaluation as a transaction. See `write.rs` for how firings are written.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use alerts::AlertId;
use jiff::Timestamp;

use super::prepare::FiringRow;
use crate::alerts::side_name;
use crate::bulk::{Statement, write_many};
use crate::model::{
    Fence, FiringComposer, LatestExtendedPrice, LatestQuote, LifecycleUpdate, RsiSideUpdate, Shard, ShardProgress,
    StoredAlert, SupersededQuote,
};
use crate::unit_of_work::write_rows;
use crate::{StoreError, UnitOfWork};

// Lists do not show the side, so this does not raise the account's revision.
const DECIDE_SIDES: Statement = Statement {
    before: "WITH decided (id, revision, side) AS (VALUES ",
    columns: 3,
    after: concat!(
        ") UPDATE alerts SET rsi_side = decided.side
            FROM decided
            WHERE alerts.id = decided.id AND alerts.revision = decided.revision AND ",
        is_unchanged!()
    ),
};

/// Everything of an evaluation but its firings.
#[derive(Debug, Default)]
pub(super) struct Observations {
    pub(super) sides: Vec<RsiSideUpdate>,
    pub(super) lifecycles: Vec<LifecycleUpdate>,
    pub(super) quotes: Vec<LatestQuote>,
    pub(super) superseded: Vec<SupersededQuote>,
    pub(super) extended_prices: Vec<LatestExtendedPrice>,
    pub(super) clock: Option<Timestamp>,
    pub(super) progress: Vec<ShardProgress>,
}

impl Observations {
    pub(super) fn is_empty(&self) -> bool {
        self.sides.is_empty()
            && self.lifecycles.is_empty()
            && self.quotes.is_empty()
            && self.superseded.is_empty()
            && self.extended_prices.is_empty()
            && self.clock.is_none()
            && self.progress.is_empty()
    }
}

/// A chunk of firings with observations if it is the only one, or observations alone.
pub(super) struct FiringChunk {
    pub(super) rows: Vec<FiringRow>,
    /// Firings that are rejected whatever the alert's state is now.
    pub(super) stale: Vec<(usize, AlertId)>,
    pub(super) observations: Observations,
    pub(super) uses_compare_and_set: bool,
    /// The shards that must be owned for the chunk to be written.
    pub(super) fence: Option<Arc<Fence>>,
    pub(super) checks_fence: bool,
    /// Knows the time of the commit.
    pub(super) composer: Arc<dyn FiringComposer>,
}

impl fmt::Debug for FiringChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FiringChunk")
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

/// The result of a chunk.
#[derive(Debug, Default)]
pub(super) struct ChunkOutcome {
    accepted: HashSet<usize>,
    stale: Vec<(usize, AlertId)>,
    /// The current alerts whose firings were rejected. Deleted alerts are missing.
    current: HashMap<AlertId, StoredAlert>,
    /// The shards of the fence that are lost. Then nothing was written.
    pub(super) lost_shards: Vec<Shard>,
}

impl ChunkOutcome {
    /// Whether the firing at an index was accepted.
    pub(super) fn is_accepted(&self, index: usize) -> bool {
        self.accepted.contains(&index)
    }

    /// The current alert of a rejected firing. `None`: it is deleted.
    pub(super) fn current(&self, id: &AlertId) -> Option<&StoredAlert> {
        self.current.get(id)
    }

    /// Takes the firings that were stale before the transaction.
    pub(super) fn take_stale(&mut self) -> Vec<(usize, AlertId)> {
        std::mem::take(&mut self.stale)
    }
}

impl FiringChunk {
    /// Returns the shards of the fence that are lost. The others stay owned until the end of the transaction.
    async fn lost_shards(&self, unit: &mut UnitOfWork) -> Result<Vec<Shard>, StoreError> {
        match self.fence.as_deref().filter(|_| self.checks_fence) {
            Some(fence) => unit.lock_fence(fence, self.observations.clock.is_some()).await,
            None => Ok(Vec::new()),
        }
    }

    async fn record_observations(&self, unit: &mut UnitOfWork) -> Result<(), StoreError> {
        let Observations {
            sides,
            lifecycles,
            quotes,
            superseded,
            extended_prices,
            clock,
            progress,
        } = &self.observations;
        let fence = self.fence.as_deref();
        write_many!(unit, DECIDE_SIDES, sides, |query, decided| {
            query
                .bind(decided.alert.0)
                .bind(i64::from(decided.revision.0))
                .bind(side_name(decided.side))
        });
        unit.write_lifecycles(lifecycles).await?;
        unit.remove_superseded(superseded).await?;
        unit.record_quotes(quotes).await?;
        unit.record_extended_prices(extended_prices).await?;
        if fence.is_some() {
            unit.record_shard_progress(progress).await?;
        }
        match (clock, fence) {
            (Some(clock), Some(fence)) => unit.mark_clock_of_shards(fence, *clock).await?,
            (Some(clock), None) => {
                write_rows!(
                    unit,
                    "INSERT INTO marks (name, at) VALUES ('clock', $1)
                     ON CONFLICT (name) DO UPDATE SET at = excluded.at WHERE excluded.at > marks.at",
                    clock.as_microsecond(),
                );
            }
            (None, _) => {}
        }
        Ok(())
    }

    /// Runs the transaction of the chunk.
    pub(super) async fn run(&self, unit: &mut UnitOfWork) -> Result<ChunkOutcome, StoreError> {
        let lost_shards = self.lost_shards(unit).await?;
        if !lost_shards.is_empty() {
            return Ok(ChunkOutcome {
                lost_shards,
                ..ChunkOutcome::default()
            });
        }
        let fired = self.fire(unit).await?;
        self.record_firings(unit, &fired).await?;
        self.record_observations(unit).await?;
        let accepted: HashSet<usize> = fired.into_iter().map(|row| row.index).collect();
        let lost = self.rows.iter().filter(|row| !accepted.contains(&row.index));
        let mut rejected: Vec<AlertId> = lost.map(|row| row.alert).collect();
        rejected.extend(self.stale.iter().map(|(_, id)| *id));
        let current = unit.alerts_by_id(&rejected).await?;
        Ok(ChunkOutcome {
            accepted,
            stale: self.stale.clone(),
            current: current.into_iter().map(|alert| (alert.alert.id, alert)).collect(),
            lost_shards,
        })
    }
}
