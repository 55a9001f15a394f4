//! Limits that hold for all processes on one database together.
//!
//! A process takes a chunk of a window from the database and spends it from memory ([`store::SharedLimits`]). So the limit is never
//! passed, and the database is asked once for each chunk. The unspent part of a chunk is lost when its window ends or its process
//! does: with two processes and chunks of 2 %, at most 4 % of a limit is left unused, and 2 % more for each restart.
//!
//! If the database cannot be reached, the rest of the chunk can still be spent. Then counting fails, at once while another attempt has
//! just failed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use store::{SharedLimits, Store, StoreError};
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::Instant;

/// The minimum time between two purges of ended windows.
const PURGE_INTERVAL: SignedDuration = SignedDuration::from_secs(60);

/// After a failure of the database, counting fails without asking it for this time.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(1);

/// The name of a limit: its kind and its subject, such as an account. The database stores its hash, from which an IPv4 address can be
/// guessed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LimitKey([u8; 32]);

impl LimitKey {
    /// Creates the key of a subject. `kind` has no byte 0.
    #[must_use]
    pub fn new(kind: &str, subject: &[u8]) -> Self {
        let hash = Sha256::new().chain_update(kind).chain_update([0]).chain_update(subject);
        Self(hash.finalize().into())
    }
}

/// A number of uses per window, and how many of them a process takes at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedLimit {
    /// The maximum number of uses in a window.
    pub uses: u32,
    /// The length of a window, which begins with its first use.
    pub window: SignedDuration,
    /// The number of uses that a process takes at once.
    pub chunk: u32,
}

impl SharedLimit {
    /// Creates a limit with chunks of 2 %, at least one use.
    #[must_use]
    pub const fn in_chunks(uses: u32, window: SignedDuration) -> Self {
        let chunk = if uses < 50 { 1 } else { uses / 50 };
        Self { uses, window, chunk }
    }

    /// Creates a limit of which nothing is left unused: each use is taken from the database.
    #[must_use]
    pub const fn one_by_one(uses: u32, window: SignedDuration) -> Self {
        Self { uses, window, chunk: 1 }
    }
}

/// The decision about a use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedDecision {
    /// Whether the use is within the limit.
    pub is_allowed: bool,
    /// The uses that this process may still grant: its prepaid ones, and what no process had taken when it last took a chunk.
    pub remaining: u32,
    /// The end of the window by the database's clock, the same for all processes.
    pub ends: Timestamp,
    /// The time until the window ends.
    pub ends_in: SignedDuration,
}

/// Counts uses of limits that hold for all processes on the database.
#[derive(Debug)]
pub struct SharedLimiter {
    limits: SharedLimits,
    tracked: Mutex<TrackedWindows>,
    max_tracked: usize,
}

#[derive(Debug, Default)]
struct TrackedWindows {
    by_key: HashMap<LimitKey, Arc<AsyncMutex<PrepaidWindow>>>,
    /// The earliest time of the next purge.
    purge_from: Timestamp,
}

/// A window, as this process knows it.
#[derive(Debug, Default)]
struct PrepaidWindow {
    /// The end by the database's clock.
    ends: Timestamp,
    /// The end by the clock of this process, or shortly before.
    ends_here: Timestamp,
    /// The end by a clock that is never set. Without it, a process whose clock was set back would spend its chunk in the next window.
    ends_at: Option<Instant>,
    /// The uses granted to all processes when this one took its last chunk.
    granted: u32,
    /// The unspent uses of this process, a part of `granted`.
    prepaid: u32,
    /// The time of the last failure of the database.
    failed_at: Option<Instant>,
}

impl SharedLimiter {
    /// Creates a limiter that keeps at most `max_tracked` windows in memory. Returns `None` if this is the only process on the database.
    #[must_use]
    pub fn new(store: &Store, max_tracked: usize) -> Option<Self> {
        Some(Self {
            limits: store.shared_limits()?,
            tracked: Mutex::default(),
            max_tracked,
        })
    }

