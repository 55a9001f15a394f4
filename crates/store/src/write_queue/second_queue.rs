//! A second connection that writes, for many firings at once. It is opened when it is needed first.

use std::sync::Arc;

use tokio::sync::OnceCell;

use super::{WriteQueue, WriteStats};
use crate::open::Address;
use crate::queue::WakeHandles;
use crate::threads::StatementThreads;

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
    /// The error of the connection.
    pub(crate) async fn get(&self) -> Result<Arc<WriteQueue>, sqlx::Error> {
        let open = async || {
            let connection = self.address.connect().await?;
            let wake_handles = self.wake_handles.clone();
            let queue = WriteQueue::open(self.address.clone(), connection, wake_handles, &*self.threads);
            Ok(Arc::new(queue))
        };
        self.queue.get_or_try_init(open).await.map(Arc::clone)
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
