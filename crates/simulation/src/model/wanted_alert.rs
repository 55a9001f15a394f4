//! An alert that a user creates.

use jiff::Timestamp;

use super::Cents;

/// The cooldown after each firing of an alert.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Cooldown {
    /// It takes a minute.
    Minute {
        /// Whether an alert that still holds at the end fires again. Otherwise its price must have returned.
        refires: bool,
    },
    /// It ends at midnight in New York.
    UntilMidnight,
}

/// An alert as its owner wants it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WantedAlert {
    pub(crate) stock: usize,
    pub(crate) is_above: bool,
    /// Whether the price must cross the threshold. Otherwise it may be beyond it already.
    pub(crate) is_crossing: bool,
    /// Whether two quotes in a row must be beyond the threshold.
    pub(crate) needs_two_quotes: bool,
    /// Whether the price must be beyond the threshold for a minute.
    pub(crate) must_hold: bool,
    pub(crate) threshold: Cents,
    /// The price at which an alert that repeats may fire again.
    pub(crate) returns_at: Option<Cents>,
    /// Whether and how it fires again after a cooldown.
    pub(crate) cooldown: Option<Cooldown>,
    /// The end of the snooze with which it is created.
    pub(crate) snoozed_until: Option<Timestamp>,
    /// The moment of a reminder. `None`: the alert waits for a price.
    pub(crate) moment: Option<Timestamp>,
    /// The number of firings after which it ends.
    pub(crate) max_firings: Option<u32>,
    /// The instant from which it is not judged any more.
    pub(crate) expires_at: Option<Timestamp>,
}
