//! The machine's clock. No other file reads it; `clippy.toml` enforces this.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use clock::{Clock, Sleep};
use jiff::{SignedDuration, Timestamp};

/// The machine's clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the only file that may read the clock")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn uptime(&self) -> SignedDuration {
        static PROCESS_START: LazyLock<Stopwatch> = LazyLock::new(Stopwatch::start);
        SignedDuration::try_from(PROCESS_START.elapsed()).unwrap_or(SignedDuration::MAX)
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep<'_> {
        Box::pin(clock::sleep_by_timer(self, at))
    }

    /// Uses the monotonic clock, which does not jump when the system clock is set.
    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Measures a duration for display.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts measuring.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the only file that may read the clock")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns the time since the start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn sleep_until_past_time_returns_at_once() {
        let clock = SystemClock;
        let before = tokio::time::Instant::now();
        Clock::sleep_until(&clock, Clock::now(&clock)).await;
        Clock::sleep_until(&clock, Timestamp::MIN).await;
        assert_eq!(before.elapsed(), Duration::ZERO);
    }
}
