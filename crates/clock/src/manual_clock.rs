//! A clock that is set by hand.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;

use crate::{Clock, Sleep, later, signed};

/// A clock that tests and simulations set by hand.
///
/// ```
/// use jiff::SignedDuration;
/// use clock::{Clock, ManualClock};
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
        self.sleep_from_now(|_| at)
    }

    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        self.sleep_from_now(|now| later(now, signed(duration)))
    }
}

impl ManualClock {
    /// Waits from the time of this call until the instant that `end` returns for it.
    fn sleep_from_now(&self, end: impl FnOnce(Timestamp) -> Timestamp) -> Sleep<'_> {
        let mut time = self.time.subscribe();
        let mut latest = *time.borrow();
        let at = end(latest);
        Box::pin(async move {
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
    use std::sync::Arc;

    use super::*;
    use crate::ClockReading;

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
    async fn sleep_begins_with_the_call() {
        let clock = ManualClock::new(at("2024-03-09T14:30:00Z"));
        let minute = clock.sleep(Duration::from_secs(60));
        let until = clock.sleep_until(at("2024-03-09T14:31:00Z"));
        clock.step_to(at("2024-03-08T14:30:00Z"));
        minute.await;
        until.await;
        assert_eq!(clock.now(), at("2024-03-08T14:30:00Z"));
    }

    #[tokio::test]
    async fn past_instant_is_not_waited_for_and_set_ignores_earlier_times() {
        let clock = ManualClock::new(at("2024-03-08T14:30:00Z"));
        clock.set(at("2024-03-08T14:29:00Z"));
        clock.sleep_until(at("2024-03-08T14:30:00Z")).await;
        assert_eq!(clock.now(), at("2024-03-08T14:30:00Z"));
    }
}
