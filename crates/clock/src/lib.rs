//! # Clock: time as a parameter
//!
//! Due dates, timeouts, polling and certificate validity depend on the time. So callers pass a [`Clock`]: the machine's clock in
//! the program, and a [`ManualClock`], which only moves when it is set, in tests and simulations.

mod manual_clock;
mod timer;
mod tls_time;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

pub use manual_clock::ManualClock;
pub use timer::sleep_by_timer;
pub use tls_time::TlsTime;

/// The future that [`Clock::sleep_until`] returns. It is ready when the instant has come.
pub type Sleep<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// A source of the current time that can also wait.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Returns the current time.
    fn now(&self) -> Timestamp;

    /// Returns the time since a fixed instant in the past. Steps of the clock do not change it.
    fn uptime(&self) -> SignedDuration;

    /// Waits until `at`. Returns at once if `at` has passed. If the clock is set back during the wait, it may return early:
    /// the wait is never longer than the time to `at` when the call was made.
    fn sleep_until(&self, at: Timestamp) -> Sleep<'_>;

    /// Waits for a duration. A system clock should use monotonic time, as `tokio::time::sleep` does. Timeouts use it, and so does periodic
    /// work: an instant that was computed before the clock was set back would be waited for too long. The default implementation uses
    /// [`sleep_until`](Self::sleep_until).
    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        self.sleep_until(later(self.now(), signed(duration)))
    }
}

/// Adds a duration to an instant, saturating at the maximum.
#[must_use]
pub fn later(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.saturating_add(by).unwrap_or(Timestamp::MAX)
}

/// Converts a duration, saturating at the maximum.
#[must_use]
pub fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}

/// A reading of a clock. Comparing two readings reveals steps of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockReading {
    time: Timestamp,
    uptime: SignedDuration,
}

impl ClockReading {
    /// Reads `clock`.
    #[must_use]
    pub fn of(clock: &dyn Clock) -> Self {
        Self {
            time: clock.now(),
            uptime: clock.uptime(),
        }
    }

    /// Returns the time that the clock showed.
    #[must_use]
    pub const fn time(self) -> Timestamp {
        self.time
    }

    /// Returns the time that has passed since `earlier`, independent of steps of the clock.
    #[must_use]
    pub fn elapsed_since(self, earlier: Self) -> SignedDuration {
        self.uptime.saturating_sub(earlier.uptime)
    }

    /// Returns by how much the clock was set between `earlier` and this reading; negative if it was set back.
    #[must_use]
    pub fn stepped_since(self, earlier: Self) -> SignedDuration {
        let elapsed = self.time.duration_since(earlier.time);
        elapsed.saturating_sub(self.elapsed_since(earlier))
    }
}
