//! Notifies dispatchers of new rows, and the job of escalations of earlier ones.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::model::Queue;
use crate::{Store, UnitOfWork};

/// The dispatchers and jobs to notify after a commit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wakes {
    queues: BTreeSet<Queue>,
    escalations: bool,
}

/// The name of the job of escalations.
const ESCALATIONS: &str = "escalations";

impl Wakes {
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the names of the queues, and `escalations`.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        let queues = self.queues.iter().map(|queue| queue.name());
        queues.chain(self.escalations.then_some(ESCALATIONS)).collect()
    }

    /// Returns the dispatchers and jobs with these names. Unknown ones are left out.
    #[must_use]
    pub fn of_names(names: &[String]) -> Self {
        let has = |name: &str| names.iter().any(|known| known == name);
        Self {
            queues: Queue::ALL.into_iter().filter(|queue| has(queue.name())).collect(),
            escalations: has(ESCALATIONS),
        }
    }
}

/// Notifies the dispatcher of each queue, and the job of escalations.
#[derive(Clone, Debug, Default)]
pub(crate) struct WakeHandles {
    queues: [Arc<Notify>; Queue::ALL.len()],
    escalations: Arc<Notify>,
    elsewhere: Arc<WakesElsewhere>,
}

/// The dispatchers and jobs to notify in other processes.
#[derive(Debug, Default)]
struct WakesElsewhere {
    /// `None` until a task passes them on.
    pending: Mutex<Option<Wakes>>,
    added: Notify,
}

impl WakeHandles {
    pub(crate) fn wake(&self, wakes: &Wakes) {
        self.wake_here(wakes);
        if wakes.is_empty() {
            return;
        }
        let mut pending = self.elsewhere.pending.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pending) = &mut *pending {
            pending.queues.extend(&wakes.queues);
            pending.escalations |= wakes.escalations;
            self.elsewhere.added.notify_one();
        }
    }

    fn wake_here(&self, wakes: &Wakes) {
        for queue in &wakes.queues {
            self.of(*queue).notify_one();
        }
        if wakes.escalations {
            self.escalations.notify_one();
        }
    }

    fn of(&self, queue: Queue) -> Arc<Notify> {
        let place = Queue::ALL.iter().position(|other| *other == queue);
        place
            .and_then(|place| self.queues.get(place))
            .cloned()
            .unwrap_or_default()
    }
}

impl UnitOfWork {
    /// Notifies the dispatcher of a queue after the commit.
    pub(crate) fn wake(&mut self, queue: Queue) {
        self.wakes.queues.insert(queue);
    }

    /// Notifies the job of escalations after the commit.
    pub(crate) fn wake_escalations(&mut self) {
        self.wakes.escalations = true;
    }
}

impl Store {
    /// Returns a handle that is notified after each transaction that created rows of a queue, so that the dispatcher
    /// need not poll. Covers this process only.
    #[must_use]
    pub fn wake_handle(&self, queue: impl Into<Queue>) -> Arc<Notify> {
        self.wake_handles.of(queue.into())
    }

    /// Waits for transactions of this process after which dispatchers and jobs of other processes have to be notified, and returns these.
    /// Only one task may call this. Transactions before its first call are left out.
    pub async fn wakes_elsewhere(&self) -> Wakes {
        let elsewhere = &self.wake_handles.elsewhere;
        loop {
            let pending = {
                let mut pending = elsewhere.pending.lock().unwrap_or_else(PoisonError::into_inner);
                pending.replace(Wakes::default())
            };
            match pending {
                Some(wakes) if !wakes.is_empty() => return wakes,
                _ => elsewhere.added.notified().await,
            }
        }
    }

    /// Notifies the dispatchers and jobs of this process after a transaction of another one.
    pub fn wake_here(&self, wakes: &Wakes) {
        self.wake_handles.wake_here(wakes);
    }

    /// Returns a handle that is notified after each transaction after which an escalation may be due earlier. Covers this process only.
    #[must_use]
    pub fn escalations_wake_handle(&self) -> Arc<Notify> {
        Arc::clone(&self.wake_handles.escalations)
    }
}
