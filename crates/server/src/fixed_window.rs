//! Fixed windows: the number of requests of each principal.
//!
//! A window starts with its first request and ends after its length. There is one window per principal and group.
//! Memory is bounded: new principals beyond the bound share a few thousand counters. So an attacker with many addresses
//! can use up the limit of other new principals, but never of an account that was counted before.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use service::AccountId;

use crate::layers::client::client_network;
use crate::rate_limiter::RateLimitGroup;
use crate::response::RateLimit;

/// The subject of a rate limit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Principal {
    /// An account.
    Account(AccountId),
    /// A client address: an IPv4 address, or the /64 network of an IPv6 address, which one client owns.
    Address(IpAddr),
    /// A shared counter for principals beyond the bound.
    Shared(u64),
}

impl Principal {
    pub(crate) fn of_address(address: IpAddr) -> Self {
        Self::Address(client_network(address))
    }
}

/// A number of requests per window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowLimit {
    /// The maximum number of requests in a window.
    pub requests: u32,
    /// The length of a window.
    pub window: SignedDuration,
}

/// The decision about a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateLimitDecision {
    /// Whether the request is within the limit.
    pub is_allowed: bool,
    /// The limit and the remaining requests.
    pub rate_limit: RateLimit,
    /// The time until the window ends, in whole seconds, at least 1.
    pub retry_after_s: u64,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    ends: Timestamp,
    used: u32,
}

#[derive(Debug)]
struct Counters<G> {
    windows: HashMap<(Principal, G), Window>,
    /// The earliest time of the next purge of ended windows. A purge is slow, so an attack must not cause it often.
    purge_from: Timestamp,
}

impl<G> Default for Counters<G> {
    fn default() -> Self {
        Self {
            windows: HashMap::new(),
            purge_from: Timestamp::default(),
        }
    }
}

/// The windows of all principals, for each group `G`.
#[derive(Debug)]
pub struct FixedWindows<G = RateLimitGroup> {
    counters: Mutex<Counters<G>>,
    max_tracked: usize,
    hasher: RandomState,
}

/// The number of shared counters for principals beyond the bound.
const SHARED_COUNTERS: u64 = 4096;

/// The minimum time between two purges of ended windows.
const PURGE_INTERVAL: SignedDuration = SignedDuration::from_secs(60);

impl<G: Copy + Eq + Hash> FixedWindows<G> {
    /// Creates empty windows, with at most `max_tracked` separate counters.
    #[must_use]
    pub fn new(max_tracked: usize) -> Self {
        Self {
            counters: Mutex::default(),
            max_tracked,
            hasher: RandomState::new(),
        }
    }

    /// Counts a request at `now`, unless the limit is reached.
    pub fn count(&self, principal: Principal, group: G, limit: WindowLimit, now: Timestamp) -> RateLimitDecision {
        self.with(principal, group, limit, now, |window| {
            let is_allowed = window.used < limit.requests;
            window.used += u32::from(is_allowed);
            is_allowed
        })
    }

    /// Returns the decision for a request at `now` without counting it.
    pub fn peek(&self, principal: Principal, group: G, limit: WindowLimit, now: Timestamp) -> RateLimitDecision {
        self.with(principal, group, limit, now, |window| window.used < limit.requests)
    }

    fn with(
        &self,
        principal: Principal,
        group: G,
        limit: WindowLimit,
        now: Timestamp,
        take: impl FnOnce(&mut Window) -> bool,
    ) -> RateLimitDecision {
        let fresh = Window {
            ends: now.saturating_add(limit.window).unwrap_or(Timestamp::MAX),
            used: 0,
        };
        // A panic elsewhere leaves the counters consistent, because each change is one assignment.
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let mut key = (principal, group);
        if !counters.windows.contains_key(&key) && counters.windows.len() >= self.max_tracked {
            if counters.purge_from <= now {
                counters.windows.retain(|_, window| window.ends > now);
                counters.purge_from = now.saturating_add(PURGE_INTERVAL).unwrap_or(Timestamp::MAX);
            }
            if counters.windows.len() >= self.max_tracked {
                key.0 = Principal::Shared(self.hasher.hash_one(principal) % SHARED_COUNTERS);
            }
        }
        let window = counters.windows.entry(key).or_insert(fresh);
        // After the clock is set back, a window must not stay open beyond its length.
        if window.ends <= now || window.ends > fresh.ends {
            *window = fresh;
        }
        let is_allowed = take(window);
        RateLimitDecision {
            is_allowed,
            rate_limit: RateLimit {
                limit: limit.requests,
                remaining: limit.requests.saturating_sub(window.used),
                reset: window.ends.as_millisecond(),
            },
            retry_after_s: retry_after_s(window.ends.duration_since(now)),
        }
    }

