//! Guessing passwords is made slow, without keeping the owner out.
//!
//! Wrong guesses are counted for each account and client address together, and for each client address. After the first
//! few the next has to wait, twice as long each time. So whoever guesses at somebody's password from elsewhere slows down
//! only themselves. Who guesses from very many addresses is not slowed down by that: so they are also counted for each
//! account, and beyond a hundred in an hour passwords for it are taken only from where somebody has signed in to it by one
//! before. A link by mail signs in whatever was counted.
//!
//! Whether there is such an account plays no part in it. All of this is one process's, and begins anew with it.
//!
//! An attempt is counted before it is judged, so that many at once are counted one by one.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};

use crate::ServiceError;

/// So many wrong guesses at an account from one address cost nothing.
const FREE_PER_ACCOUNT: u32 = 5;
/// So many wrong guesses from one address, at whichever accounts, cost nothing: many people may share an address.
const FREE_PER_ADDRESS: u32 = 50;
/// So many wrong guesses at an account, from whichever addresses, are taken from those that have never been right.
const FREE_FROM_ANYWHERE: u32 = 100;
/// The longest wait.
const LONGEST: SignedDuration = SignedDuration::from_mins(15);
/// Who has guessed nothing for so long begins anew.
const FORGOTTEN_AFTER: SignedDuration = SignedDuration::from_hours(1);
/// So many are counted one by one; of more the longest idle ones are forgotten.
const MAX_COUNTED: usize = 20_000;
/// So many are known to have been right; of more the longest idle ones are forgotten.
const MAX_KNOWN: usize = 20_000;

/// What guesses are counted for: an account's address, hashed, and the client's; or either alone.
type ThrottleKey = (Option<[u8; 16]>, Option<IpAddr>);

#[derive(Clone, Copy, Debug)]
struct Guesses {
    wrong: u32,
    last: Timestamp,
}

/// Counts wrong guesses.
#[derive(Debug, Default)]
pub(crate) struct Throttle(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    guesses: HashMap<ThrottleKey, Guesses>,
    /// Who was right, at which account and from where, and when.
    known: HashMap<ThrottleKey, Timestamp>,
}

impl Throttle {
    /// Counts an attempt, which is a wrong one until the contrary is shown.
    ///
    /// # Errors
    /// [`ServiceError::TooMany`] if it comes too soon; it is not counted then.
    pub(super) fn attempt(&self, email: &str, address: IpAddr, now: Timestamp) -> Result<(), ServiceError> {
        let [pair, alone, anywhere] = throttle_keys(email, address);
        let mut counted = self.lock();
        let at_account = counted.guesses.get(&anywhere).filter(|guesses| is_fresh(guesses, now));
        if let Some(guesses) = at_account.filter(|guesses| guesses.wrong >= FREE_FROM_ANYWHERE)
            && !counted.known.contains_key(&pair)
        {
            let left = FORGOTTEN_AFTER.saturating_sub(now.duration_since(guesses.last));
            return Err(ServiceError::TooMany {
                message: "too many wrong passwords were sent for this address; sign in by a link (type magic_link)"
                    .to_owned(),
                retry_after_s: u64::try_from(left.as_secs()).unwrap_or_default().saturating_add(1),
            });
        }
        let counted = &mut counted.guesses;
        let wait = [(pair, FREE_PER_ACCOUNT), (alone, FREE_PER_ADDRESS)]
            .into_iter()
            .filter_map(|(key, free)| wait(counted.get(&key)?, free, now))
            .max();
        if let Some(wait) = wait {
            let seconds = u64::try_from(wait.as_secs()).unwrap_or_default().saturating_add(1);
            return Err(ServiceError::TooMany {
                message: format!(
                    "too many wrong passwords were sent from here; try again in {seconds} s, or sign in by a link \
                     (type magic_link)"
                ),
                retry_after_s: seconds,
            });
        }
        for key in [pair, alone, anywhere] {
            if counted.len() >= MAX_COUNTED && !counted.contains_key(&key) {
                make_room(counted, now);
            }
            let fresh = Guesses { wrong: 0, last: now };
            let guesses = counted.entry(key).or_insert(fresh);
            if !is_fresh(guesses, now) {
                *guesses = fresh;
            }
            guesses.wrong = guesses.wrong.saturating_add(1);
            guesses.last = now;
        }
        Ok(())
    }

