//! Looking keys up: how often that may fail.
//!
//! Whose a key is, the database has to say, also of one that somebody made up. So the look-ups that find nothing are
//! counted by the client's address, and an address that has had too many of them gets no more until their window ends:
//! guessing costs the database that much and no more. Keys that have been found before, from whichever address, are
//! looked up all the same. So whoever shares an address with somebody who guesses is kept out only if they come for the
//! first time since the start, and only until the window ends.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};

use super::windows::{Allowance, Counted, Principal, Windows};

/// At least so many of the keys that were found last are known again.
const MAX_FAMILIAR: usize = 10_000;

/// Counts look-ups that find nothing.
#[derive(Debug)]
pub struct LookUps {
    failed: Windows<()>,
    allowance: Allowance,
    familiar: Mutex<Familiar>,
    hasher: RandomState,
}

/// Keys that were found, as hashes that nobody else can make; if two are alike, that costs a look-up.
#[derive(Debug, Default)]
struct Familiar {
    young: HashSet<u64>,
    /// Those from before `young` was full last.
    old: HashSet<u64>,
}

impl Familiar {
    fn add(&mut self, key: u64) {
        if self.young.len() >= MAX_FAMILIAR && !self.young.contains(&key) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key);
    }

    fn has(&self, key: u64) -> bool {
        self.young.contains(&key) || self.old.contains(&key)
    }

    fn remove(&mut self, key: u64) {
        self.young.remove(&key);
        self.old.remove(&key);
    }
}

impl LookUps {
    /// None yet. So many may fail a minute from one address; at most `max_tracked` addresses are counted one by one.
    #[must_use]
    pub fn new(failed_per_minute: u32, max_tracked: usize) -> Self {
        Self {
            failed: Windows::new(max_tracked),
            allowance: Allowance {
                requests: failed_per_minute,
                window: SignedDuration::from_mins(1),
            },
            familiar: Mutex::default(),
            hasher: RandomState::new(),
        }
    }

    /// Whether a key that is shown from an address may be looked up.
    ///
    /// # Errors
    /// The window that is used up.
    pub fn admit(&self, key: &str, address: IpAddr, now: Timestamp) -> Result<(), Counted> {
        if self.familiar().has(self.hasher.hash_one(key)) {
            return Ok(());
        }
        let principal = Principal::of_address(address);
        let counted = self.failed.peek(principal, (), self.allowance, now);
        if counted.is_allowed { Ok(()) } else { Err(counted) }
    }

    /// A key was looked up and found.
    pub fn found(&self, key: &str) {
        self.familiar().add(self.hasher.hash_one(key));
    }

    /// A key was looked up and not found.
    pub fn missed(&self, key: &str, address: IpAddr, now: Timestamp) {
        // It may have been deleted.
        self.familiar().remove(self.hasher.hash_one(key));
        let principal = Principal::of_address(address);
        self.failed.count(principal, (), self.allowance, now);
    }

    fn familiar(&self) -> MutexGuard<'_, Familiar> {
        // A panic elsewhere leaves the sets whole: at worst a key is a stranger's again.
        self.familiar.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + seconds).unwrap()
    }

    fn used_up() -> LookUps {
        let look_ups = LookUps::new(2, 100);
        for guess in ["sk_1", "sk_2"] {
            assert!(look_ups.admit(guess, HERE, at(0)).is_ok());
            look_ups.missed(guess, HERE, at(0));
        }
        look_ups
    }

    #[test]
    fn after_the_last_failure_that_is_allowed_nothing_is_looked_up_until_the_window_ends() {
        let look_ups = used_up();
        let refused = look_ups.admit("sk_3", HERE, at(20)).unwrap_err();
        assert_eq!((refused.retry_after_s, refused.rate_limit.limit), (40, 2));
        assert!(look_ups.admit("sk_3", HERE, at(59)).is_err());
        assert!(look_ups.admit("sk_3", HERE, at(60)).is_ok());
        assert!(look_ups.admit("sk_3", THERE, at(20)).is_ok());
    }

    #[test]
    fn what_is_found_costs_nothing_and_is_looked_up_from_anywhere_until_it_is_gone() {
        let look_ups = LookUps::new(2, 100);
        for _ in 0..9 {
            assert!(look_ups.admit("sk_mine", THERE, at(0)).is_ok());
            look_ups.found("sk_mine");
        }
        for _ in 0..2 {
            look_ups.missed("sk_guess", HERE, at(0));
        }
        assert!(look_ups.admit("sk_mine", HERE, at(0)).is_ok());
        look_ups.missed("sk_mine", HERE, at(0));
        assert!(look_ups.admit("sk_mine", HERE, at(0)).is_err());
    }

    #[test]
    fn those_that_were_found_last_are_known_again_and_no_more_than_fit() {
        let mut familiar = Familiar::default();
        let count = MAX_FAMILIAR as u64;
        for key in 0..3 * count {
            familiar.add(key);
        }
        assert!((2 * count..3 * count).all(|key| familiar.has(key)));
        assert!(!familiar.has(0));
        assert!(familiar.young.len() + familiar.old.len() <= 2 * MAX_FAMILIAR);
    }
}
