//! A limit for failed authentications, which protects the database from guessed keys.
//!
//! Each unknown key costs a database look-up. Failed look-ups are counted by the client's address. An address over the limit
//! gets no more look-ups until its window ends. Keys that were valid before, from any address, are exempt. So a user who
//! shares an address with an attacker is blocked only on the first use since the start, and only until the window ends.
//!
//! If several processes use the database, the limit holds for all of them together. A look-up is then counted before it begins, and
//! the count is given back unless the key is unknown.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foundation::{LimitKey, ServiceError, SharedDecision, SharedLimit, SharedLimiter};
use jiff::{SignedDuration, Timestamp};

use crate::fixed_window::{FixedWindows, Principal, RateLimitDecision, WindowLimit};
use crate::request_windows::{limit_key, rate_limit_decision};

/// The minimum number of recently valid keys that are remembered.
const MAX_RECENT_KEYS: usize = 10_000;

/// Limits failed authentications by client address.
#[derive(Debug)]
pub struct FailedAuthLimiter {
    kind: &'static str,
    failed: FixedWindows<()>,
    /// `None` if this is the only process on the database.
    shared: Option<Arc<SharedLimiter>>,
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

/// Permission to look up a key. It ends by [`FailedAuthLimiter::record_success`], [`FailedAuthLimiter::record_failure`] or
/// [`FailedAuthLimiter::cancel`].
#[derive(Debug)]
pub struct LookupPermit {
    /// The count at the limit that processes share.
    counted: Option<(LimitKey, SharedDecision)>,
}

/// The reason why a key is not looked up.
#[derive(Debug)]
pub enum LookupError {
    /// The limit of the window is exceeded.
    LimitExceeded(RateLimitDecision),
    /// The limit is shared with other processes, and the database failed.
    Storage(ServiceError),
}

impl FailedAuthLimiter {
    /// Creates a limiter of `failed_per_minute` failures from one address, with at most `max_tracked` separate counters. `shared` has
    /// the limits of all processes on the database, if there are several; `kind` is the name of this limit there.
    #[must_use]
    pub fn new(
        kind: &'static str,
        failed_per_minute: u32,
        max_tracked: usize,
        shared: Option<Arc<SharedLimiter>>,
    ) -> Self {
        Self {
            kind,
            shared,
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
    /// [`LookupError`]
    pub async fn check(&self, key: &str, address: IpAddr, now: Timestamp) -> Result<LookupPermit, LookupError> {
        if self.recent_keys().has(self.hasher.hash_one(key)) {
            return Ok(LookupPermit { counted: None });
        }
        let principal = Principal::of_address(address);
        let Some(shared) = &self.shared else {
            let decision = self.failed.peek(principal, (), self.window_limit, now);
            return match decision.is_allowed {
                true => Ok(LookupPermit { counted: None }),
                false => Err(LookupError::LimitExceeded(decision)),
            };
        };
        let limit_key = limit_key(self.kind, principal);
        match shared.count(limit_key, self.shared_limit(), now).await {
            Ok(decision) if decision.is_allowed => Ok(LookupPermit {
                counted: Some((limit_key, decision)),
            }),
            Ok(decision) => {
                let decision = rate_limit_decision(self.window_limit, decision);
                Err(LookupError::LimitExceeded(decision))
            }
            Err(error) => Err(LookupError::Storage(error.into())),
        }
    }

    /// Records that a key is valid.
    pub async fn record_success(&self, key: &str, permit: LookupPermit, now: Timestamp) {
        self.recent_keys().add(self.hasher.hash_one(key));
        self.cancel(permit, now).await;
    }

    /// Records that a key is unknown, and counts the failure.
    pub async fn record_failure(&self, key: &str, permit: LookupPermit, address: IpAddr, now: Timestamp) {
        // The key may have been deleted.
        self.recent_keys().remove(self.hasher.hash_one(key));
        let principal = Principal::of_address(address);
        match &self.shared {
            None => drop(self.failed.count(principal, (), self.window_limit, now)),
            Some(_) if permit.counted.is_some() => {}
            Some(shared) => {
                let limit_key = limit_key(self.kind, principal);
                if let Err(error) = shared.count(limit_key, self.shared_limit(), now).await {
                    tracing::warn!(%error, "a failed authentication could not be counted");
                }
            }
        }
    }

    /// Records that a look-up was neither a success nor a failure.
    pub async fn cancel(&self, permit: LookupPermit, now: Timestamp) {
        if let (Some(shared), Some((limit_key, counted))) = (&self.shared, permit.counted) {
            shared.give_back(limit_key, counted, now).await;
        }
    }

    const fn shared_limit(&self) -> SharedLimit {
        SharedLimit::in_chunks(self.window_limit.requests, self.window_limit.window)
    }

    fn recent_keys(&self) -> MutexGuard<'_, RecentKeys> {
        // A panic elsewhere leaves the sets usable: at worst a key is forgotten.
        self.recent_keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use store::{Store, StoreOptions};
    use testkit::on_both_databases;

    use super::*;

    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const OTHER_ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + seconds).unwrap()
    }