    /// The attempt was right: what was counted for this account from here is forgotten, and of what was counted for the
    /// address, and for the account, this one attempt. So nobody clears an address by signing in to an account of their own.
    pub(super) fn was_right(&self, email: &str, address: IpAddr, now: Timestamp) {
        let [pair, alone, anywhere] = throttle_keys(email, address);
        let mut counted = self.lock();
        counted.guesses.remove(&pair);
        for key in [alone, anywhere] {
            if let Some(guesses) = counted.guesses.get_mut(&key) {
                guesses.wrong = guesses.wrong.saturating_sub(1);
            }
        }
        if counted.known.len() >= MAX_KNOWN && !counted.known.contains_key(&pair) {
            let until = tenth(counted.known.values().copied());
            counted.known.retain(|_, last| *last > until);
        }
        counted.known.insert(pair, now);
    }

    /// The attempt could not be judged: it counts for nothing.
    pub(super) fn was_not_judged(&self, email: &str, address: IpAddr) {
        let mut counted = self.lock();
        for key in throttle_keys(email, address) {
            if let Some(guesses) = counted.guesses.get_mut(&key) {
                guesses.wrong = guesses.wrong.saturating_sub(1);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        // A panic elsewhere leaves the map whole: at worst a guess is counted once too little.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whose address it is: one client has a whole network of version 6.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    const HOST_BITS: u32 = 64;
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() >> HOST_BITS << HOST_BITS).into()),
        v4 @ IpAddr::V4(_) => v4,
    }
}

fn throttle_keys(email: &str, address: IpAddr) -> [ThrottleKey; 3] {
    let address = network(address);
    let mut short = [0; 16];
    short.copy_from_slice(&Sha256::digest(email.as_bytes())[..16]);
    [(Some(short), Some(address)), (None, Some(address)), (Some(short), None)]
}

/// Whether it still counts. A clock that was set back makes nothing last longer.
fn is_fresh(guesses: &Guesses, now: Timestamp) -> bool {
    guesses.last <= now && now.duration_since(guesses.last) < FORGOTTEN_AFTER
}

/// How long whoever has guessed so has to wait yet.
fn wait(guesses: &Guesses, free: u32, now: Timestamp) -> Option<SignedDuration> {
    if !is_fresh(guesses, now) || guesses.wrong < free {
        return None;
    }
    // 1 s after the free ones, then 2 s, 4 s and so on; 2^10 s are more than the longest wait.
    let seconds = 1_i64 << (guesses.wrong - free).min(10);
    let whole = SignedDuration::from_secs(seconds).min(LONGEST);
    let left = whole.saturating_sub(now.duration_since(guesses.last));
    left.is_positive().then_some(left)
}

fn make_room(counted: &mut HashMap<ThrottleKey, Guesses>, now: Timestamp) {
    counted.retain(|_, guesses| is_fresh(guesses, now));
    if counted.len() < MAX_COUNTED {
        return;
    }
    let until = tenth(counted.values().map(|guesses| guesses.last));
    counted.retain(|_, guesses| guesses.last > until);
}

