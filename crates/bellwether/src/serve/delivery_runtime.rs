//! The Tokio runtime of deliveries, separate from the main runtime.

use anyhow::Context;
use tokio::runtime::{Builder, Handle, Runtime};

/// The number of worker threads. Attempts mostly wait for receivers. With a second thread, a CPU-bound attempt does
/// not delay the others.
const WORKER_THREADS: usize = 2;
/// The maximum number of threads for DNS lookups, a few more than a resolver uses at the same time.
const MAX_BLOCKING_THREADS: usize = 160;

/// A runtime that is shut down when this value is dropped, without waiting for its tasks.
#[derive(Debug)]
pub(super) struct DeliveryRuntime(Option<Runtime>);

impl DeliveryRuntime {
    /// Starts the runtime's threads.
    pub(super) fn start() -> anyhow::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(WORKER_THREADS)
            .max_blocking_threads(MAX_BLOCKING_THREADS)
            .thread_name("deliveries")
            .enable_all()
            .build();
        Ok(Self(Some(runtime.context("cannot start the threads for deliveries")?)))
    }

    /// Returns the handle for spawning tasks; `None` only during shutdown.
    pub(super) fn handle(&self) -> Option<Handle> {
        self.0.as_ref().map(|runtime| runtime.handle().clone())
    }
}

impl Drop for DeliveryRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // A slow name server may block a thread for an unlimited time.
            runtime.shutdown_background();
        }
    }
}
