//! An alert that a user creates.

use jiff::Timestamp;

use super::Cents;

/// An alert as its owner wants it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WantedAlert {
    pub(crate) stock: usize,
    pub(crate) is_above: bool,
    pub(crate) threshold: Cents,
    /// The price at which an alert that repeats may fire again.
    pub(crate) returns_at: Option<Cents>,
    /// The moment of a reminder. `None`: the alert waits for a price.
    pub(crate) moment: Option<Timestamp>,
    /// The number of firings after which it ends.
    pub(crate) max_firings: Option<u32>,
    /// The instant from which it is not judged any more.
    pub(crate) expires_at: Option<Timestamp>,
}
