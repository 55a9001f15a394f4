//! Cache of authenticated credentials, so that most requests need no database query for authentication.
//!
//! An API key, a session or an OAuth access token that was found is valid for a short time without another query: [`SHARED_TTL`] on
//! a database that other processes may use, else [`SINGLE_PROCESS_TTL`]. Changes by this process take effect at once. Changes by
//! other processes (a revocation, a deactivation, another plan or password) take effect after that time, so a revoked credential
//! is refused everywhere within a second. Unknown credentials are not cached: guesses would evict valid entries.
//!
//! The age of an entry is counted from before its query, so the entry never outlives a change by more than its lifetime. It is
//! measured by the uptime and by the clock, and the longer of the two counts: neither a clock that is set back nor a machine that
//! was suspended extends it. If the database cannot be reached, the entry expires all the same, and the request fails.
//!
//! A short lifetime was preferred to a counter of changes that each process polls. The counter would have to be incremented in
//! each transaction that changes a credential or an account, and a transaction that forgets it would go unnoticed; the age
//! of the last poll would be a second bound to check. The lifetime costs one query by a unique index for each credential and
//! lifetime, and never more than one for each request, which queries the database at least once anyway.

use foundation::Actor;
use foundation::AuthMethod;
use std::sync::{Mutex, MutexGuard, PoisonError};

use clock::{Clock, ClockReading};
use hashbrown::HashMap;
use jiff::{SignedDuration, Timestamp};
use store::Store;
use store::model::{AccountId, SessionClient, UserSession};
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::authenticate::expiry;
use super::hashing::HashingPool;

/// Lifetime of an entry if other processes may use the database. The rest of the second is for requests that are waiting.
const SHARED_TTL: SignedDuration = SignedDuration::from_millis(800);
/// Lifetime of an entry if this is the only process on the database.
const SINGLE_PROCESS_TTL: SignedDuration = SignedDuration::from_secs(5);
/// Maximum number of cache entries.
const MAX_CACHED_CREDENTIALS: usize = 10_000;
/// Minimum time between two recordings of the same credential's use, in seconds.
const USE_RECORD_INTERVAL_SECONDS: i64 = 60;

/// SHA-256 of an API key, a cookie, an app's access token, or a session's id.
pub(crate) type CredentialHash = [u8; 32];

/// Cache of authenticated credentials, with the background tasks that record their use.
#[derive(Debug)]
pub(crate) struct CredentialCache {
    state: Mutex<CacheState>,
    ttl: SignedDuration,
    pub(super) hashing: HashingPool,
    tasks: TaskTracker,
}

#[derive(Debug, Default)]
struct CacheState {
    /// The actors, each with the time before its lookup.
    actors: HashMap<CredentialHash, (Actor, ClockReading)>,
    /// Time of the last recorded use, by API key or grant.
    recorded_uses: HashMap<Uuid, Timestamp>,
    /// Number of invalidations. A lookup that began before an invalidation is not cached.
    generation: u64,
}

/// The time and the generation of the cache at the start of a lookup.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CacheLookup {
    began: ClockReading,
    generation: u64,
}

impl CredentialCache {
    /// Creates an empty cache. `is_shared` is whether other processes may use the database.
    pub(crate) fn new(is_shared: bool) -> Self {
        Self {
            state: Mutex::default(),
            ttl: if is_shared { SHARED_TTL } else { SINGLE_PROCESS_TTL },
            hashing: HashingPool::default(),
            tasks: TaskTracker::new(),
        }
    }

    /// Returns the cached actor of a credential.
    pub(crate) fn get(&self, hash: &CredentialHash, clock: &dyn Clock) -> Option<Actor> {
        let now = ClockReading::of(clock);
        let state = self.state();
        let (actor, began) = state.actors.get(hash)?;
        is_younger(*began, now, self.ttl).then(|| actor.clone())
    }

    /// Begins a lookup. Call it before the query, and pass the result to [`insert`](Self::insert).
    pub(crate) fn begin_lookup(&self, clock: &dyn Clock) -> CacheLookup {
        CacheLookup {
            began: ClockReading::of(clock),
            generation: self.state().generation,
        }
    }