/// By when the longest idle tenth was seen last. So many are forgotten at once, because looking for them takes long.
fn tenth(lasts: impl Iterator<Item = Timestamp>) -> Timestamp {
    let mut lasts: Vec<_> = lasts.collect();
    let tenth = lasts.len() / 10;
    let (_, until, _) = lasts.select_nth_unstable(tenth);
    *until
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + seconds).unwrap()
    }

    const HERE: &str = "192.0.2.1";
    const ELSEWHERE: &str = "192.0.2.2";

    fn may(throttle: &Throttle, email: &str, address: &str, seconds: i64) -> bool {
        throttle.attempt(email, address.parse().unwrap(), at(seconds)).is_ok()
    }

    fn wait_of(throttle: &Throttle, seconds: i64) -> u64 {
        match throttle.attempt("ann", HERE.parse().unwrap(), at(seconds)) {
            Err(ServiceError::TooMany { retry_after_s, .. }) => retry_after_s,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn after_five_wrong_guesses_the_next_ones_wait_twice_as_long_each_time() {
        let throttle = Throttle::default();
        for _ in 0..5 {
            assert!(may(&throttle, "ann", HERE, 0));
        }
        assert!(!may(&throttle, "ann", HERE, 0));
        assert!(may(&throttle, "ann", HERE, 1));
        assert!(!may(&throttle, "ann", HERE, 2) && may(&throttle, "ann", HERE, 3));
        assert!(!may(&throttle, "ann", HERE, 6) && may(&throttle, "ann", HERE, 7));
        assert_eq!(wait_of(&throttle, 7), 9);
    }

    #[test]
    fn nobody_waits_for_longer_than_a_quarter_of_an_hour() {
        let throttle = Throttle::default();
        let mut now = 0;
        for _ in 0..30 {
            while !may(&throttle, "ann", HERE, now) {
                now += 1;
            }
        }
        assert!(wait_of(&throttle, now) <= 15 * 60 + 1);
        assert!(may(&throttle, "ann", HERE, now + 15 * 60));
    }

    #[test]
    fn whoever_guesses_from_elsewhere_keeps_the_owner_out_neither_here_nor_at_other_accounts() {
        let throttle = Throttle::default();
        while may(&throttle, "ann", ELSEWHERE, 0) {}
        assert!(may(&throttle, "ann", HERE, 0));
        assert!(may(&throttle, "bob", ELSEWHERE, 0));
    }

    #[test]
    fn guessing_at_many_accounts_from_one_address_comes_to_its_end_and_an_own_account_does_not_clear_it() {
        let throttle = Throttle::default();
        let here = HERE.parse().unwrap();
        for account in 0..50 {
            assert!(may(&throttle, &format!("{account}"), HERE, 0), "{account}");
        }
        assert!(!may(&throttle, "another", HERE, 0));
        throttle.attempt("own", here, at(1)).unwrap();
        throttle.was_right("own", here, at(1));
        assert!(!may(&throttle, "another", HERE, 1));
    }

    #[test]
    fn guessing_from_everywhere_comes_to_its_end_but_not_for_whoever_was_right_before() {
        let throttle = Throttle::default();
        throttle.attempt("ann", HERE.parse().unwrap(), at(0)).unwrap();
        throttle.was_right("ann", HERE.parse().unwrap(), at(0));
        let from = |number: u32| IpAddr::V4(std::net::Ipv4Addr::from(0x0a00_0000 + number));
        for number in 0..100 {
            throttle.attempt("ann", from(number), at(1)).unwrap();
        }
        assert!(throttle.attempt("ann", from(100), at(2)).is_err());
        assert!(may(&throttle, "ann", HERE, 2), "it was right before");
        throttle.attempt("bob", from(100), at(2)).unwrap();
        // What is refused is not counted, so an hour after the last that was not it begins anew.
        assert!(throttle.attempt("ann", from(101), at(3601)).is_err());
        throttle.attempt("ann", from(101), at(3602)).unwrap();
    }

    #[test]
    fn a_right_password_begins_anew_and_what_was_not_judged_counts_for_nothing() {
        let throttle = Throttle::default();
        let here = HERE.parse().unwrap();
        for _ in 0..4 {
            assert!(may(&throttle, "ann", HERE, 0));
        }
        throttle.was_right("ann", here, at(0));
        for _ in 0..20 {
            assert!(may(&throttle, "ann", HERE, 0));
            throttle.was_not_judged("ann", here);
        }
    }

    #[test]
    fn an_hour_of_quiet_is_forgotten_and_so_is_a_clock_that_was_set_back() {
        let throttle = Throttle::default();
        for _ in 0..5 {
            assert!(may(&throttle, "ann", HERE, 0));
        }
        assert!(may(&throttle, "ann", HERE, -1));
        let throttle = Throttle::default();
        while may(&throttle, "ann", HERE, 0) {}
        for _ in 0..5 {
            assert!(may(&throttle, "ann", HERE, 3600));
        }
    }

    #[test]
    fn a_client_of_version_6_is_its_network_and_memory_is_bounded() {
        let throttle = Throttle::default();
        for host in 0..5 {
            assert!(may(&throttle, "ann", &format!("2001:db8::{host}"), 0));
        }
        assert!(!may(&throttle, "ann", "2001:db8::ffff", 0));
        for number in 0_u32..25_000 {
            let address = IpAddr::V4(std::net::Ipv4Addr::from(number));
            let account = format!("{}", number / 50);
            throttle
                .attempt(&account, address, at(i64::from(number) / 100))
                .unwrap();
        }
        assert!(throttle.lock().guesses.len() <= MAX_COUNTED);
        for number in 0_u32..25_000 {
            let address = IpAddr::V4(std::net::Ipv4Addr::from(number));
            throttle.was_right("ann", address, at(i64::from(number)));
        }
        assert!(throttle.lock().known.len() <= MAX_KNOWN);
    }
}