    /// Counts a use at `now`, unless the limit is reached. Returns `None` if no further window can be kept in memory.
    ///
    /// # Errors
    /// [`StoreError`] if this process has no use left and the database fails.
    pub async fn count(
        &self,
        key: LimitKey,
        limit: SharedLimit,
        now: Timestamp,
    ) -> Result<Option<SharedDecision>, StoreError> {
        let Some(window) = self.tracked(key, now) else {
            return Ok(None);
        };
        // Concurrent uses wait for one chunk instead of taking one each.
        let mut window = window.lock_owned().await;
        if window.is_over(now) {
            *window = PrepaidWindow {
                failed_at: window.failed_at,
                ..PrepaidWindow::default()
            };
        }
        if !window.can_spend(limit) && (window.ends_at.is_none() || window.granted < limit.uses) {
            if window
                .failed_at
                .is_some_and(|failed| failed.elapsed() < PAUSE_AFTER_FAILURE)
            {
                return Err(StoreError::Unavailable(
                    "it has just failed to grant a limit".to_owned(),
                ));
            }
            let limits = self.limits.clone();
            // A task of its own, so that the chunk is not lost if the caller is cancelled: a client may disconnect.
            let taking = tokio::spawn(async move {
                let asked = Instant::now();
                let taken = limits.take(&key.0, limit.uses, limit.chunk, limit.window).await;
                match taken {
                    Ok(taken) => {
                        *window = PrepaidWindow {
                            ends: taken.ends,
                            ends_here: now.saturating_add(taken.ends_in).unwrap_or(Timestamp::MAX),
                            ends_at: asked.checked_add(taken.ends_in.unsigned_abs()),
                            granted: taken.granted,
                            prepaid: taken.size,
                            failed_at: None,
                        };
                        Ok(window)
                    }
                    Err(error) => {
                        window.failed_at = Some(Instant::now());
                        Err(error)
                    }
                }
            });
            window = taking
                .await
                .map_err(|error| StoreError::Panicked(error.to_string()))??;
        }
        let is_allowed = window.can_spend(limit);
        window.prepaid -= u32::from(is_allowed);
        Ok(Some(SharedDecision {
            is_allowed,
            remaining: limit.uses.saturating_sub(window.granted - window.prepaid),
            ends: window.ends,
            ends_in: window.ends_here.duration_since(now),
        }))
    }

    /// Returns a counted use, which was not used after all. It stays with this process.
    pub async fn give_back(&self, key: LimitKey, counted: SharedDecision) {
        let window = self.lock().by_key.get(&key).map(Arc::clone);
        if let Some(window) = window {
            let mut window = window.lock().await;
            // The use belongs to the window in which it was counted.
            if window.ends == counted.ends && window.prepaid < window.granted {
                window.prepaid += 1;
            }
        }
    }

    /// Returns the window of a key, or `None` if no further window can be kept in memory.
    fn tracked(&self, key: LimitKey, now: Timestamp) -> Option<Arc<AsyncMutex<PrepaidWindow>>> {
        let mut tracked = self.lock();
        if let Some(window) = tracked.by_key.get(&key) {
            return Some(Arc::clone(window));
        }
        if tracked.by_key.len() >= self.max_tracked {
            if tracked.purge_from <= now {
                // A window in use is locked.
                tracked
                    .by_key
                    .retain(|_, window| window.try_lock().map_or(true, |window| window.ends_here > now));
                tracked.purge_from = now.saturating_add(PURGE_INTERVAL).unwrap_or(Timestamp::MAX);
            }
            if tracked.by_key.len() >= self.max_tracked {
                return None;
            }
        }
        let window = Arc::default();
        tracked.by_key.insert(key, Arc::clone(&window));
        Some(window)
    }

