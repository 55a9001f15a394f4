//! Rate limiter of the requests to a provider.
//!
//! A provider counts requests in windows whose start is unknown. The limiter therefore enforces the limit in *every* window of that
//! length (a sliding window log): it keeps the times of the last requests and delays the next one until the oldest has left the
//! window. A token bucket would allow nearly twice the limit, because it refills while it is drained.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// A rate limit: at most `requests` in each `window`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLimit {
    /// The maximum number of requests.
    pub requests: u32,
    /// The length of the window.
    pub window: Duration,
}

impl RequestLimit {
    const fn new(requests: u32, window_seconds: u64) -> Self {
        Self {
            requests,
            window: Duration::from_secs(window_seconds),
        }
    }

    /// Returns a limit of `requests` per second.
    #[must_use]
    pub const fn per_second(requests: u32) -> Self {
        Self::new(requests, 1)
    }

    /// Returns a limit of `requests` per minute.
    #[must_use]
    pub const fn per_minute(requests: u32) -> Self {
        Self::new(requests, 60)
    }

    /// Returns a limit of `requests` per hour.
    #[must_use]
    pub const fn per_hour(requests: u32) -> Self {
        Self::new(requests, 3_600)
    }

    /// Returns a limit of `requests` per day.
    #[must_use]
    pub const fn per_day(requests: u32) -> Self {
        Self::new(requests, 86_400)
    }
}

/// Limits the rate of requests to one provider.
#[derive(Debug)]
pub struct RequestRateLimiter(Mutex<LimiterState>);

#[derive(Debug)]
struct LimiterState {
    windows: Vec<Window>,
    /// No request is permitted before this instant.
    paused_until: Timestamp,
}

/// A limit and the times of the last requests, past or reserved, oldest first.
#[derive(Debug)]
struct Window {
    max_requests: usize,
    length: SignedDuration,
    sent_at: VecDeque<Timestamp>,
}

impl RequestRateLimiter {
    /// Creates a limiter that enforces all `limits`.
    #[must_use]
    pub fn new(limits: &[RequestLimit]) -> Self {
        let window = |limit: &RequestLimit| Window {
            max_requests: usize::try_from(limit.requests.max(1)).unwrap_or(usize::MAX),
            length: SignedDuration::try_from(limit.window).unwrap_or(SignedDuration::MAX),
            sent_at: VecDeque::new(),
        };
        Self(Mutex::new(LimiterState {
            windows: limits.iter().map(window).collect(),
            paused_until: Timestamp::MIN,
        }))
    }

    /// Counts every limit as used up at an instant: nothing is known of the requests that another process has made until then.
    pub fn use_up(&self, at: Timestamp) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for window in &mut state.windows {
            window.sent_at = std::iter::repeat_n(at, window.max_requests).collect();
        }
    }

    /// Reserves the next permitted instant for a request and returns it.
    ///
    /// # Errors
    /// The required wait, if it is longer than `max_wait`. Then nothing is reserved.
    pub fn reserve(&self, now: Timestamp, max_wait: Duration) -> Result<Timestamp, Duration> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let free = state.windows.iter().filter_map(Window::next_free_at);
        let at = free.fold(now.max(state.paused_until), Timestamp::max);
        let wait = at.duration_since(now).unsigned_abs();
        if wait > max_wait {
            return Err(wait);
        }
        for window in &mut state.windows {
            window.add(at);
        }
        Ok(at)
    }

    /// Permits no request until `wait` has passed.
    pub fn pause(&self, now: Timestamp, wait: Duration) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let until = SignedDuration::try_from(wait)
            .ok()
            .and_then(|wait| now.checked_add(wait).ok());
        state.paused_until = state.paused_until.max(until.unwrap_or(Timestamp::MAX));
    }
}

impl Window {
    /// Returns when the window permits another request; `None` if it does so now.
    fn next_free_at(&self) -> Option<Timestamp> {
        let oldest = self
            .sent_at
            .front()
            .filter(|_| self.sent_at.len() >= self.max_requests)?;
        Some(oldest.checked_add(self.length).unwrap_or(Timestamp::MAX))
    }

    fn add(&mut self, at: Timestamp) {
        if self.sent_at.len() >= self.max_requests {
            self.sent_at.pop_front();
        }
        self.sent_at.push_back(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LONG_WINDOW: Duration = Duration::from_secs(1_000_000);

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(1_709_911_800_000 + millis).unwrap()
    }

    #[test]
    fn requests_beyond_the_limit_wait_for_the_window() {
        let limiter = RequestRateLimiter::new(&[RequestLimit::per_second(2)]);
        assert_eq!(limiter.reserve(at(0), LONG_WINDOW), Ok(at(0)));
        assert_eq!(limiter.reserve(at(400), LONG_WINDOW), Ok(at(400)));
        assert_eq!(limiter.reserve(at(999), LONG_WINDOW), Ok(at(1_000)));
        assert_eq!(limiter.reserve(at(1_000), LONG_WINDOW), Ok(at(1_400)));
    }

    #[test]
    fn all_limits_hold() {
        let limiter = RequestRateLimiter::new(&[RequestLimit::per_second(1), RequestLimit::per_minute(2)]);
        let reserved: Vec<_> = (0..3).map(|_| limiter.reserve(at(0), LONG_WINDOW).unwrap()).collect();
        assert_eq!(reserved, [at(0), at(1_000), at(60_000)]);
    }

    #[test]
    fn used_up_limits_permit_requests_when_their_windows_have_passed() {
        let limiter = RequestRateLimiter::new(&[RequestLimit::per_second(2), RequestLimit::per_minute(3)]);
        limiter.use_up(at(0));
        let reserved: Vec<_> = (0..4).map(|_| limiter.reserve(at(500), LONG_WINDOW).unwrap()).collect();
        assert_eq!(reserved, [at(60_000), at(60_000), at(61_000), at(120_000)]);
        limiter.use_up(at(-1_000_000));
        assert_eq!(limiter.reserve(at(0), LONG_WINDOW), Ok(at(0)));
    }

    #[test]
    fn too_long_a_wait_is_an_error_and_reserves_nothing() {
        let limiter = RequestRateLimiter::new(&[RequestLimit::per_minute(1)]);
        limiter.reserve(at(0), LONG_WINDOW).unwrap();
        let max_wait = Duration::from_millis(59_999);
        assert_eq!(limiter.reserve(at(0), max_wait), Err(Duration::from_secs(60)));
        assert_eq!(limiter.reserve(at(1), max_wait), Ok(at(60_000)));
    }

    #[test]
    fn pause_delays_all_requests() {
        let limiter = RequestRateLimiter::new(&[]);
        limiter.pause(at(0), Duration::from_secs(5));
        assert_eq!(limiter.reserve(at(1), LONG_WINDOW), Ok(at(5_000)));
        assert_eq!(limiter.reserve(at(5_001), LONG_WINDOW), Ok(at(5_001)));
    }

    proptest! {
        #[test]
        fn every_window_keeps_the_limit(
            max_requests in 1_u32..6,
            steps in prop::collection::vec(0_i64..400, 1..80),
        ) {
            let limiter = RequestRateLimiter::new(&[RequestLimit::per_second(max_requests)]);
            let (mut now, mut sent_at) = (0, Vec::new());
            for step in steps {
                now += step;
                sent_at.push(limiter.reserve(at(now), LONG_WINDOW).unwrap());
            }
            for window in sent_at.windows(usize::try_from(max_requests).unwrap() + 1) {
                prop_assert!(window[usize::try_from(max_requests).unwrap()].duration_since(window[0]) >= SignedDuration::from_secs(1));
            }
        }
    }
}
