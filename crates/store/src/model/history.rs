//! The history of alerts.

use alerts::AlertId;
use alerts::transition::StatusChange;
use jiff::Timestamp;
use market::{Price, Symbol};
use serde_json::{Map, Value};
use uuid::{Builder, Uuid};

use super::{AccountId, AlertOwner, StoredAlert};

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

/// An alert of the change feed.
#[derive(Clone, PartialEq, Debug)]
pub struct PositionedAlert {
    /// The alert.
    pub id: AlertId,
    /// The position of the last change of it that was read.
    pub position: i64,
    /// Whether the last change was a firing.
    pub has_fired: bool,
    /// The alert as it is now. `None` if it is deleted.
    pub stored: Option<StoredAlert>,
}

/// The last change of an alert.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LastChange {
    /// The alert.
    pub alert: AlertId,
    /// Its position in the change feed.
    pub position: i64,
    /// Whether it was a firing.
    pub has_fired: bool,
}

/// Event id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EventId(pub Uuid);

impl EventId {
    /// Returns the id with a time in its first 48 bits: a UUID of version 7. Of many events at once, each then has its place at the end
    /// of the index of ids instead of on any of its pages.
    #[must_use]
    pub fn made_at(self, time: Timestamp) -> Self {
        let milliseconds = u64::try_from(time.as_millisecond()).unwrap_or(0);
        let [_, _, _, _, _, _, rest @ ..] = *self.0.as_bytes();
        Self(Builder::from_unix_timestamp_millis(milliseconds, &rest).into_uuid())
    }
}

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

/// The next events of an account.
#[derive(Clone, PartialEq, Debug)]
pub struct EventPage {
    /// The events, oldest first.
    pub events: Vec<StoredEvent>,
    /// The position after which the next page begins.
    pub position: i64,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_events_are_in_the_order_of_their_times_and_keep_their_random_bits() {
        let random = EventId(Uuid::from_u128(0xffff_ffff_ffff_4abc_bdef_0123_4567_89ab));
        let [first, second] = [1_700_000_000_000, 1_700_000_000_001].map(|time| {
            let made = random.made_at(Timestamp::from_millisecond(time).unwrap());
            assert_eq!(made.0.get_version_num(), 7);
            assert_eq!(
                made.0.as_u128() & 0x0fff_3fff_ffff_ffff_ffff,
                0x0abc_3def_0123_4567_89ab
            );
            made
        });
        assert!(first < second);
    }
}
