//! The history of alerts.

use alerts::AlertId;
use alerts::transition::StatusChange;
use jiff::Timestamp;
use market::{Price, Symbol};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{AccountId, AlertOwner};

/// One entry of an alert's history.
#[derive(Clone, PartialEq, Debug)]
pub struct HistoryRow {
    /// The alert.
    pub alert: AlertId,
    /// Its stock.
    pub symbol: Symbol,
    /// The change.
    pub entry: StatusChange,
    /// Time.
    pub at: Timestamp,
    /// Price of a firing.
    pub price: Option<Price>,
    /// Details: the reason of a firing, the effect of a split, data reported by a client.
    pub details: Option<Map<String, Value>>,
}

impl HistoryRow {
    /// Whether a client reported this entry, so that this service did not observe it. The details say so.
    #[must_use]
    pub fn is_noted_by_client(&self) -> bool {
        let source = self.details.as_ref().and_then(|details| details.get("source"));
        source.is_some_and(|source| source == "client")
    }
}

/// Position of a history entry in the order of all entries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HistoryPosition(pub i64);

/// A history entry of a list.
#[derive(Clone, PartialEq, Debug)]
pub struct ListedHistoryRow {
    /// Its position.
    pub position: HistoryPosition,
    /// The entry.
    pub row: HistoryRow,
}

/// Event id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EventId(pub Uuid);

/// An `alert.triggered` event: the record of one firing, from which its deliveries are made.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredEvent {
    /// Unique id.
    pub id: EventId,
    /// Position in the order of all events, increasing.
    pub seq: i64,
    /// Owner.
    pub owner: AlertOwner,
    /// The alert that fired.
    pub alert: AlertId,
    /// Time of the firing: the instant of the observation.
    pub at: Timestamp,
    /// The event's `data` as delivered: `{alert: {...}, stock: {...}, company_name, reason}`.
    pub data: Map<String, Value>,
}

impl AlertOwner {
    /// Returns the account, or `None` for a guest.
    #[must_use]
    pub const fn account(&self) -> Option<AccountId> {
        match self {
            Self::Account(account) => Some(*account),
            Self::Guest { .. } => None,
        }
    }
}