    fn limiter() -> FailedAuthLimiter {
        FailedAuthLimiter::new("look_ups", 2, 100, None)
    }

    async fn fail(limiter: &FailedAuthLimiter, key: &str, seconds: i64) -> bool {
        let Ok(permit) = limiter.check(key, ADDRESS, at(seconds)).await else {
            return false;
        };
        limiter.record_failure(key, permit, ADDRESS, at(seconds)).await;
        true
    }

    async fn is_allowed(limiter: &FailedAuthLimiter, key: &str, address: IpAddr, seconds: i64) -> bool {
        limiter.check(key, address, at(seconds)).await.is_ok()
    }

    #[tokio::test]
    async fn exhausted_address_is_blocked_until_the_window_ends() {
        let limiter = limiter();
        assert!(fail(&limiter, "sk_1", 0).await && fail(&limiter, "sk_2", 0).await);
        let Err(LookupError::LimitExceeded(refused)) = limiter.check("sk_3", ADDRESS, at(20)).await else {
            panic!("it is allowed");
        };
        assert_eq!((refused.retry_after_s, refused.rate_limit.limit), (40, 2));
        assert!(!is_allowed(&limiter, "sk_3", ADDRESS, 59).await);
        assert!(is_allowed(&limiter, "sk_3", ADDRESS, 60).await);
        assert!(is_allowed(&limiter, "sk_3", OTHER_ADDRESS, 20).await);
    }

    #[tokio::test]
    async fn valid_key_is_exempt_until_it_is_deleted() {
        let limiter = limiter();
        for _ in 0..9 {
            let permit = limiter.check("sk_mine", OTHER_ADDRESS, at(0)).await.unwrap();
            limiter.record_success("sk_mine", permit, at(0)).await;
        }
        assert!(fail(&limiter, "sk_1", 0).await && fail(&limiter, "sk_2", 0).await);
        assert!(fail(&limiter, "sk_mine", 0).await);
        assert!(!is_allowed(&limiter, "sk_mine", ADDRESS, 0).await);
    }

    on_both_databases! {
        async fn unknown_keys_at_two_processes_count_together(database) {
            let process = async || {
                let store = Store::open(StoreOptions::new(database.url())).await.unwrap();
                let shared = SharedLimiter::new(&store, 100).map(Arc::new);
                FailedAuthLimiter::new("look_ups", 2, 100, shared)
            };
            let (first, second) = (process().await, process().await);
            // Valid keys leave the limit as it is.
            for key in 0..9 {
                let key = format!("sk_{key}");
                let permit = first.check(&key, ADDRESS, at(0)).await.unwrap();
                first.record_success(&key, permit, at(0)).await;
            }
            assert!(fail(&first, "sk_a", 0).await && fail(&second, "sk_b", 0).await);
            let is_shared = database.is_postgres();
            assert_eq!(fail(&second, "sk_c", 0).await, !is_shared);
            assert_eq!(fail(&first, "sk_c", 0).await, !is_shared);
            assert!(is_allowed(&first, "sk_0", ADDRESS, 0).await);
        }
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
