//! The time, as a parameter.
//!
//! What this room does hangs on the time at every turn: when a delivery is due, when an attempt has lasted too long, when a
//! certificate has expired. So it is given a [`Time`], the machine's in the program and one that is set by hand in tests.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// What [`Time`] answers to those who wait: ready when it is time.
pub type Sleep<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Tells the time, and waits for it.
pub trait Time: Send + Sync + fmt::Debug {
    /// The instant that it is.
    fn now(&self) -> Timestamp;

    /// Waits until it is `at`; not at all if that has passed.
    fn sleep_until(&self, at: Timestamp) -> Sleep<'_>;

    /// Waits for so long. This is what deadlines are made of, so on a machine whose clock may be set it should count
    /// time that does not jump, as `tokio::time::sleep` does. On its own it waits for the clock.
    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        self.sleep_until(later(self.now(), signed(duration)))
    }
}

/// An instant so much later, or the last one there is.
pub(crate) fn later(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.saturating_add(by).unwrap_or(Timestamp::MAX)
}

/// The same duration for instants.
pub(crate) fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}
