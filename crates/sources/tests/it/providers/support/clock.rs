//! A test clock: it skips waits at once, or stands still until the test advances it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use clock::{Clock, Sleep};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;

#[derive(Debug)]
pub struct TestClock {
    state: Mutex<ClockState>,
    /// Notified when the time or the set of sleepers changes.
    changed: Notify,
    ids: AtomicU64,
    /// Waits up to this long are skipped at once.
    max_skipped_wait: SignedDuration,
}

#[derive(Debug)]
struct ClockState {
    now: Timestamp,
    sleepers: Vec<(u64, Timestamp)>,
    /// The skipped waits.
    waits: Vec<SignedDuration>,
}

impl TestClock {
    /// Creates a clock that skips all waits.
    pub fn auto_advancing() -> Arc<Self> {
        Self::new(SignedDuration::MAX)
    }

    /// Creates a clock that stands still until [`TestClock::advance_to_sleeper`].
    pub fn paused() -> Arc<Self> {
        Self::new(SignedDuration::ZERO)
    }

    fn new(max_skipped_wait: SignedDuration) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(ClockState {
                now: super::NOW.parse().unwrap(),
                sleepers: Vec::new(),
                waits: Vec::new(),
            }),
            changed: Notify::new(),
            ids: AtomicU64::new(0),
            max_skipped_wait,
        })
    }

    /// Returns all skipped waits in order.
    pub fn waits(&self) -> Vec<SignedDuration> {
        self.state.lock().unwrap().waits.clone()
    }

    /// Waits until a task sleeps for between `min_wait` and `max_wait`, and advances the clock to its wake-up time.
    pub async fn advance_to_sleeper(&self, min_wait: SignedDuration, max_wait: SignedDuration) -> SignedDuration {
        loop {
            let notified = self.changed.notified();
            {
                let mut state = self.state.lock().unwrap();
                let waits = state.sleepers.iter().map(|(_, at)| at.duration_since(state.now));
                if let Some(wait) = waits.filter(|wait| (min_wait..=max_wait).contains(wait)).min() {
                    state.now += wait;
                    self.changed.notify_waiters();
                    return wait;
                }
            }
            notified.await;
        }
    }
}

struct SleepGuard<'a>(&'a TestClock, u64);

impl Drop for SleepGuard<'_> {
    fn drop(&mut self) {
        self.0.state.lock().unwrap().sleepers.retain(|(id, _)| *id != self.1);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        self.state.lock().unwrap().now
    }

    /// This clock is never stepped.
    fn uptime(&self) -> SignedDuration {
        self.now().duration_since(Timestamp::UNIX_EPOCH)
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep<'_> {
        Box::pin(async move {
            let id = self.ids.fetch_add(1, Ordering::Relaxed);
            let _guard = {
                let mut state = self.state.lock().unwrap();
                let wait = at.duration_since(state.now);
                if wait <= SignedDuration::ZERO {
                    return;
                }
                if wait <= self.max_skipped_wait {
                    state.now = at;
                    state.waits.push(wait);
                    return;
                }
                state.sleepers.push((id, at));
                SleepGuard(self, id)
            };
            self.changed.notify_waiters();
            loop {
                let notified = self.changed.notified();
                if self.now() >= at {
                    return;
                }
                notified.await;
            }
        })
    }
}
