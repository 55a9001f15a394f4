//! Slows down password guessing without locking out the owner.
//!
//! Failed attempts are counted per account and client address, and per client address. After the first few, each
//! further attempt must wait twice as long. So an attacker slows down only their own address. Attackers with many
//! addresses avoid that limit, so attempts are also counted per account: after 100 in an hour, passwords for the
//! account are accepted only from addresses that have signed in to it by password before. Email links are not limited
//! by these counts.
//!
//! Whether the account exists makes no difference. The counts are kept in memory, per process. The rate limit of log-ins, which all
//! processes share, bounds the attempts from one address.
//!
//! An attempt is counted before the password is verified, so that concurrent attempts are all counted.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};

use foundation::ServiceError;

/// Failed attempts per account and address before waits begin.
const FREE_ATTEMPTS_PER_ACCOUNT_AND_ADDRESS: u32 = 5;
/// Failed attempts per address, over all accounts, before waits begin. Many people may share an address.
const FREE_ATTEMPTS_PER_ADDRESS: u32 = 50;
/// Failed attempts per account, over all addresses, before only trusted addresses may try.
const FREE_ATTEMPTS_PER_ACCOUNT: u32 = 100;
/// Maximum wait.
const MAX_WAIT: SignedDuration = SignedDuration::from_mins(15);
/// Counts are reset after this time without an attempt.
const COUNT_RETENTION: SignedDuration = SignedDuration::from_hours(1);
/// Maximum number of counted keys. Beyond it, the ones idle for longest are removed.
const MAX_COUNTED_KEYS: usize = 20_000;
/// Maximum number of trusted keys. Beyond it, the ones idle for longest are removed.
const MAX_TRUSTED_KEYS: usize = 20_000;

/// Key of a count: the hashed email address and the client address, or either alone.
type ThrottleKey = (Option<[u8; 16]>, Option<IpAddr>);

#[derive(Clone, Copy, Debug)]
struct FailedAttempts {
    wrong: u32,
    last: Timestamp,
}

/// Counts failed sign-in attempts.
#[derive(Debug, Default)]
pub(crate) struct SignInThrottle(Mutex<ThrottleState>);

#[derive(Debug, Default)]
struct ThrottleState {
    attempts: HashMap<ThrottleKey, FailedAttempts>,
    /// Account and address pairs that have signed in by password, with the time of the last sign-in.
    trusted: HashMap<ThrottleKey, Timestamp>,
}

impl SignInThrottle {
    /// Counts an attempt as failed until its result is known.
    ///
    /// # Errors
    /// [`ServiceError::RateLimited`] if it comes too soon; it is not counted then.
    pub(super) fn attempt(&self, email: &str, address: IpAddr, now: Timestamp) -> Result<(), ServiceError> {
        let [pair, alone, anywhere] = throttle_keys(email, address);
        let mut state = self.lock();
        let at_account = state.attempts.get(&anywhere).filter(|attempts| is_fresh(attempts, now));
        if let Some(attempts) = at_account.filter(|attempts| attempts.wrong >= FREE_ATTEMPTS_PER_ACCOUNT)
            && !state.trusted.contains_key(&pair)
        {
            let left = COUNT_RETENTION.saturating_sub(now.duration_since(attempts.last));
            return Err(ServiceError::RateLimited {
                message: "too many wrong passwords for this address; sign in by link (type magic_link)".to_owned(),
                retry_after_s: u64::try_from(left.as_secs()).unwrap_or_default().saturating_add(1),
            });
        }
        let counted = &mut state.attempts;
        let wait = [
            (pair, FREE_ATTEMPTS_PER_ACCOUNT_AND_ADDRESS),
            (alone, FREE_ATTEMPTS_PER_ADDRESS),
        ]
        .into_iter()
        .filter_map(|(key, free)| wait(counted.get(&key)?, free, now))
        .max();
        if let Some(wait) = wait {
            let seconds = u64::try_from(wait.as_secs()).unwrap_or_default().saturating_add(1);
            return Err(ServiceError::RateLimited {
                message: format!(
                    "too many wrong passwords from this network; try again in {seconds} s, or sign in by link (type magic_link)"
                ),
                retry_after_s: seconds,
            });
        }
        for key in [pair, alone, anywhere] {
            if counted.len() >= MAX_COUNTED_KEYS && !counted.contains_key(&key) {
                evict(counted, now);
            }
            let fresh = FailedAttempts { wrong: 0, last: now };
            let attempts = counted.entry(key).or_insert(fresh);
            if !is_fresh(attempts, now) {
                *attempts = fresh;
            }
            attempts.wrong = attempts.wrong.saturating_add(1);
            attempts.last = now;
        }
        Ok(())
    }

