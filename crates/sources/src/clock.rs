//! The time, as a parameter.
//!
//! Live sources wait for instants and stamp what they deliver, so they are given a [`Clock`]. The program's reads the
//! machine's; a test's is a [`ManualClock`], which stands still until it is told to go on.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;

/// What [`Clock::sleep_until`] answers: ready when the instant has come.
pub type Sleep<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Tells the time, and waits for it.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The instant that it is.
    fn now(&self) -> Timestamp;

    /// The time since a fixed instant of the past. A step of the clock does not change it.
    fn uptime(&self) -> SignedDuration;

    /// Waits until it is `at`; not at all if that has passed. If the clock is set back meanwhile, it may return early:
    /// it sleeps no longer than the time to `at` when it was called.
    fn sleep_until(&self, at: Timestamp) -> Sleep<'_>;
}

/// A reading of a clock, by which later steps of the clock are noticed.
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

    /// The time that the clock showed.
    #[must_use]
    pub const fn time(self) -> Timestamp {
        self.time
    }

    /// The time that has passed since `earlier`, whatever the clock was set to.
    #[must_use]
    pub fn passed_since(self, earlier: Self) -> SignedDuration {
        self.uptime.saturating_sub(earlier.uptime)
    }

    /// By how much the clock was set between `earlier` and this reading; negative if it was set back.
    #[must_use]
    pub fn stepped_since(self, earlier: Self) -> SignedDuration {
        let elapsed = self.time.duration_since(earlier.time);
        elapsed.saturating_sub(self.passed_since(earlier))
    }
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
pub struct ManualClock {
    time: watch::Sender<Timestamp>,
    began: Timestamp,
    /// The sum of all steps.
    stepped: Mutex<SignedDuration>,
}

impl ManualClock {
    /// A clock that stands at `at`.
    #[must_use]
    pub fn new(at: Timestamp) -> Self {
        Self {
            time: watch::Sender::new(at),
            began: at,
            stepped: Mutex::default(),
        }
    }

    /// Sets the clock to `at` and wakes whom that wakes. Time does not go back: an earlier instant changes nothing.
    pub fn set(&self, at: Timestamp) {
        self.time.send_if_modified(|now| {
            let later = at > *now;
            *now = at.max(*now);
            later
        });
    }

    /// Sets the clock to `at`, which may be earlier, while no time passes. Wakes the sleepers whose instant has come, and after
    /// a step back all.
    pub fn step_to(&self, at: Timestamp) {
        let mut stepped = self.stepped.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.time.send_replace(at);
        *stepped = stepped.saturating_add(at.duration_since(before));
    }

    /// Sets the clock on by `duration`.
    pub fn advance(&self, duration: SignedDuration) {
        self.set(self.now().saturating_add(duration).unwrap_or(Timestamp::MAX));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.time.borrow()
    }

    fn uptime(&self) -> SignedDuration {
        let stepped = self.stepped.lock().unwrap_or_else(PoisonError::into_inner);
        let time = *self.time.borrow();
        time.duration_since(self.began).saturating_sub(*stepped)
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep<'_> {
        let mut time = self.time.subscribe();
        Box::pin(async move {
            let mut latest = *time.borrow();
            // The sender is `self`, so the channel is not closed while anybody waits.
            let _ = time
                .wait_for(|now| {
                    let is_set_back = *now < latest;
                    latest = latest.max(*now);
                    *now >= at || is_set_back
                })
                .await;
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

    #[test]
    fn correction_of_the_clock_is_no_passed_time() {
        let clock = ManualClock::new(at("2024-03-08T14:30:00Z"));
        clock.step_to(at("2024-03-09T14:30:00Z"));
        clock.advance(SignedDuration::from_secs(7));
        clock.step_to(at("2024-03-08T14:30:00Z"));
        clock.set(at("2024-03-08T14:29:00Z"));
        assert_eq!(clock.uptime(), SignedDuration::from_secs(7));
    }

    #[tokio::test]
    async fn sleeper_wakes_when_the_clock_is_set_back() {
        let clock = Arc::new(ManualClock::new(at("2024-03-09T14:30:00Z")));
        let sleeper = tokio::spawn({
            let clock = Arc::clone(&clock);
            async move {
                clock.sleep_until(at("2024-03-09T14:31:00Z")).await;
                clock.now()
            }
        });
        tokio::task::yield_now().await;
        clock.step_to(at("2024-03-08T14:30:00Z"));
        assert_eq!(sleeper.await.unwrap(), at("2024-03-08T14:30:00Z"));
    }

    #[test]
    fn steps_of_the_clock_are_told_from_the_time_that_passes() {
        let clock = ManualClock::new(at("2024-03-08T14:30:00Z"));
        let earlier = ClockReading::of(&clock);
        clock.advance(SignedDuration::from_secs(60));
        assert_eq!(ClockReading::of(&clock).stepped_since(earlier), SignedDuration::ZERO);
        clock.step_to(at("2024-03-08T14:30:50Z"));
        clock.advance(SignedDuration::from_secs(60));
        let later = ClockReading::of(&clock);
        assert_eq!(later.stepped_since(earlier), SignedDuration::from_secs(-10));
        assert_eq!(earlier.stepped_since(later), SignedDuration::from_secs(10));
    }

    #[tokio::test]
    async fn an_instant_that_has_passed_is_not_waited_for_and_time_does_not_go_back() {
        let clock = ManualClock::new(at("2024-03-08T14:30:00Z"));
        clock.set(at("2024-03-08T14:29:00Z"));
        clock.sleep_until(at("2024-03-08T14:30:00Z")).await;
        assert_eq!(clock.now(), at("2024-03-08T14:30:00Z"));
    }
}
