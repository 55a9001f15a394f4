//! What an evaluation brings about, to be committed.

use alerts::condition::Side;
use alerts::{AlertId, Revision};
use jiff::Timestamp;
use jiff::civil::Date;
use market::{Decimal, Price, Symbol};

use super::{EventId, LatestQuote, StoredAlert};

/// An alert that fired, as the engine judged it.
#[derive(Clone, PartialEq, Debug)]
pub struct Firing {
    /// The alert.
    pub alert: AlertId,
    /// The revision that was judged. The firing is taken only if the alert still is active and of this revision.
    pub revision: Revision,
    /// The instant of the observation; of one that was missed, the instant it was judged.
    pub at: Timestamp,
    /// Of a firing by an observation that was missed: the instant of that observation. Then it is late.
    pub crossed_at: Option<Timestamp>,
    /// The stock's price, as far as it is known.
    pub price: Option<Price>,
    /// What was measured.
    pub metric: Option<Decimal>,
    /// Why, as a sentence.
    pub reason: String,
    /// The id of the event that it makes.
    pub event: EventId,
}

/// An RSI alert whose side was decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SideDecided {
    /// The alert.
    pub alert: AlertId,
    /// The revision that was judged; it stays.
    pub revision: Revision,
    /// The side.
    pub side: Side,
}

/// All that one evaluation brought about: committed whole, or in several transactions if it is large; what it
/// observed comes with the last, so that a crash in between leads to a new judging rather than to a silence.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EvaluationCommit {
    /// What fired.
    pub firings: Vec<Firing>,
    /// Which sides were decided.
    pub sides: Vec<SideDecided>,
    /// What was observed last, of each stock that was observed.
    pub quotes: Vec<LatestQuote>,
    /// Stored observations that `quotes` replace though they are dated later.
    pub superseded: Vec<SupersededQuote>,
    /// The instant up to which the clock was processed.
    pub clock: Option<Timestamp>,
}

/// A stock's stored observation that is dated after the present.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SupersededQuote {
    /// The stock.
    pub symbol: Symbol,
    /// The date of a bar that this observation ended too early: the session is still going on.
    pub unfinished_bar: Option<Date>,
}

/// What became of one firing.
#[derive(Clone, PartialEq, Debug)]
pub enum Settled {
    /// It is on disk, with its history entry and its event: the alert as it is now.
    Fired(Box<StoredAlert>),
    /// Not taken: the alert has changed since it was judged. This is what it is now (`None`: deleted), to be told to
    /// the engine.
    Stale(Option<Box<StoredAlert>>),
}

/// What became of the firings, in their order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EvaluationOutcome {
    /// One for each firing.
    pub firings: Vec<Settled>,
}

/// Makes the `data` of a firing's event, as JSON text, of the alert as it is after the firing.
pub type Compose = dyn Fn(&StoredAlert, &Firing) -> String + Send + Sync;
