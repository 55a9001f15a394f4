//! Cache of authenticated credentials, so that most requests need no database query for authentication.
//!
//! An API key, a session or an OAuth access token that was found is valid for [`CACHE_TTL_SECONDS`] seconds without
//! another query. Changes by this process take effect at once, changes by other processes after that time. Unknown
//! credentials are not cached: guesses would evict valid entries.

use foundation::Actor;
use foundation::AuthMethod;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use jiff::{SignedDuration, Timestamp};
use store::Store;
use store::model::{AccountId, SessionClient, UserSession};
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::authenticate::expiry;
use super::hashing::HashingPool;

/// Lifetime of a cache entry, in seconds.
const CACHE_TTL_SECONDS: i64 = 5;
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
    pub(super) hashing: HashingPool,
    tasks: TaskTracker,
}

#[derive(Debug, Default)]
struct CacheState {
    actors: HashMap<CredentialHash, (Actor, Timestamp)>,
    /// Time of the last recorded use, by API key or grant.
    recorded_uses: HashMap<Uuid, Timestamp>,
    /// Number of invalidations. A lookup that began before an invalidation is not cached.
    generation: u64,
}

/// Generation of the cache at the start of a lookup.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CacheGeneration(u64);

impl Default for CredentialCache {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            hashing: HashingPool::default(),
            tasks: TaskTracker::new(),
        }
    }
}

impl CredentialCache {
    /// Returns the cached actor of a credential.
    pub(crate) fn get(&self, hash: &CredentialHash, now: Timestamp) -> Option<Actor> {
        let state = self.state();
        let (actor, at) = state.actors.get(hash)?;
        is_within(*at, now, CACHE_TTL_SECONDS).then(|| actor.clone())
    }

    /// Returns the current generation. Call it before a lookup, and pass it to [`insert`](Self::insert).
    pub(crate) fn generation(&self) -> CacheGeneration {
        CacheGeneration(self.state().generation)
    }

    /// Caches the actor of a credential, unless the cache was invalidated since the lookup began.
    pub(crate) fn insert(&self, hash: CredentialHash, actor: &Actor, generation: CacheGeneration, now: Timestamp) {
        let mut state = self.state();
        if state.generation != generation.0 {
            return;
        }
        if state.actors.len() >= MAX_CACHED_CREDENTIALS {
            state.actors.retain(|_, (_, at)| is_within(*at, now, CACHE_TTL_SECONDS));
        }
        if state.actors.len() < MAX_CACHED_CREDENTIALS {
            state.actors.insert(hash, (actor.clone(), now));
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

/// Returns whether `at` is less than `seconds` before `now`. A clock that was set back does not extend the time.
fn is_within(at: Timestamp, now: Timestamp, seconds: i64) -> bool {
    at <= now && now.duration_since(at) < SignedDuration::from_secs(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alerts::Plan;
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

    fn is_known(credential_cache: &CredentialCache, hash: u8, now: Timestamp) -> bool {
        credential_cache.get(&[hash; 32], now).is_some()
    }

    #[test]
    fn cached_credential_expires_after_five_seconds() {
        let credential_cache = CredentialCache::default();
        credential_cache.insert([1; 32], &actor(1), credential_cache.generation(), at(0));
        assert!(is_known(&credential_cache, 1, at(4)));
        assert!(!is_known(&credential_cache, 1, at(5)));
        assert!(!is_known(&credential_cache, 1, at(-1)));
        assert!(!is_known(&credential_cache, 2, at(0)));
    }

    #[test]
    fn invalidation_removes_only_that_account() {
        let credential_cache = CredentialCache::default();
        let before = credential_cache.generation();
        credential_cache.insert([1; 32], &actor(1), before, at(0));
        credential_cache.insert([2; 32], &actor(2), before, at(0));
        credential_cache.invalidate(actor(1).account);
        assert!(!is_known(&credential_cache, 1, at(0)));
        assert!(is_known(&credential_cache, 2, at(0)));
    }

    #[test]
    fn lookup_before_invalidation_is_not_cached() {
        let credential_cache = CredentialCache::default();
        let before = credential_cache.generation();
        credential_cache.invalidate(actor(1).account);
        credential_cache.insert([1; 32], &actor(1), before, at(0));
        assert!(!is_known(&credential_cache, 1, at(0)));
    }

    #[test]
    fn cache_is_bounded_and_evicts_expired_entries() {
        let credential_cache = CredentialCache::default();
        let hash = |n: usize| {
            let mut hash = [0; 32];
            hash[..8].copy_from_slice(&n.to_le_bytes());
            hash
        };
        for n in 0..=MAX_CACHED_CREDENTIALS {
            credential_cache.insert(hash(n), &actor(1), credential_cache.generation(), at(0));
        }
        assert_eq!(credential_cache.state().actors.len(), MAX_CACHED_CREDENTIALS);
        credential_cache.insert(
            hash(MAX_CACHED_CREDENTIALS),
            &actor(1),
            credential_cache.generation(),
            at(6),
        );
        assert_eq!(credential_cache.state().actors.len(), 1);
    }
}
