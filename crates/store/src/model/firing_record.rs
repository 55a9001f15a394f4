//! Firings as their owners read them.

use alerts::AlertId;
use alerts::transition::HistoryStatus;
use jiff::Timestamp;
use market::Symbol;
use serde_json::{Map, Value};

use super::EventId;

/// A stored firing.
#[derive(Clone, PartialEq, Debug)]
pub struct FiringRecord {
    /// Id of the firing and of its event.
    pub id: EventId,
    /// The alert that fired; the alert over many stocks if it is one of its members.
    pub alert: AlertId,
    /// The `data` of its event.
    pub data: Map<String, Value>,
    /// Its times.
    pub timeline: FiringTimeline,
    /// Its acknowledgement, if there is one.
    pub acknowledged: Option<Acknowledgement>,
}

/// The times of a firing, in their order. Firings of former versions only have `received_at`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FiringTimeline {
    /// When the quote was made. `None` also for a firing without a price.
    pub quoted_at: Option<Timestamp>,
    /// When this service received what made it fire.
    pub received_at: Timestamp,
    /// When it was judged.
    pub judged_at: Option<Timestamp>,
    /// When its transaction wrote it.
    pub committed_at: Option<Timestamp>,
}

/// The acknowledgement of a firing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Acknowledgement {
    /// When.
    pub at: Timestamp,
    /// Email address of the account.
    pub by: String,
    /// `api`, or the type of the channel.
    pub via: String,
}

/// The firing that an acknowledgement was asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AcknowledgedFiring {
    /// The alert that fired; a member of an alert over many stocks itself.
    pub alert: AlertId,
    /// The stock.
    pub symbol: Symbol,
    /// The status of the alert now.
    pub status: HistoryStatus,
    /// Whether this acknowledged it; `false` if it had been acknowledged before.
    pub is_first: bool,
}

/// A filter of a list of firings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FiringFilter {
    /// Only those of an alert, or of the members of one over many stocks.
    pub alert: Option<AlertId>,
    /// Only those that were committed at this instant or later.
    pub since: Option<Timestamp>,
    /// Only those without an acknowledgement.
    pub unacknowledged: bool,
}
