//! A clock for conversations: it jumps to whatever is waited for, or stands until somebody lets a wait be over.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use sources::{Clock, Sleep};
use tokio::sync::Notify;

#[derive(Debug)]
pub struct TestClock {
    state: Mutex<State>,
    /// Rings when the time, or who waits for it, has changed.
    bell: Notify,
    ids: AtomicU64,
    /// Waits up to this long are over at once.
    hurried: SignedDuration,
}

#[derive(Debug)]
struct State {
    now: Timestamp,
    sleepers: Vec<(u64, Timestamp)>,
    /// Each wait that was over at once.
    waits: Vec<SignedDuration>,
}

impl TestClock {
    /// A clock on which nobody waits.
    pub fn hurried() -> Arc<Self> {
        Self::new(SignedDuration::MAX)
    }

    /// A clock that stands, but for [`TestClock::let_pass`].
    pub fn standing() -> Arc<Self> {
        Self::new(SignedDuration::ZERO)
    }

    fn new(hurried: SignedDuration) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                now: super::NOW.parse().unwrap(),
                sleepers: Vec::new(),
                waits: Vec::new(),
            }),
            bell: Notify::new(),
            ids: AtomicU64::new(0),
            hurried,
        })
    }

    /// Each wait that there was, in order.
    pub fn waits(&self) -> Vec<SignedDuration> {
        self.state.lock().unwrap().waits.clone()
    }

    /// Waits until somebody waits for an instant between `least` and `most` from now, and lets it come.
    pub async fn let_pass(&self, least: SignedDuration, most: SignedDuration) -> SignedDuration {
        loop {
            let notified = self.bell.notified();
            {
                let mut state = self.state.lock().unwrap();
                let waits = state.sleepers.iter().map(|(_, at)| at.duration_since(state.now));
                if let Some(wait) = waits.filter(|wait| (least..=most).contains(wait)).min() {
                    state.now += wait;
                    self.bell.notify_waiters();
                    return wait;
                }
            }
            notified.await;
        }
    }
}

struct Asleep<'a>(&'a TestClock, u64);

impl Drop for Asleep<'_> {
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
            let _asleep = {
                let mut state = self.state.lock().unwrap();
                let wait = at.duration_since(state.now);
                if wait <= SignedDuration::ZERO {
                    return;
                }
                if wait <= self.hurried {
                    state.now = at;
                    state.waits.push(wait);
                    return;
                }
                state.sleepers.push((id, at));
                Asleep(self, id)
            };
            self.bell.notify_waiters();
            loop {
                let notified = self.bell.notified();
                if self.now() >= at {
                    return;
                }
                notified.await;
            }
        })
    }
}
