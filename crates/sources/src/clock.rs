//! The time, as a parameter.
//!
//! Live sources wait for instants and stamp what they deliver, so they are given a [`Clock`]. The program's reads the
//! machine's; a test's is a [`ManualClock`], which stands still until it is told to go on.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;

/// What [`Clock::sleep_until`] answers: ready when the instant has come.
pub type Sleep<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Tells the time, and waits for it.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The instant that it is.
    fn now(&self) -> Timestamp;

    /// Waits until it is `at`; not at all if that has passed.
    fn sleep_until(&self, at: Timestamp) -> Sleep<'_>;
}

/// A clock that is set by hand: virtual time for tests and simulations.
///
/// ```
/// use jiff::SignedDuration;
/// use sources::{Clock, ManualClock};
///
/// let clock = ManualClock::new("2024-03-08T14:30:00Z".parse().unwrap());
/// clock.advance(SignedDuration::from_secs(60));
/// assert_eq!(clock.now().to_string(), "2024-03-08T14:31:00Z");
/// ```
#[derive(Debug)]
pub struct ManualClock(watch::Sender<Timestamp>);

impl ManualClock {
    /// A clock that stands at `at`.
    #[must_use]
    pub fn new(at: Timestamp) -> Self {
        Self(watch::Sender::new(at))
    }

    /// Sets the clock to `at` and wakes whom that wakes. Time does not go back: an earlier instant changes nothing.
    pub fn set(&self, at: Timestamp) {
        self.0.send_if_modified(|now| {
            let later = at > *now;
            *now = at.max(*now);
            later
        });
    }

    /// Sets the clock on by `duration`.
    pub fn advance(&self, duration: SignedDuration) {
        self.set(self.now().saturating_add(duration).unwrap_or(Timestamp::MAX));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.borrow()
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep<'_> {
        let mut time = self.0.subscribe();
        Box::pin(async move {
            // The sender is `self`, so the channel is not closed while anybody waits.
            let _ = time.wait_for(|now| *now >= at).await;
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[tokio::test]
    async fn a_sleeper_wakes_when_its_instant_comes_and_not_before() {
        let clock = Arc::new(ManualClock::new(at("2024-03-08T14:30:00Z")));
        let sleeper = tokio::spawn({
            let clock = Arc::clone(&clock);
            async move {
                clock.sleep_until(at("2024-03-08T14:31:00Z")).await;
                clock.now()
            }
        });
        clock.set(at("2024-03-08T14:30:59Z"));
        tokio::task::yield_now().await;
        assert!(!sleeper.is_finished());
        clock.advance(SignedDuration::from_secs(1));
        assert_eq!(sleeper.await.unwrap(), at("2024-03-08T14:31:00Z"));
    }

    #[tokio::test]
    async fn an_instant_that_has_passed_is_not_waited_for_and_time_does_not_go_back() {
        let clock = ManualClock::new(at("2024-03-08T14:30:00Z"));
        clock.set(at("2024-03-08T14:29:00Z"));
        clock.sleep_until(at("2024-03-08T14:30:00Z")).await;
        assert_eq!(clock.now(), at("2024-03-08T14:30:00Z"));
    }
}
