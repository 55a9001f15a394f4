//! Network access and its runtime.
//!
//! Receivers are untrusted servers: they may hang, flood or respond slowly. So deliveries can have a separate runtime
//! with its own threads ([`Network::on_runtime`]). Then their deadlines do not wait for other work, and their load does
//! not slow down other work. Database access stays on the runtime of the service, so the service does not depend on
//! that runtime.

use std::future::{Future, pending};
use std::panic::resume_unwind;
use std::sync::Arc;

use clock::Clock;
use notify::address::{Dialer, Resolver, SystemResolver, TcpDialer};
use tokio::runtime::Handle;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

/// Time, name resolver, connections and runtime of network access.
#[derive(Clone, Debug)]
pub struct Network {
    /// Time for deadlines and due deliveries.
    pub time: Arc<dyn Clock>,
    /// Name resolver.
    pub resolver: Arc<dyn Resolver>,
    /// Opens the connections of webhooks and email.
    pub dialer: Arc<dyn Dialer>,
    runtime: Runtime,
}

impl Network {
    /// Uses the system's resolver and connections, and the given clock.
    #[must_use]
    pub fn new(time: Arc<dyn Clock>) -> Self {
        Self {
            time,
            resolver: Arc::new(SystemResolver::default()),
            dialer: Arc::new(TcpDialer),
            runtime: Runtime::default(),
        }
    }

    /// Runs network access on `runtime`, which must outlive the service.
    #[must_use]
    pub fn on_runtime(self, runtime: Handle) -> Self {
        Self {
            runtime: Runtime(Some(runtime)),
            ..self
        }
    }

    /// Runs a future on the network runtime. Dropping the result cancels it.
    pub async fn run<F>(&self, work: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.runtime.run(work).await
    }

    /// Starts a dispatcher on the network runtime.
    pub fn spawn(&self, tasks: &TaskTracker, dispatcher: impl Future<Output = ()> + Send + 'static) {
        match &self.runtime.0 {
            Some(runtime) => tasks.spawn_on(dispatcher, runtime),
            None => tasks.spawn(dispatcher),
        };
    }

    /// Returns the caller's runtime, for database access by a task that [`spawn`](Self::spawn) starts.
    #[must_use]
    pub fn database_runtime(&self) -> Runtime {
        Runtime(self.runtime.0.as_ref().map(|_| Handle::current()))
    }
}

/// A runtime that work can be moved to.
#[derive(Clone, Debug, Default)]
pub struct Runtime(
    /// `None`: the runtime of the caller.
    Option<Handle>,
);

impl Runtime {
    /// Runs a future on this runtime. Dropping the result cancels it.
    pub async fn run<F>(&self, work: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let Some(runtime) = &self.0 else {
            return work.await;
        };
        match AbortOnDropHandle::new(runtime.spawn(work)).await {
            Ok(done) => done,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                // The runtime has shut down, and the program with it.
                Err(_) => pending().await,
            },
        }
    }
}
