//! The clocks of the nodes, and the task that advances them.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use clock::{Clock, ManualClock};
use jiff::SignedDuration;
use testkit::eventually;
use tokio::task::AbortHandle;

/// The pause between two steps. On a busy machine it is longer, so that the clocks do not run ahead of the work.
const STEP_INTERVAL: Duration = Duration::from_millis(5);
/// A step at the normal pace: at most that of real time.
const NORMAL_STEP: SignedDuration = SignedDuration::from_millis(5);
/// A step at the fast pace.
const FAST_STEP: SignedDuration = SignedDuration::from_millis(100);

/// The clock of a node.
#[derive(Debug)]
struct NodeClock {
    clock: Arc<ManualClock>,
    stands_still: bool,
}

#[derive(Debug)]
struct State {
    clocks: Vec<NodeClock>,
    step: SignedDuration,
}

impl State {
    fn running(&self) -> impl Iterator<Item = &Arc<ManualClock>> {
        let running = self.clocks.iter().filter(|node| !node.stands_still);
        running.map(|node| &node.clock)
    }
}

/// The clocks of the nodes. A task advances all that do not stand still, each by the same step, so that they keep their differences.
#[derive(Debug)]
pub(super) struct Clocks {
    state: Arc<Mutex<State>>,
    task: AbortHandle,
}

impl Clocks {
    pub(super) fn start(clocks: impl IntoIterator<Item = Arc<ManualClock>>) -> Self {
        let clocks = clocks.into_iter().map(|clock| NodeClock {
            clock,
            stands_still: false,
        });
        let state = Arc::new(Mutex::new(State {
            clocks: clocks.collect(),
            step: NORMAL_STEP,
        }));
        let advanced = Arc::clone(&state);
        let task = tokio::spawn(async move {
            loop {
                tokio::time::sleep(STEP_INTERVAL).await;
                let state = advanced.lock().unwrap();
                state.running().for_each(|clock| clock.advance(state.step));
            }
        });
        Self {
            state,
            task: task.abort_handle(),
        }
    }

    /// Waits until a condition holds while the clocks run fast.
    pub(super) async fn fast_until(&self, condition: &str, holds: impl AsyncFnMut() -> bool) {
        self.state().step = FAST_STEP;
        eventually(condition, holds).await;
        self.state().step = NORMAL_STEP;
    }

    /// Waits until a duration has passed by the clocks that do not stand still.
    pub(super) async fn pass(&self, duration: SignedDuration) {
        let clocks: Vec<_> = self.state().running().cloned().collect();
        let end_of = |clock: &Arc<ManualClock>| clock.now().saturating_add(duration).unwrap();
        let ends: Vec<_> = clocks.iter().map(end_of).collect();
        self.fast_until("the duration has passed", async || {
            clocks.iter().zip(&ends).all(|(clock, end)| clock.now() >= *end)
        })
        .await;
    }

    /// Lets the clock of a node stand still, or run again.
    pub(super) fn set_still(&self, node: usize, stands_still: bool) {
        self.state().clocks[node].stands_still = stands_still;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl Drop for Clocks {
    fn drop(&mut self) {
        self.task.abort();
    }
}