    fn lock(&self) -> MutexGuard<'_, TrackedWindows> {
        // A panic elsewhere leaves the windows consistent, because each change is one assignment.
        self.tracked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PrepaidWindow {
    /// Whether the window has ended, by either clock.
    fn is_over(&self, now: Timestamp) -> bool {
        self.ends_here <= now || self.ends_at.is_some_and(|end| end <= Instant::now())
    }

    /// Whether a use of this process is left. The limit may have been lowered since it was taken.
    const fn can_spend(&self, limit: SharedLimit) -> bool {
        self.prepaid > 0 && self.granted - self.prepaid < limit.uses
    }
}

#[cfg(test)]
mod tests {
    use store::StoreOptions;
    use testkit::{Database, eventually, on_both_databases};

    use super::*;

    const HOUR: SignedDuration = SignedDuration::from_hours(1);
    const HUNDRED: SharedLimit = SharedLimit::in_chunks(100, HOUR);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + seconds).unwrap()
    }

    fn key() -> LimitKey {
        LimitKey::new("requests", b"ann")
    }

    /// Starts a process, unless the database has one process.
    async fn process(database: &Database) -> Option<Arc<SharedLimiter>> {
        let store = Store::open(StoreOptions::new(database.url())).await.unwrap();
        SharedLimiter::new(&store, 100).map(Arc::new)
    }

    async fn count(process: &SharedLimiter, limit: SharedLimit, now: Timestamp) -> SharedDecision {
        process.count(key(), limit, now).await.unwrap().unwrap()
    }

    /// Returns how many uses a process allows.
    async fn spend_all(process: &SharedLimiter, limit: SharedLimit) -> u32 {
        let mut allowed = 0;
        while count(process, limit, at(0)).await.is_allowed {
            allowed += 1;
        }
        allowed
    }

    #[test]
    fn chunk_is_a_fiftieth_and_at_least_one() {
        for (uses, chunk) in [(0, 1), (5, 1), (99, 1), (100, 2), (10_000, 200)] {
            assert_eq!(SharedLimit::in_chunks(uses, HOUR).chunk, chunk, "{uses}");
        }
    }

    on_both_databases! {
        async fn concurrent_uses_of_two_processes_never_pass_the_limit(database) {
            let (Some(first), Some(second)) = (process(database).await, process(database).await) else {
                return assert!(!database.is_postgres());
            };
            let mut uses = tokio::task::JoinSet::new();
            for process in [first, second] {
                for _ in 0..90 {
                    let process = Arc::clone(&process);
                    uses.spawn(async move { count(&process, HUNDRED, at(0)).await.is_allowed });
                }
            }
            let allowed = uses.join_all().await.into_iter().filter(|is_allowed| *is_allowed).count();
            assert_eq!(allowed, 100);
        }

        async fn two_processes_leave_at_most_a_tenth_unused(database) {
            for limit in [1, 10, 50, 100, 1000].map(|uses| SharedLimit::in_chunks(uses, HOUR)) {
                let (Some(first), Some(second)) = (process(database).await, process(database).await) else { return };
                let key = LimitKey::new("requests", &limit.uses.to_be_bytes());
                let uses = async |process: &SharedLimiter| process.count(key, limit, at(0)).await.unwrap().unwrap().is_allowed;
                // One process uses the limit once, the other one as often as it can.
                let mut allowed = u32::from(uses(&second).await);
                while uses(&first).await {
                    allowed += 1;
                }
                assert!(allowed <= limit.uses && allowed * 10 >= limit.uses * 9, "{allowed} of {}", limit.uses);
            }
        }

        async fn limit_that_is_taken_one_by_one_leaves_nothing_unused(database) {
            let (Some(first), Some(second)) = (process(database).await, process(database).await) else { return };
            let limit = SharedLimit::one_by_one(100, HOUR);
            assert!(count(&first, limit, at(0)).await.is_allowed);
            assert_eq!(spend_all(&second, limit).await, 99);
        }

        async fn remainder_is_that_of_the_last_chunk(database) {
            let (Some(first), Some(second)) = (process(database).await, process(database).await) else { return };
            assert_eq!(count(&first, HUNDRED, at(0)).await.remaining, 99);
            assert_eq!(spend_all(&second, HUNDRED).await, 98);
            assert!(count(&first, HUNDRED, at(1)).await.is_allowed, "it is a part of the chunk");
            let refused = count(&first, HUNDRED, at(2)).await;
            assert!(!refused.is_allowed && refused.remaining == 0 && refused.ends_in <= HUNDRED.window, "{refused:?}");
        }

        async fn chunk_is_not_spent_after_its_window_if_the_clock_was_set_back(database) {
            let Some(process) = process(database).await else { return };
            let limit = SharedLimit { uses: 4, window: SignedDuration::from_millis(50), chunk: 4 };
            let ends = count(&process, limit, at(0)).await.ends;
            let is_new = async || count(&process, limit, at(-100)).await.ends > ends;
            eventually("a new window has begun", is_new).await;
        }

        async fn new_window_begins_anew(database) {
            let (Some(first), Some(second)) = (process(database).await, process(database).await) else { return };
            let limit = SharedLimit::in_chunks(2, SignedDuration::from_millis(50));
            assert!(count(&first, limit, at(0)).await.is_allowed);
            assert!(count(&second, limit, at(0)).await.remaining <= 1);
            // After the end of the window by the clock of the process, the database says whether it has ended.
            let mut seconds = 0;
            let is_new = async || {
                seconds += 1;
                count(&first, limit, at(seconds)).await.remaining == 1
            };
            eventually("a new window has begun", is_new).await;
        }

        async fn use_that_is_given_back_can_be_spent_again(database) {
            let Some(process) = process(database).await else { return };
            let limit = SharedLimit::one_by_one(1, HOUR);
            let counted = count(&process, limit, at(0)).await;
            assert!(!count(&process, limit, at(0)).await.is_allowed);
            process.give_back(key(), counted).await;
            assert_eq!(spend_all(&process, limit).await, 1);
        }

        async fn chunk_of_a_cancelled_use_is_not_lost(database) {
            let Some(process) = process(database).await else { return };
            {
                // A client disconnects while the database is asked.
                let mut cancelled = std::pin::pin!(process.count(key(), HUNDRED, at(0)));
                let mut context = std::task::Context::from_waker(std::task::Waker::noop());
                assert!(cancelled.as_mut().poll(&mut context).is_pending());
            }
            assert_eq!(spend_all(&process, HUNDRED).await, 100);
        }

        async fn lowered_limit_holds_at_once(database) {
            let Some(process) = process(database).await else { return };
            assert!(count(&process, HUNDRED, at(0)).await.is_allowed);
            assert!(!count(&process, SharedLimit::in_chunks(1, HOUR), at(0)).await.is_allowed);
            assert_eq!(count(&process, HUNDRED, at(0)).await.remaining, 98);
        }

        async fn windows_beyond_the_bound_are_not_counted(database) {
            let store = Store::open(StoreOptions::new(database.url())).await.unwrap();
            let Some(process) = SharedLimiter::new(&store, 1) else { return };
            assert!(count(&process, HUNDRED, at(0)).await.is_allowed);
            let other = LimitKey::new("requests", b"bob");
            assert_eq!(process.count(other, HUNDRED, at(0)).await.unwrap(), None);
            assert!(process.count(other, HUNDRED, at(3_601)).await.unwrap().is_some(), "the first window has ended");
        }

        async fn rest_can_be_spent_without_the_database(database) {
            let store = Store::open(StoreOptions::new(database.url())).await.unwrap();
            let Some(process) = SharedLimiter::new(&store, 100) else { return };
            assert_eq!(count(&process, HUNDRED, at(0)).await.remaining, 99);
            store.close().await;
            assert!(count(&process, HUNDRED, at(10)).await.is_allowed);
            for _ in 0..2 {
                assert!(process.count(key(), HUNDRED, at(10)).await.unwrap_err().is_unavailable());
            }
        }
    }
}