    /// Records a successful attempt. Clears the count of this account and address, and takes this one attempt off the
    /// counts of the address and of the account. So signing in to an own account does not clear the count of an
    /// address.
    pub(super) fn record_success(&self, email: &str, address: IpAddr, now: Timestamp) {
        let [pair, alone, anywhere] = throttle_keys(email, address);
        let mut state = self.lock();
        state.attempts.remove(&pair);
        for key in [alone, anywhere] {
            if let Some(attempts) = state.attempts.get_mut(&key) {
                attempts.wrong = attempts.wrong.saturating_sub(1);
            }
        }
        if state.trusted.len() >= MAX_TRUSTED_KEYS && !state.trusted.contains_key(&pair) {
            let until = oldest_tenth(state.trusted.values().copied());
            state.trusted.retain(|_, last| *last > until);
        }
        state.trusted.insert(pair, now);
    }

    /// Takes back an attempt whose password could not be verified.
    pub(super) fn cancel_attempt(&self, email: &str, address: IpAddr) {
        let mut state = self.lock();
        for key in throttle_keys(email, address) {
            if let Some(attempts) = state.attempts.get_mut(&key) {
                attempts.wrong = attempts.wrong.saturating_sub(1);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, ThrottleState> {
        // A panic elsewhere leaves the map consistent: at worst, one attempt is not counted.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the network of a client: an IPv4 address, or the /64 prefix of an IPv6 address.
pub(crate) fn client_network(address: IpAddr) -> IpAddr {
    const HOST_BITS: u32 = 64;
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() >> HOST_BITS << HOST_BITS).into()),
        v4 @ IpAddr::V4(_) => v4,
    }
}

fn throttle_keys(email: &str, address: IpAddr) -> [ThrottleKey; 3] {
    let address = client_network(address);
    let mut short = [0; 16];
    short.copy_from_slice(&Sha256::digest(email.as_bytes())[..16]);
    [(Some(short), Some(address)), (None, Some(address)), (Some(short), None)]
}

/// Returns whether a count is still valid. A clock that was set back does not extend it.
fn is_fresh(attempts: &FailedAttempts, now: Timestamp) -> bool {
    attempts.last <= now && now.duration_since(attempts.last) < COUNT_RETENTION
}

/// Returns the remaining wait.
fn wait(attempts: &FailedAttempts, free: u32, now: Timestamp) -> Option<SignedDuration> {
    if !is_fresh(attempts, now) || attempts.wrong < free {
        return None;
    }
    // Doubles from 1 s; 2^10 s is more than the maximum wait.
    let seconds = 1_i64 << (attempts.wrong - free).min(10);
    let whole = SignedDuration::from_secs(seconds).min(MAX_WAIT);
    let left = whole.saturating_sub(now.duration_since(attempts.last));
    left.is_positive().then_some(left)
}

fn evict(counted: &mut HashMap<ThrottleKey, FailedAttempts>, now: Timestamp) {
    counted.retain(|_, attempts| is_fresh(attempts, now));
    if counted.len() < MAX_COUNTED_KEYS {
        return;
    }
    let until = oldest_tenth(counted.values().map(|attempts| attempts.last));
    counted.retain(|_, attempts| attempts.last > until);
}

/// Returns the last use of the oldest tenth. A tenth is removed at once, because the search is slow.
fn oldest_tenth(lasts: impl Iterator<Item = Timestamp>) -> Timestamp {
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

    fn may(throttle: &SignInThrottle, email: &str, address: &str, seconds: i64) -> bool {
        throttle.attempt(email, address.parse().unwrap(), at(seconds)).is_ok()
    }

    fn wait_of(throttle: &SignInThrottle, seconds: i64) -> u64 {
        match throttle.attempt("ann", HERE.parse().unwrap(), at(seconds)) {
            Err(ServiceError::RateLimited { retry_after_s, .. }) => retry_after_s,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn wait_doubles_after_five_failed_attempts() {
        let throttle = SignInThrottle::default();
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
    fn wait_is_at_most_fifteen_minutes() {
        let throttle = SignInThrottle::default();
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
    fn attempts_from_another_address_do_not_block_the_owner() {
        let throttle = SignInThrottle::default();
        while may(&throttle, "ann", ELSEWHERE, 0) {}
        assert!(may(&throttle, "ann", HERE, 0));
        assert!(may(&throttle, "bob", ELSEWHERE, 0));
    }

    #[test]
    fn attempts_at_many_accounts_are_limited_per_address() {
        let throttle = SignInThrottle::default();
        let here = HERE.parse().unwrap();
        for account in 0..50 {
            assert!(may(&throttle, &format!("{account}"), HERE, 0), "{account}");
        }
        assert!(!may(&throttle, "another", HERE, 0));
        throttle.attempt("own", here, at(1)).unwrap();
        throttle.record_success("own", here, at(1));
        assert!(!may(&throttle, "another", HERE, 1));
    }

    #[test]
    fn attempts_from_many_addresses_are_limited_except_trusted_ones() {
        let throttle = SignInThrottle::default();
        throttle.attempt("ann", HERE.parse().unwrap(), at(0)).unwrap();
        throttle.record_success("ann", HERE.parse().unwrap(), at(0));
        let from = |number: u32| IpAddr::V4(std::net::Ipv4Addr::from(0x0a00_0000 + number));
        for number in 0..100 {
            throttle.attempt("ann", from(number), at(1)).unwrap();
        }
        assert!(throttle.attempt("ann", from(100), at(2)).is_err());
        assert!(may(&throttle, "ann", HERE, 2), "it was right before");
        throttle.attempt("bob", from(100), at(2)).unwrap();
        // Rejected attempts are not counted, so the count is reset an hour after the last counted attempt.
        assert!(throttle.attempt("ann", from(101), at(3601)).is_err());
        throttle.attempt("ann", from(101), at(3602)).unwrap();
    }

    #[test]
    fn success_clears_count_and_cancelled_attempts_do_not_count() {
        let throttle = SignInThrottle::default();
        let here = HERE.parse().unwrap();
        for _ in 0..4 {
            assert!(may(&throttle, "ann", HERE, 0));
        }
        throttle.record_success("ann", here, at(0));
        for _ in 0..20 {
            assert!(may(&throttle, "ann", HERE, 0));
            throttle.cancel_attempt("ann", here);
        }
    }

    #[test]
    fn counts_reset_after_an_hour_or_when_the_clock_is_set_back() {
        let throttle = SignInThrottle::default();
        for _ in 0..5 {
            assert!(may(&throttle, "ann", HERE, 0));
        }
        assert!(may(&throttle, "ann", HERE, -1));
        let throttle = SignInThrottle::default();
        while may(&throttle, "ann", HERE, 0) {}
        for _ in 0..5 {
            assert!(may(&throttle, "ann", HERE, 3600));
        }
    }

    #[test]
    fn ipv6_clients_are_counted_by_network_and_memory_is_bounded() {
        let throttle = SignInThrottle::default();
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
        assert!(throttle.lock().attempts.len() <= MAX_COUNTED_KEYS);
        for number in 0_u32..25_000 {
            let address = IpAddr::V4(std::net::Ipv4Addr::from(number));
            throttle.record_success("ann", address, at(i64::from(number)));
        }
        assert!(throttle.lock().trusted.len() <= MAX_TRUSTED_KEYS);
    }
}
