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
            // Spawned, so that the chunk is not lost if the caller is cancelled: a client may disconnect.
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
mod tests;