    /// Caches the actor of a credential, unless the cache was invalidated since the lookup began.
    pub(crate) fn insert(&self, hash: CredentialHash, actor: &Actor, lookup: CacheLookup) {
        let CacheLookup { began, generation } = lookup;
        let mut state = self.state();
        if state.generation != generation {
            return;
        }
        if state.actors.len() >= MAX_CACHED_CREDENTIALS {
            state.actors.retain(|_, (_, at)| is_younger(*at, began, self.ttl));
        }
        if state.actors.len() < MAX_CACHED_CREDENTIALS {
            state.actors.insert(hash, (actor.clone(), began));
        }
    }

    /// Removes the entries of an account, because the account or one of its credentials has changed.
    pub(crate) fn invalidate(&self, account: AccountId) {
        let mut state = self.state();
        state.generation += 1;
        state.actors.retain(|_, (actor, _)| actor.account != account);
    }

    /// Records the use of an API key or grant in the background, at most once per minute.
    pub(crate) fn record_use(&self, store: &Store, actor: &Actor, now: Timestamp) {
        if matches!(actor.auth_method, AuthMethod::Session { .. }) {
            return;
        }
        let id = actor.auth_method.id();
        {
            let mut state = self.state();
            if state
                .recorded_uses
                .get(&id)
                .is_some_and(|at| is_within(*at, now, USE_RECORD_INTERVAL_SECONDS))
            {
                return;
            }
            if state.recorded_uses.len() >= MAX_CACHED_CREDENTIALS {
                state
                    .recorded_uses
                    .retain(|_, at| is_within(*at, now, USE_RECORD_INTERVAL_SECONDS));
            }
            if state.recorded_uses.len() >= MAX_CACHED_CREDENTIALS {
                return;
            }
            state.recorded_uses.insert(id, now);
        }
        let (store, auth_method) = (store.clone(), actor.auth_method.clone());
        self.tasks.spawn(async move {
            let touched = match auth_method {
                AuthMethod::ApiKey { id, .. } => store.touch_api_keys(&[(id, now)]).await,
                AuthMethod::Grant { id, .. } => store.touch_grant(id, now).await,
                AuthMethod::Session { .. } | AuthMethod::MessageLink { .. } => return,
            };
            if let Err(error) = touched {
                tracing::warn!(%error, "cannot record the use of an API key or OAuth grant");
            }
        });
    }

    /// Records the use of a session by a client in the background.
    pub(super) fn record_session_use(
        &self,
        store: &Store,
        session: &UserSession,
        client: Option<SessionClient>,
        now: Timestamp,
    ) {
        let (id, expires_at) = (session.id, expiry(session.created_at, now));
        let store = store.clone();
        self.tasks.spawn(async move {
            if let Err(error) = store.touch_session(id, now, expires_at, client).await {
                tracing::warn!(%error, "cannot record the use of a session");
            }
        });
    }

