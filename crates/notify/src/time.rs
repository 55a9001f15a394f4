//! The clock, as a parameter.
//!
//! Due dates, timeouts and certificate validity depend on the time. So the caller passes a [`Time`]: the system clock in the program,
//! and a manual clock in tests.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// The future of a sleep, returned by [`Time`].
pub type SleepFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// A clock that can be read and waited for.
pub trait Time: Send + Sync + fmt::Debug {
    /// Returns the current time.
    fn now(&self) -> Timestamp;

    /// Waits until `at`. Returns at once if it has passed.
    fn sleep_until(&self, at: Timestamp) -> SleepFuture<'_>;

    /// Waits for a duration. It is used for timeouts, so implementations for a system clock should use monotonic time, as
    /// `tokio::time::sleep` does. The default implementation uses [`sleep_until`](Self::sleep_until).
    fn sleep(&self, duration: Duration) -> SleepFuture<'_> {
        self.sleep_until(later(self.now(), signed(duration)))
    }
}

/// Adds a duration to an instant, saturating at the maximum.
pub(crate) fn later(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.saturating_add(by).unwrap_or(Timestamp::MAX)
}

/// Converts a duration, saturating at the maximum.
pub(crate) fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}
