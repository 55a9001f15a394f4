//! What is remembered of those who were let in: so that a request needs no query to know who asks.
//!
//! An API key, a session or an app's access token that was looked up is taken for [`TRUSTED_FOR_S`] seconds without asking the database again. What this
//! process changes about keys and accounts counts at once, what others change after those seconds. Keys that are not
//! known are not remembered: guesses would push out those who are welcome.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use jiff::{SignedDuration, Timestamp};
use store::Store;
use store::model::{AccountId, Session};
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::authenticate::expiry;
use super::hashing::HashingPool;
use super::{Actor, Via};

/// How long a key is taken without asking the database again.
const TRUSTED_FOR_S: i64 = 5;
/// At most so many keys are remembered.
const MAX_KEYS: usize = 10_000;
/// A key's use is written down at most once in this time.
const NOTED_EVERY_S: i64 = 60;

/// SHA-256 of an API key, a cookie, an app's access token, or a session's id.
pub(crate) type KeyHash = [u8; 32];

/// What is remembered of those who were let in, and what is done for them in the background.
#[derive(Debug)]
pub(crate) struct Reception {
    seen: Mutex<Seen>,
    pub(super) hashing: HashingPool,
    tasks: TaskTracker,
}

#[derive(Debug, Default)]
struct Seen {
    actors: HashMap<KeyHash, (Actor, Timestamp)>,
    /// When the use of which key or grant was written down.
    noted: HashMap<Uuid, Timestamp>,
    /// Counts what was forgotten, so that nothing is remembered that was looked up before.
    forgotten: u64,
}

/// When a look-up began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since(u64);

impl Default for Reception {
    fn default() -> Self {
        Self {
            seen: Mutex::default(),
            hashing: HashingPool::default(),
            tasks: TaskTracker::new(),
        }
    }
}

impl Reception {
    /// Who showed this key a moment ago.
    pub(crate) fn recall(&self, hash: &KeyHash, now: Timestamp) -> Option<Actor> {
        let seen = self.seen();
        let (actor, at) = seen.actors.get(hash)?;
        is_within(*at, now, TRUSTED_FOR_S).then(|| actor.clone())
    }

    /// To be asked for before a key is looked up, and given back with what was found.
    pub(crate) fn begin(&self) -> Since {
        Since(self.seen().forgotten)
    }

    /// Remembers who shows a key, unless something was forgotten since the look-up began.
    pub(crate) fn remember(&self, hash: KeyHash, actor: &Actor, since: Since, now: Timestamp) {
        let mut seen = self.seen();
        if seen.forgotten != since.0 {
            return;
        }
        if seen.actors.len() >= MAX_KEYS {
            seen.actors.retain(|_, (_, at)| is_within(*at, now, TRUSTED_FOR_S));
        }
        if seen.actors.len() < MAX_KEYS {
            seen.actors.insert(hash, (actor.clone(), now));
        }
    }

    /// The account or one of its keys has changed.
    pub(crate) fn forget(&self, account: AccountId) {
        let mut seen = self.seen();
        seen.forgotten += 1;
        seen.actors.retain(|_, (actor, _)| actor.account != account);
    }

    /// Writes down in the background that a key was used, or what an app was allowed, unless that was done within the last
    /// minute.
    pub(crate) fn note_use(&self, store: &Store, actor: &Actor, now: Timestamp) {
        if matches!(actor.via, Via::Session { .. }) {
            return;
        }
        let id = actor.via.id();
        {
            let mut seen = self.seen();
            if seen.noted.get(&id).is_some_and(|at| is_within(*at, now, NOTED_EVERY_S)) {
                return;
            }
            if seen.noted.len() >= MAX_KEYS {
                seen.noted.retain(|_, at| is_within(*at, now, NOTED_EVERY_S));
            }
            if seen.noted.len() >= MAX_KEYS {
                return;
            }
            seen.noted.insert(id, now);
        }
        let (store, via) = (store.clone(), actor.via.clone());
        self.tasks.spawn(async move {
            let touched = match via {
                Via::Key { id, .. } => store.touch_api_keys(&[(id, now)]).await,
                Via::Grant { id, .. } => store.touch_grant(id, now).await,
                Via::Session { .. } => return,
            };
            if let Err(error) = touched {
                tracing::warn!(%error, "the use of an API key or an app was not written down");
            }
        });
    }

    /// Writes down in the background that a session was used.
    pub(super) fn note_session(&self, store: &Store, session: &Session, now: Timestamp) {
        let (id, expires_at) = (session.id, expiry(session.created_at, now));
        let store = store.clone();
        self.tasks.spawn(async move {
            if let Err(error) = store.touch_session(id, now, expires_at).await {
                tracing::warn!(%error, "the use of a session was not written down");
            }
        });
    }

    /// Waits for what is done in the background. To be called before the store is closed.
    pub(crate) async fn close(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        // A panic elsewhere leaves the maps whole: at worst something is looked up once more.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether `at` is less than `seconds` before `now`; a clock that was set back makes nothing last longer.
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
            via: Via::Key {
                id: ApiKeyId(Uuid::from_u128(account)),
                name: "script".to_owned(),
                scopes: Vec::new(),
            },
        }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + seconds).unwrap()
    }

    fn is_known(reception: &Reception, hash: u8, now: Timestamp) -> bool {
        reception.recall(&[hash; 32], now).is_some()
    }

    #[test]
    fn a_key_is_trusted_for_five_seconds_and_not_longer() {
        let reception = Reception::default();
        reception.remember([1; 32], &actor(1), reception.begin(), at(0));
        assert!(is_known(&reception, 1, at(4)));
        assert!(!is_known(&reception, 1, at(5)));
        assert!(!is_known(&reception, 1, at(-1)));
        assert!(!is_known(&reception, 2, at(0)));
    }

    #[test]
    fn a_changed_account_is_looked_up_anew_and_others_are_not() {
        let reception = Reception::default();
        let before = reception.begin();
        reception.remember([1; 32], &actor(1), before, at(0));
        reception.remember([2; 32], &actor(2), before, at(0));
        reception.forget(actor(1).account);
        assert!(!is_known(&reception, 1, at(0)));
        assert!(is_known(&reception, 2, at(0)));
    }

    #[test]
    fn what_was_looked_up_before_a_change_is_not_remembered_after_it() {
        let reception = Reception::default();
        let before = reception.begin();
        reception.forget(actor(1).account);
        reception.remember([1; 32], &actor(1), before, at(0));
        assert!(!is_known(&reception, 1, at(0)));
    }

    #[test]
    fn no_more_keys_are_remembered_than_fit_and_old_ones_make_room() {
        let reception = Reception::default();
        let hash = |n: usize| {
            let mut hash = [0; 32];
            hash[..8].copy_from_slice(&n.to_le_bytes());
            hash
        };
        for n in 0..=MAX_KEYS {
            reception.remember(hash(n), &actor(1), reception.begin(), at(0));
        }
        assert_eq!(reception.seen().actors.len(), MAX_KEYS);
        reception.remember(hash(MAX_KEYS), &actor(1), reception.begin(), at(6));
        assert_eq!(reception.seen().actors.len(), 1);
    }
}