    /// Waits for the background tasks. Call it before closing the store.
    pub(crate) async fn close(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn state(&self) -> MutexGuard<'_, CacheState> {
        // A panic elsewhere leaves the maps consistent: at worst, an entry is looked up once more.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether less than `ttl` has passed between two readings, by the clock and by the uptime.
fn is_younger(began: ClockReading, now: ClockReading, ttl: SignedDuration) -> bool {
    let by_clock = now.time().duration_since(began.time());
    by_clock >= SignedDuration::ZERO && by_clock < ttl && now.elapsed_since(began) < ttl
}

/// Returns whether `at` is less than `seconds` before `now`. A clock that was set back does not extend the time.
fn is_within(at: Timestamp, now: Timestamp, seconds: i64) -> bool {
    at <= now && now.duration_since(at) < SignedDuration::from_secs(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alerts::Plan;
    use clock::ManualClock;
    use jiff::tz::TimeZone;
    use store::model::ApiKeyId;

    fn actor(account: u128) -> Actor {
        Actor {
            account: AccountId(Uuid::from_u128(account)),
            email: "ann@example.com".to_owned(),
            plan: Plan::Basic,
            is_operator: false,
            time_zone: TimeZone::UTC,
            auth_method: AuthMethod::ApiKey {
                id: ApiKeyId(Uuid::from_u128(account)),
                name: "script".to_owned(),
                scopes: Vec::new(),
            },
        }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + seconds).unwrap()
    }

    fn cache(is_shared: bool) -> (CredentialCache, ManualClock) {
        (CredentialCache::new(is_shared), ManualClock::new(at(0)))
    }

    fn insert(cache: &CredentialCache, clock: &ManualClock, hash: u8, account: u128) {
        cache.insert([hash; 32], &actor(account), cache.begin_lookup(clock));
    }

    fn is_known(cache: &CredentialCache, clock: &ManualClock, hash: u8) -> bool {
        cache.get(&[hash; 32], clock).is_some()
    }

    #[test]
    fn cached_credential_expires_after_five_seconds_in_a_single_process() {
        let (cache, clock) = cache(false);
        insert(&cache, &clock, 1, 1);
        assert!(!is_known(&cache, &clock, 2));
        clock.set(at(4));
        assert!(is_known(&cache, &clock, 1));
        clock.set(at(5));
        assert!(!is_known(&cache, &clock, 1));
    }

    #[test]
    fn cached_credential_expires_within_a_second_on_a_shared_database() {
        let (cache, clock) = cache(true);
        insert(&cache, &clock, 1, 1);
        clock.advance(SignedDuration::from_millis(799));
        assert!(is_known(&cache, &clock, 1));
        clock.advance(SignedDuration::from_millis(1));
        assert!(!is_known(&cache, &clock, 1));
    }

    #[test]
    fn age_of_a_credential_counts_from_before_its_lookup() {
        let (cache, clock) = cache(true);
        let lookup = cache.begin_lookup(&clock);
        clock.advance(SHARED_TTL);
        cache.insert([1; 32], &actor(1), lookup);
        assert!(!is_known(&cache, &clock, 1));
    }

    #[test]
    fn clock_steps_do_not_extend_the_life_of_a_credential() {
        let (cache, clock) = cache(true);
        insert(&cache, &clock, 1, 1);
        clock.step_to(at(-1));
        assert!(!is_known(&cache, &clock, 1));
        // The clock shows the time of the lookup again, but a second has passed.
        clock.advance(SignedDuration::from_secs(1));
        assert!(!is_known(&cache, &clock, 1));
        insert(&cache, &clock, 1, 1);
        // As after a suspension of the machine, during which the uptime stands still.
        clock.step_to(at(1));
        assert!(!is_known(&cache, &clock, 1));
    }

    #[test]
    fn invalidation_removes_only_that_account() {
        let (cache, clock) = cache(false);
        insert(&cache, &clock, 1, 1);
        insert(&cache, &clock, 2, 2);
        cache.invalidate(actor(1).account);
        assert!(!is_known(&cache, &clock, 1));
        assert!(is_known(&cache, &clock, 2));
    }

    #[test]
    fn lookup_before_invalidation_is_not_cached() {
        let (cache, clock) = cache(false);
        let lookup = cache.begin_lookup(&clock);
        cache.invalidate(actor(1).account);
        cache.insert([1; 32], &actor(1), lookup);
        assert!(!is_known(&cache, &clock, 1));
    }

    #[test]
    fn cache_is_bounded_and_evicts_expired_entries() {
        let (cache, clock) = cache(false);
        let hash = |n: usize| {
            let mut hash = [0; 32];
            hash[..8].copy_from_slice(&n.to_le_bytes());
            hash
        };
        for n in 0..=MAX_CACHED_CREDENTIALS {
            cache.insert(hash(n), &actor(1), cache.begin_lookup(&clock));
        }
        assert_eq!(cache.state().actors.len(), MAX_CACHED_CREDENTIALS);
        clock.set(at(6));
        cache.insert(hash(MAX_CACHED_CREDENTIALS), &actor(1), cache.begin_lookup(&clock));
        assert_eq!(cache.state().actors.len(), 1);
    }
}