    #[cfg(test)]
    fn count_of_counters(&self) -> usize {
        let counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        counters.windows.len()
    }
}

/// Returns the time until a window ends, in whole seconds, at least 1.
pub(crate) fn retry_after_s(left: SignedDuration) -> u64 {
    let left_ms = u64::try_from(left.as_millis()).unwrap_or(0);
    left_ms.div_ceil(1000).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: SignedDuration = SignedDuration::from_hours(1);

    fn start() -> Timestamp {
        "2026-03-02T14:30:00Z".parse().unwrap()
    }

    fn address(text: &str) -> Principal {
        Principal::of_address(text.parse().unwrap())
    }

    const TWO: WindowLimit = WindowLimit {
        requests: 2,
        window: HOUR,
    };

    #[test]
    fn refuses_requests_over_the_limit_until_the_window_ends() {
        let windows = FixedWindows::new(10);
        let one = address("192.0.2.1");
        let count = |at: Timestamp| windows.count(one, RateLimitGroup::Alerts, TWO, at);
        assert_eq!(count(start()).rate_limit.remaining, 1);
        let later = start() + SignedDuration::from_mins(30);
        assert_eq!(count(later).rate_limit.remaining, 0);
        let refused = count(later);
        assert!(!refused.is_allowed);
        assert_eq!(refused.retry_after_s, 1800);
        assert_eq!(refused.rate_limit.reset, (start() + HOUR).as_millisecond());
        assert!(!count(start() + HOUR - SignedDuration::from_millis(1)).is_allowed);
        assert!(count(start() + HOUR).is_allowed);
    }

    #[test]
    fn principals_and_groups_have_separate_limits() {
        let windows = FixedWindows::new(10);
        let one = WindowLimit { requests: 1, ..TWO };
        assert!(
            windows
                .count(address("192.0.2.1"), RateLimitGroup::Alerts, one, start())
                .is_allowed
        );
        assert!(
            !windows
                .count(address("192.0.2.1"), RateLimitGroup::Alerts, one, start())
                .is_allowed
        );
        assert!(
            windows
                .count(address("192.0.2.2"), RateLimitGroup::Alerts, one, start())
                .is_allowed
        );
        assert!(
            windows
                .count(address("192.0.2.1"), RateLimitGroup::Stocks, one, start())
                .is_allowed
        );
    }

    #[test]
    fn ipv6_network_of_64_bits_has_one_counter() {
        assert_eq!(address("2001:db8:1:2:aaaa::1"), address("2001:db8:1:2:bbbb::2"));
        assert_ne!(address("2001:db8:1:2::1"), address("2001:db8:1:3::1"));
        assert_eq!(address("::ffff:192.0.2.1"), address("192.0.2.1"));
    }

    #[test]
    fn memory_is_bounded_and_known_principals_keep_their_counters() {
        let windows = FixedWindows::new(8);
        let known = address("192.0.2.1");
        windows.count(known, RateLimitGroup::Alerts, TWO, start());
        for host in 0..=255 {
            windows.count(
                address(&format!("198.51.100.{host}")),
                RateLimitGroup::Alerts,
                TWO,
                start(),
            );
        }
        assert!(windows.count_of_counters() <= 8 + 256, "{windows:?}");
        assert_eq!(
            windows
                .peek(known, RateLimitGroup::Alerts, TWO, start())
                .rate_limit
                .remaining,
            1
        );
        let next_hour = start() + HOUR;
        windows.count(address("203.0.113.1"), RateLimitGroup::Alerts, TWO, next_hour);
        assert_eq!(windows.count_of_counters(), 1, "ended windows are purged");
    }

    #[test]
    fn clock_set_back_does_not_block_requests() {
        let windows = FixedWindows::new(8);
        let one = WindowLimit { requests: 1, ..TWO };
        let tomorrow = start() + SignedDuration::from_hours(24);
        windows.count(address("192.0.2.1"), RateLimitGroup::Alerts, one, tomorrow);
        assert!(
            windows
                .count(address("192.0.2.1"), RateLimitGroup::Alerts, one, start())
                .is_allowed
        );
    }
}
