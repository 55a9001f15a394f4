//! The system's clock.

use std::time::Duration;
use std::time::Instant;

use clock::{Clock, Sleep};
use jiff::{SignedDuration, Timestamp};

/// The system clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RealClock;

impl RealClock {
    /// Returns microseconds since 1970, the same in all processes.
    pub(crate) fn micros(self) -> i64 {
        Clock::now(&self).as_microsecond()
    }
}

impl Clock for RealClock {
    #[expect(clippy::disallowed_methods, reason = "a bench measures time")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    /// A run is so short that the clock is not stepped.
    fn uptime(&self) -> SignedDuration {
        self.now().duration_since(Timestamp::UNIX_EPOCH)
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep<'_> {
        let left = at.duration_since(self.now());
        Box::pin(tokio::time::sleep(Duration::try_from(left).unwrap_or_default()))
    }

    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Starts a measurement.
#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
pub(crate) fn stopwatch() -> Instant {
    Instant::now()
}
