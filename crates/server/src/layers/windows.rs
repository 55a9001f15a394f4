//! Fixed windows: how much of their allowance everybody has used.
//!
//! A window begins with the first request in it and ends after its length. Windows are counted per principal and
//! group. The memory for them is bounded: principals beyond the bound share a few thousand counters with each other,
//! so that an attacker with many addresses costs strangers some of their allowance, but never an account that was
//! counted before.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use service::AccountId;

use super::limit::Group;
use crate::answer::RateLimit;

/// Whose requests are counted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Principal {
    /// An account's.
    Account(AccountId),
    /// A client address's; of version 6 the network's, because one client has a whole one.
    Address(IpAddr),
    /// Those of strangers who share a counter.
    Crowd(u64),
}

impl Principal {
    /// The principal of an address.
    #[must_use]
    pub fn of_address(address: IpAddr) -> Self {
        const HOST_BITS: u32 = 64;
        Self::Address(match address.to_canonical() {
            IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() >> HOST_BITS << HOST_BITS).into()),
            v4 @ IpAddr::V4(_) => v4,
        })
    }
}

/// How much is allowed in how long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allowance {
    /// Requests in a window.
    pub requests: u32,
    /// How long a window is.
    pub window: SignedDuration,
}

/// What became of a request at the windows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counted {
    /// Whether it is within the allowance.
    pub is_allowed: bool,
    /// What is left of the allowance.
    pub rate_limit: RateLimit,
    /// How long until the window ends, in whole seconds, at least one.
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
    /// When it is worth looking for windows that have ended: looking takes long, and an attack must not make it often.
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

/// Everybody's windows, for each `G`: group of what is counted together.
#[derive(Debug)]
pub struct Windows<G = Group> {
    counters: Mutex<Counters<G>>,
    max_tracked: usize,
    hasher: RandomState,
}

/// So many counters the principals beyond the bound share.
const CROWDS: u64 = 4096;

/// How long at least between two looks for windows that have ended.
const PURGE_EVERY: SignedDuration = SignedDuration::from_secs(60);

impl<G: Copy + Eq + Hash> Windows<G> {
    /// None yet; at most `max_tracked` are counted one by one.
    #[must_use]
    pub fn new(max_tracked: usize) -> Self {
        Self {
            counters: Mutex::default(),
            max_tracked,
            hasher: RandomState::new(),
        }
    }

    /// Counts a request at `now`, unless the allowance is used up.
    pub fn count(&self, principal: Principal, group: G, allowance: Allowance, now: Timestamp) -> Counted {
        self.with(principal, group, allowance, now, |window| {
            let is_allowed = window.used < allowance.requests;
            window.used += u32::from(is_allowed);
            is_allowed
        })
    }

    /// What is left at `now`, without counting anything.
    pub fn peek(&self, principal: Principal, group: G, allowance: Allowance, now: Timestamp) -> Counted {
        self.with(principal, group, allowance, now, |window| {
            window.used < allowance.requests
        })
    }

    fn with(
        &self,
        principal: Principal,
        group: G,
        allowance: Allowance,
        now: Timestamp,
        take: impl FnOnce(&mut Window) -> bool,
    ) -> Counted {
        let fresh = Window {
            ends: now.saturating_add(allowance.window).unwrap_or(Timestamp::MAX),
            used: 0,
        };
        // A panic elsewhere leaves the counters whole: each change is one assignment.
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let mut key = (principal, group);
        if !counters.windows.contains_key(&key) && counters.windows.len() >= self.max_tracked {
            if counters.purge_from <= now {
                counters.windows.retain(|_, window| window.ends > now);
                counters.purge_from = now.saturating_add(PURGE_EVERY).unwrap_or(Timestamp::MAX);
            }
            if counters.windows.len() >= self.max_tracked {
                key.0 = Principal::Crowd(self.hasher.hash_one(principal) % CROWDS);
            }
        }
        let window = counters.windows.entry(key).or_insert(fresh);
        // A clock that was set back must not keep a window open for longer than it is.
        if window.ends <= now || window.ends > fresh.ends {
            *window = fresh;
        }
        let is_allowed = take(window);
        let left_ms = u64::try_from(window.ends.duration_since(now).as_millis()).unwrap_or(0);
        Counted {
            is_allowed,
            rate_limit: RateLimit {
                limit: allowance.requests,
                remaining: allowance.requests.saturating_sub(window.used),
                reset: window.ends.as_millisecond(),
            },
            retry_after_s: left_ms.div_ceil(1000).max(1),
        }
    }

    /// How many counters there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counters
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .windows
            .len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
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

    const TWO: Allowance = Allowance {
        requests: 2,
        window: HOUR,
    };

    #[test]
    fn the_request_after_the_last_allowed_one_is_refused_until_the_window_ends() {
        let windows = Windows::new(10);
        let one = address("192.0.2.1");
        let count = |at: Timestamp| windows.count(one, Group::Alerts, TWO, at);
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
    fn principals_and_groups_do_not_use_each_others_allowance() {
        let windows = Windows::new(10);
        let one = Allowance { requests: 1, ..TWO };
        assert!(
            windows
                .count(address("192.0.2.1"), Group::Alerts, one, start())
                .is_allowed
        );
        assert!(
            !windows
                .count(address("192.0.2.1"), Group::Alerts, one, start())
                .is_allowed
        );
        assert!(
            windows
                .count(address("192.0.2.2"), Group::Alerts, one, start())
                .is_allowed
        );
        assert!(
            windows
                .count(address("192.0.2.1"), Group::Stocks, one, start())
                .is_allowed
        );
    }

    #[test]
    fn a_client_with_a_network_of_version_six_has_one_counter() {
        assert_eq!(address("2001:db8:1:2:aaaa::1"), address("2001:db8:1:2:bbbb::2"));
        assert_ne!(address("2001:db8:1:2::1"), address("2001:db8:1:3::1"));
        assert_eq!(address("::ffff:192.0.2.1"), address("192.0.2.1"));
    }

    #[test]
    fn memory_is_bounded_and_known_principals_keep_their_counters() {
        let windows = Windows::new(8);
        let known = address("192.0.2.1");
        windows.count(known, Group::Alerts, TWO, start());
        for host in 0..=255 {
            windows.count(address(&format!("198.51.100.{host}")), Group::Alerts, TWO, start());
        }
        assert!(windows.len() <= 8 + 256, "{}", windows.len());
        assert_eq!(windows.peek(known, Group::Alerts, TWO, start()).rate_limit.remaining, 1);
        let next_hour = start() + HOUR;
        windows.count(address("203.0.113.1"), Group::Alerts, TWO, next_hour);
        assert_eq!(windows.len(), 1, "windows that have ended are forgotten");
    }

    #[test]
    fn a_clock_that_was_set_back_keeps_nobody_out() {
        let windows = Windows::new(8);
        let one = Allowance { requests: 1, ..TWO };
        let tomorrow = start() + SignedDuration::from_hours(24);
        windows.count(address("192.0.2.1"), Group::Alerts, one, tomorrow);
        assert!(
            windows
                .count(address("192.0.2.1"), Group::Alerts, one, start())
                .is_allowed
        );
    }
}
