//! How often one may ask.
//!
//! A provider counts requests within windows of its own, which nobody else sees. So the budget holds for *every* window of
//! that length: of each quota the instants of the last requests are kept, and the next one waits until the oldest of
//! them has left the window. A bucket that fills up while it is being emptied would let nearly twice as many through.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// So many requests within so long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// How many.
    pub requests: u32,
    /// Within how long.
    pub within: Duration,
}

impl Quota {
    /// So many a second.
    #[must_use]
    pub const fn per_second(requests: u32) -> Self {
        Self {
            requests,
            within: Duration::from_secs(1),
        }
    }

    /// So many a minute.
    #[must_use]
    pub const fn per_minute(requests: u32) -> Self {
        Self {
            requests,
            within: Duration::from_secs(60),
        }
    }

    /// So many an hour.
    #[must_use]
    pub const fn per_hour(requests: u32) -> Self {
        Self {
            requests,
            within: Duration::from_secs(3_600),
        }
    }

    /// So many a day.
    #[must_use]
    pub const fn per_day(requests: u32) -> Self {
        Self {
            requests,
            within: Duration::from_secs(86_400),
        }
    }
}

/// Keeps count of the requests to one provider.
#[derive(Debug)]
pub struct Budget(Mutex<State>);

#[derive(Debug)]
struct State {
    windows: Vec<Window>,
    /// Nobody asks before.
    paused_until: Timestamp,
}

/// A quota and when requests were made, or are going to be made: the last of them, oldest first.
#[derive(Debug)]
struct Window {
    most: usize,
    within: SignedDuration,
    made: VecDeque<Timestamp>,
}

impl Budget {
    /// A budget that keeps to each of `quotas`.
    #[must_use]
    pub fn new(quotas: &[Quota]) -> Self {
        let window = |quota: &Quota| Window {
            most: usize::try_from(quota.requests.max(1)).unwrap_or(usize::MAX),
            within: SignedDuration::try_from(quota.within).unwrap_or(SignedDuration::MAX),
            made: VecDeque::new(),
        };
        Self(Mutex::new(State {
            windows: quotas.iter().map(window).collect(),
            paused_until: Timestamp::MIN,
        }))
    }

    /// Takes the next place for a request, and tells its instant. If that is further away than `patience`, no place is
    /// taken, and the error is how long it would take.
    ///
    /// # Errors
    /// How long to wait, when that is longer than `patience`.
    pub fn reserve(&self, now: Timestamp, patience: Duration) -> Result<Timestamp, Duration> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = state.windows.iter().filter_map(Window::room_at);
        let at = room.fold(now.max(state.paused_until), Timestamp::max);
        let wait = at.duration_since(now).unsigned_abs();
        if wait > patience {
            return Err(wait);
        }
        for window in &mut state.windows {
            window.add(at);
        }
        Ok(at)
    }

    /// Lets nobody ask before `wait` has passed.
    pub fn pause(&self, now: Timestamp, wait: Duration) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let until = SignedDuration::try_from(wait)
            .ok()
            .and_then(|wait| now.checked_add(wait).ok());
        state.paused_until = state.paused_until.max(until.unwrap_or(Timestamp::MAX));
    }
}

impl Window {
    /// When there is room for one more; `None` if there is already.
    fn room_at(&self) -> Option<Timestamp> {
        let oldest = self.made.front().filter(|_| self.made.len() >= self.most)?;
        Some(oldest.checked_add(self.within).unwrap_or(Timestamp::MAX))
    }

    fn add(&mut self, at: Timestamp) {
        if self.made.len() >= self.most {
            self.made.pop_front();
        }
        self.made.push_back(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LONG: Duration = Duration::from_secs(1_000_000);

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(1_709_911_800_000 + millis).unwrap()
    }

    #[test]
    fn as_many_as_the_quota_go_at_once_and_the_next_waits_for_the_window() {
        let budget = Budget::new(&[Quota::per_second(2)]);
        assert_eq!(budget.reserve(at(0), LONG), Ok(at(0)));
        assert_eq!(budget.reserve(at(400), LONG), Ok(at(400)));
        assert_eq!(budget.reserve(at(999), LONG), Ok(at(1_000)));
        assert_eq!(budget.reserve(at(1_000), LONG), Ok(at(1_400)));
    }

    #[test]
    fn all_quotas_hold() {
        let budget = Budget::new(&[Quota::per_second(1), Quota::per_minute(2)]);
        let places: Vec<_> = (0..3).map(|_| budget.reserve(at(0), LONG).unwrap()).collect();
        assert_eq!(places, [at(0), at(1_000), at(60_000)]);
    }

    #[test]
    fn who_would_wait_too_long_is_told_so_and_takes_no_place() {
        let budget = Budget::new(&[Quota::per_minute(1)]);
        budget.reserve(at(0), LONG).unwrap();
        let patience = Duration::from_millis(59_999);
        assert_eq!(budget.reserve(at(0), patience), Err(Duration::from_secs(60)));
        assert_eq!(budget.reserve(at(1), patience), Ok(at(60_000)));
    }

    #[test]
    fn a_pause_holds_for_all() {
        let budget = Budget::new(&[]);
        budget.pause(at(0), Duration::from_secs(5));
        assert_eq!(budget.reserve(at(1), LONG), Ok(at(5_000)));
        assert_eq!(budget.reserve(at(5_001), LONG), Ok(at(5_001)));
    }

    proptest! {
        #[test]
        fn no_window_has_more_than_its_quota(
            most in 1_u32..6,
            steps in prop::collection::vec(0_i64..400, 1..80),
        ) {
            let budget = Budget::new(&[Quota::per_second(most)]);
            let (mut now, mut made) = (0, Vec::new());
            for step in steps {
                now += step;
                made.push(budget.reserve(at(now), LONG).unwrap());
            }
            for window in made.windows(usize::try_from(most).unwrap() + 1) {
                prop_assert!(window[usize::try_from(most).unwrap()].duration_since(window[0]) >= SignedDuration::from_secs(1));
            }
        }
    }
}
