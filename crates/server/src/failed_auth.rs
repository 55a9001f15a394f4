//! A limit for failed authentications, which protects the database from guessed keys.
//!
//! Each unknown key costs a database look-up. Failed look-ups are counted by the client's address. An address over the limit
//! gets no more look-ups until its window ends. Keys that were valid before, from any address, are exempt. So a user who
//! shares an address with an attacker is blocked only on the first use since the start, and only until the window ends.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};

use crate::fixed_window::{FixedWindows, Principal, RateLimitDecision, WindowLimit};

/// The minimum number of recently valid keys that are remembered.
const MAX_RECENT_KEYS: usize = 10_000;

/// Limits failed authentications by client address.
#[derive(Debug)]
pub struct FailedAuthLimiter {
    failed: FixedWindows<()>,
    window_limit: WindowLimit,
    recent_keys: Mutex<RecentKeys>,
    hasher: RandomState,
}

/// Recently valid keys, as keyed hashes. A hash collision costs one look-up.
#[derive(Debug, Default)]
struct RecentKeys {
    newer: HashSet<u64>,
    /// The keys from before `newer` was last full.
    older: HashSet<u64>,
}

impl RecentKeys {
    fn add(&mut self, key: u64) {
        if self.newer.len() >= MAX_RECENT_KEYS && !self.newer.contains(&key) {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(key);
    }

    fn has(&self, key: u64) -> bool {
        self.newer.contains(&key) || self.older.contains(&key)
    }

    fn remove(&mut self, key: u64) {
        self.newer.remove(&key);
        self.older.remove(&key);
    }
}

impl FailedAuthLimiter {
    /// Creates a limiter of `failed_per_minute` failures from one address, with at most `max_tracked` separate counters.
    #[must_use]
    pub fn new(failed_per_minute: u32, max_tracked: usize) -> Self {
        Self {
            failed: FixedWindows::new(max_tracked),
            window_limit: WindowLimit {
                requests: failed_per_minute,
                window: SignedDuration::from_mins(1),
            },
            recent_keys: Mutex::default(),
            hasher: RandomState::new(),
        }
    }

    /// Checks whether a key from an address may be looked up.
    ///
    /// # Errors
    /// The decision of the window whose limit is exceeded.
    pub fn check(&self, key: &str, address: IpAddr, now: Timestamp) -> Result<(), RateLimitDecision> {
        if self.recent_keys().has(self.hasher.hash_one(key)) {
            return Ok(());
        }
        let principal = Principal::of_address(address);
        let decision = self.failed.peek(principal, (), self.window_limit, now);
        if decision.is_allowed { Ok(()) } else { Err(decision) }
    }

    /// Records that a key is valid.
    pub fn record_success(&self, key: &str) {
        self.recent_keys().add(self.hasher.hash_one(key));
    }

    /// Records that a key is unknown, and counts the failure.
    pub fn record_failure(&self, key: &str, address: IpAddr, now: Timestamp) {
        // The key may have been deleted.
        self.recent_keys().remove(self.hasher.hash_one(key));
        let principal = Principal::of_address(address);
        self.failed.count(principal, (), self.window_limit, now);
    }

    fn recent_keys(&self) -> MutexGuard<'_, RecentKeys> {
        // A panic elsewhere leaves the sets usable: at worst a key is forgotten.
        self.recent_keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const OTHER_ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + seconds).unwrap()
    }

    fn exhausted_limiter() -> FailedAuthLimiter {
        let limiter = FailedAuthLimiter::new(2, 100);
        for guess in ["sk_1", "sk_2"] {
            assert!(limiter.check(guess, ADDRESS, at(0)).is_ok());
            limiter.record_failure(guess, ADDRESS, at(0));
        }
        limiter
    }

    #[test]
    fn exhausted_address_is_blocked_until_the_window_ends() {
        let limiter = exhausted_limiter();
        let refused = limiter.check("sk_3", ADDRESS, at(20)).unwrap_err();
        assert_eq!((refused.retry_after_s, refused.rate_limit.limit), (40, 2));
        assert!(limiter.check("sk_3", ADDRESS, at(59)).is_err());
        assert!(limiter.check("sk_3", ADDRESS, at(60)).is_ok());
        assert!(limiter.check("sk_3", OTHER_ADDRESS, at(20)).is_ok());
    }

    #[test]
    fn valid_key_is_exempt_until_it_is_deleted() {
        let limiter = FailedAuthLimiter::new(2, 100);
        for _ in 0..9 {
            assert!(limiter.check("sk_mine", OTHER_ADDRESS, at(0)).is_ok());
            limiter.record_success("sk_mine");
        }
        for _ in 0..2 {
            limiter.record_failure("sk_guess", ADDRESS, at(0));
        }
        assert!(limiter.check("sk_mine", ADDRESS, at(0)).is_ok());
        limiter.record_failure("sk_mine", ADDRESS, at(0));
        assert!(limiter.check("sk_mine", ADDRESS, at(0)).is_err());
    }

    #[test]
    fn recent_keys_are_remembered_up_to_the_bound() {
        let mut recent_keys = RecentKeys::default();
        let count = MAX_RECENT_KEYS as u64;
        for key in 0..3 * count {
            recent_keys.add(key);
        }
        assert!((2 * count..3 * count).all(|key| recent_keys.has(key)));
        assert!(!recent_keys.has(0));
        assert!(recent_keys.newer.len() + recent_keys.older.len() <= 2 * MAX_RECENT_KEYS);
    }
}
