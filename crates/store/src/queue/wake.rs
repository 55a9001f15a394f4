//! Notifies dispatchers of new rows.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::Notify;

use crate::model::Queue;
use crate::{Store, UnitOfWork};

/// Notifies the dispatcher of each queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct WakeHandles([Arc<Notify>; Queue::ALL.len()]);

impl WakeHandles {
    pub(crate) fn wake(&self, queues: &BTreeSet<Queue>) {
        for queue in queues {
            self.of(*queue).notify_one();
        }
    }

    fn of(&self, queue: Queue) -> Arc<Notify> {
        let place = Queue::ALL.iter().position(|other| *other == queue);
        place.and_then(|place| self.0.get(place)).cloned().unwrap_or_default()
    }
}

impl UnitOfWork {
    /// Notifies the dispatcher of a queue after the commit.
    pub(crate) fn wake(&mut self, queue: Queue) {
        self.woken.insert(queue);
    }
}

impl Store {
    /// Returns a handle that is notified after each transaction that created rows of a queue, so that the dispatcher
    /// need not poll. Covers this process only.
    #[must_use]
    pub fn wake_handle(&self, queue: impl Into<Queue>) -> Arc<Notify> {
        self.wake_handles.of(queue.into())
    }
}
