//! Results of an evaluation, to be committed.

use alerts::condition::Side;
use alerts::engine::ExplainedTerm;
use alerts::lifecycle::Lifecycle;
use alerts::{AlertId, Revision};
use jiff::Timestamp;
use jiff::civil::Date;
use market::{Decimal, Price, Symbol};

use super::{EventId, Fence, LatestExtendedPrice, LatestQuote, Shard, ShardProgress, StoredAlert};

/// An alert that fired.
#[derive(Clone, PartialEq, Debug)]
pub struct Firing {
    /// The alert.
    pub alert: AlertId,
    /// The evaluated revision. The firing is accepted only if the alert is still active and has this revision.
    pub revision: Revision,
    /// Time of the observation. For a missed observation: time of the evaluation.
    pub at: Timestamp,
    /// For a late firing: time of the missed observation.
    pub crossed_at: Option<Timestamp>,
    /// The stock's price, if known.
    pub price: Option<Price>,
    /// The measured value.
    pub metric: Option<Decimal>,
    /// The reason as a sentence.
    pub reason: String,
    /// The comparisons of an expression; empty for other conditions.
    pub terms: Vec<ExplainedTerm>,
    /// The state of its life cycle after the firing, if the alert has one.
    pub lifecycle: Option<Box<Lifecycle>>,
    /// When it was judged.
    pub judged_at: Option<Timestamp>,
    /// The id of the event that it creates. The time of the commit replaces its first bits, see [`EventId::made_at`].
    pub event: EventId,
}

/// An RSI alert whose side was determined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RsiSideUpdate {
    /// The alert.
    pub alert: AlertId,
    /// The evaluated revision. It does not change.
    pub revision: Revision,
    /// The side.
    pub side: Side,
}

/// A new state of an alert's life cycle without a firing.
#[derive(Clone, PartialEq, Debug)]
pub struct LifecycleUpdate {
    /// The alert.
    pub alert: AlertId,
    /// The evaluated revision. It does not change.
    pub revision: Revision,
    /// The state.
    pub state: Box<Lifecycle>,
}

/// All results of one evaluation. A large evaluation is committed in several transactions. The observations come
/// with the last one, so that after a crash in between the firings are evaluated again rather than lost.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EvaluationCommit {
    /// Firings.
    pub firings: Vec<Firing>,
    /// RSI sides that were determined.
    pub sides: Vec<RsiSideUpdate>,
    /// Changed states of life cycles.
    pub lifecycles: Vec<LifecycleUpdate>,
    /// Latest quote of each observed stock.
    pub quotes: Vec<LatestQuote>,
    /// Stored quotes with a later date that `quotes` replace.
    pub superseded: Vec<SupersededQuote>,
    /// Latest price in extended hours of each stock that was observed in them.
    pub extended_prices: Vec<LatestExtendedPrice>,
    /// The instant up to which the clock was processed.
    pub clock: Option<Timestamp>,
    /// In a cluster: the last messages whose results these are, each shard and origin once. Without a fence they are not written.
    pub progress: Vec<ShardProgress>,
    /// In a cluster: the shards that must be owned for anything to be written. The clock is then that of these shards. `None`: there is
    /// one process, and everything is written.
    pub fence: Option<Fence>,
}

/// A stored quote that is dated in the future.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SupersededQuote {
    /// The stock.
    pub symbol: Symbol,
    /// Date of a bar that this quote ended too early: the session is still open.
    pub unfinished_bar: Option<Date>,
}

/// The result of one firing.
#[derive(Clone, PartialEq, Debug)]
pub enum FiringResult {
    /// Accepted and on disk, with history entry and event. Contains the updated alert.
    Fired(Box<StoredAlert>),
    /// Rejected: the alert has changed since the evaluation. Contains the current alert for the engine (`None`:
    /// deleted).
    Stale(Option<Box<StoredAlert>>),
    /// Not written: another node owns a shard of the fence by now.
    ShardLost,
}

/// The results of all firings, in order, and those of the fence.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EvaluationOutcome {
    /// One result per firing.
    pub firings: Vec<FiringResult>,
    /// The shards of the fence that another node owns by now, in order. If there are any, nothing was written but firings that have a
    /// result. Of many firings, or sides, the first transactions may have been written before.
    pub lost_shards: Vec<Shard>,
}

/// Composes what is stored of a firing.
pub trait FiringComposer: Send + Sync {
    /// Returns the `data` of its event as JSON text, from the alert as it is after the firing.
    fn data(&self, alert: &StoredAlert, firing: &Firing) -> String;

    /// Returns when the quote was made that made it fire, if that is known.
    fn quoted_at(&self, _alert: &StoredAlert, _firing: &Firing) -> Option<Timestamp> {
        None
    }

    /// Returns the current time, for the time of the commit and the ids of events. `None`: neither has a time.
    fn now(&self) -> Option<Timestamp> {
        None
    }
}

impl<F: Fn(&StoredAlert, &Firing) -> String + Send + Sync> FiringComposer for F {
    fn data(&self, alert: &StoredAlert, firing: &Firing) -> String {
        self(alert, firing)
    }
}
