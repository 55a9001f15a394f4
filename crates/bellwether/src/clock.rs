//! The machine's clock: the only file that may read it (`clippy.toml` sees to that).

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use notify::time::Time;
use sources::{Clock, Sleep};

/// The longest that is slept at a stretch. The machine's clock can be set, and a machine can be suspended; who sleeps
/// for a day must not miss that.
const LONGEST_NAP: Duration = Duration::from_secs(10);

/// The machine's clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the file that may")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn uptime(&self) -> SignedDuration {
        static FIRST_READING: LazyLock<Stopwatch> = LazyLock::new(Stopwatch::start);
        SignedDuration::try_from(FIRST_READING.elapsed()).unwrap_or(SignedDuration::MAX)
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep<'_> {
        Box::pin(async move {
            let mut shortest = SignedDuration::MAX;
            loop {
                let left = at.duration_since(Clock::now(self));
                // More than before: the clock was set back. A wait of one second must not become one of a day.
                if left <= SignedDuration::ZERO || left > shortest {
                    return;
                }
                shortest = left;
                tokio::time::sleep(left.unsigned_abs().min(LONGEST_NAP)).await;
            }
        })
    }
}

/// What deliveries go by. Deadlines are counted by what does not jump when the clock is set.
impl Time for SystemClock {
    fn now(&self) -> Timestamp {
        Clock::now(self)
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep<'_> {
        Clock::sleep_until(self, at)
    }

    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Measures how long something took, to tell a person.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts measuring.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the file that may")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since the start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_instant_that_has_passed_is_not_waited_for() {
        let clock = SystemClock;
        let before = tokio::time::Instant::now();
        Clock::sleep_until(&clock, Clock::now(&clock)).await;
        Clock::sleep_until(&clock, Timestamp::MIN).await;
        assert_eq!(before.elapsed(), Duration::ZERO);
    }
}
