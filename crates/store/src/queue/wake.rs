//! Notifies dispatchers of new rows, and the job of escalations of earlier ones.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::Notify;

use crate::model::Queue;
use crate::{Store, UnitOfWork};

/// The dispatchers and jobs to notify after a commit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wakes {
    queues: BTreeSet<Queue>,
    escalations: bool,
}

impl Wakes {
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Notifies the dispatcher of each queue, and the job of escalations.
#[derive(Clone, Debug, Default)]
pub(crate) struct WakeHandles {
    queues: [Arc<Notify>; Queue::ALL.len()],
    escalations: Arc<Notify>,
}

impl WakeHandles {
    pub(crate) fn wake(&self, wakes: &Wakes) {
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

    /// Returns a handle that is notified after each transaction after which an escalation may be due earlier. Covers this process only.
    #[must_use]
    pub fn escalations_wake_handle(&self) -> Arc<Notify> {
        Arc::clone(&self.wake_handles.escalations)
    }
}
