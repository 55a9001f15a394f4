//! What happened to alerts.

use alerts::AlertId;
use alerts::transition::Entry;
use jiff::Timestamp;
use market::{Price, Symbol};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{AccountId, Owner};

/// One entry of an alert's history.
#[derive(Clone, PartialEq, Debug)]
pub struct HistoryRow {
    /// The alert.
    pub alert: AlertId,
    /// Its stock.
    pub symbol: Symbol,
    /// What happened.
    pub entry: Entry,
    /// When.
    pub at: Timestamp,
    /// The price at which it fired.
    pub price: Option<Price>,
    /// More about it: the reason of a firing, what a split changed, what a client noted down.
    pub details: Option<Map<String, Value>>,
}

impl HistoryRow {
    /// Whether a client noted it down, and this service has not seen it: then its details say so.
    #[must_use]
    pub fn is_noted_by_client(&self) -> bool {
        let source = self.details.as_ref().and_then(|details| details.get("source"));
        source.is_some_and(|source| source == "client")
    }
}

/// Which event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EventId(pub Uuid);

/// An `alert.triggered` event: the record of one firing, from which its deliveries are made.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredEvent {
    /// Which one.
    pub id: EventId,
    /// Its place in the order of all events, growing.
    pub seq: i64,
    /// Whose.
    pub owner: Owner,
    /// The alert that fired.
    pub alert: AlertId,
    /// When it fired: the instant of the observation.
    pub at: Timestamp,
    /// The event's `data` as it is delivered: `{alert: {...}, stock: {...}, company_name, reason}`.
    pub data: Map<String, Value>,
}

/// An account that a row belongs to, if it belongs to one.
impl Owner {
    /// The account, unless it is a guest's.
    #[must_use]
    pub const fn account(&self) -> Option<AccountId> {
        match self {
            Self::Account(account) => Some(*account),
            Self::Guest { .. } => None,
        }
    }
}
