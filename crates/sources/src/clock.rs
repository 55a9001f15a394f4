//! The clock that live sources use.
//!
//! Live sources wait for instants and timestamp their updates. The program passes a clock that reads the system time; tests
//! pass a [`ManualClock`], which only moves when the test sets it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;

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

/// A clock that tests and simulations set by hand.
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
    /// Creates a clock that shows `at`.
    #[must_use]
    pub fn new(at: Timestamp) -> Self {
        Self {
            time: watch::Sender::new(at),
            began: at,
            stepped: Mutex::default(),
        }
    }

    /// Sets the clock to `at` and wakes the sleepers whose instant has come. An earlier instant has no effect.
    pub fn set(&self, at: Timestamp) {
        self.time.send_if_modified(|now| {
            let later = at > *now;
            *now = at.max(*now);
            later
        });
    }

    /// Steps the clock to `at`, which may be earlier, without any time passing. Wakes the sleepers whose instant has come;
    /// a step back wakes all of them.
    pub fn step_to(&self, at: Timestamp) {
        let mut stepped = self.stepped.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.time.send_replace(at);
        *stepped = stepped.saturating_add(at.duration_since(before));
    }

    /// Advances the clock by `duration`.
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
            // The sender is `self`, so the channel stays open during the wait.
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
    async fn sleeper_wakes_at_its_instant() {
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
    fn clock_steps_do_not_change_uptime() {
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
    fn clock_steps_are_measured_apart_from_elapsed_time() {
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
    async fn past_instant_is_not_waited_for_and_set_ignores_earlier_times() {
        let clock = ManualClock::new(at("2024-03-08T14:30:00Z"));
        clock.set(at("2024-03-08T14:29:00Z"));
        clock.sleep_until(at("2024-03-08T14:30:00Z")).await;
        assert_eq!(clock.now(), at("2024-03-08T14:30:00Z"));
    }
}
