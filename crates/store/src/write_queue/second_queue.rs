//! A second connection that writes, for many firings at once. It is opened when it is needed first.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;

use super::{WriteQueue, WriteStats};
use crate::open::Address;
use crate::queue::WakeHandles;
use crate::threads::StatementThreads;

/// How long the firings wait for the connection. Afterwards the first connection writes them all.
const MAX_CONNECTING: Duration = Duration::from_secs(1);

/// The queue to the second writer, which may not exist yet.
#[derive(Debug)]
pub(crate) struct SecondQueue {
    address: Address,
    wake_handles: WakeHandles,
    threads: Arc<dyn StatementThreads>,
    queue: OnceCell<Arc<WriteQueue>>,
}

impl SecondQueue {
    pub(crate) fn new(address: Address, wake_handles: WakeHandles, threads: Arc<dyn StatementThreads>) -> Self {
        Self {
            address,
            wake_handles,
            threads,
            queue: OnceCell::new(),
        }
    }

    /// Returns the queue, and opens its connection if it is the first time.
    ///
    /// # Errors
    /// That of the connection, or [`sqlx::Error::PoolTimedOut`] if it takes longer than [`MAX_CONNECTING`].
    pub(crate) async fn get(&self) -> Result<Arc<WriteQueue>, sqlx::Error> {
        self.queue.get_or_try_init(|| self.open()).await.map(Arc::clone)
    }

    async fn open(&self) -> Result<Arc<WriteQueue>, sqlx::Error> {
        let connecting = tokio::time::timeout(MAX_CONNECTING, self.address.connect());
        let connection = connecting.await.map_err(|_| sqlx::Error::PoolTimedOut)??;
        let wake_handles = self.wake_handles.clone();
        let queue = WriteQueue::open(self.address.clone(), connection, wake_handles, &*self.threads);
        Ok(Arc::new(queue))
    }

    /// Closes the queue if it is open.
    pub(crate) async fn close(&self) {
        if let Some(queue) = self.queue.get() {
            queue.close().await;
        }
    }

    pub(crate) fn write_stats(&self) -> WriteStats {
        self.queue.get().map(|queue| queue.write_stats()).unwrap_or_default()
    }
}
