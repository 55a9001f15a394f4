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
use notify::address::{Resolver, SystemResolver};
use notify::dispatcher::{ClaimParams, ClaimedJob, DueEndpoint, Outbox, SettledJob};
use tokio::runtime::Handle;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

/// Time, name resolver and runtime of network access.
#[derive(Clone, Debug)]
pub struct Network {
    /// Time for deadlines and due deliveries.
    pub time: Arc<dyn Clock>,
    /// Name resolver.
    pub resolver: Arc<dyn Resolver>,
    runtime: Option<Handle>,
}

impl Network {
    /// Uses the system's resolver and the given clock.
    #[must_use]
    pub fn new(time: Arc<dyn Clock>) -> Self {
        Self {
            time,
            resolver: Arc::new(SystemResolver::default()),
            runtime: None,
        }
    }

    /// Runs network access on `runtime`, which must outlive the service.
    #[must_use]
    pub fn on_runtime(self, runtime: Handle) -> Self {
        Self {
            runtime: Some(runtime),
            ..self
        }
    }

    /// Runs a future on the network runtime. Dropping the result cancels it.
    pub async fn run<F>(&self, work: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        match &self.runtime {
            Some(runtime) => run_on(runtime, work).await,
            None => work.await,
        }
    }

    /// Starts a dispatcher on the network runtime.
    pub fn spawn(&self, tasks: &TaskTracker, dispatcher: impl Future<Output = ()> + Send + 'static) {
        match &self.runtime {
            Some(runtime) => tasks.spawn_on(dispatcher, runtime),
            None => tasks.spawn(dispatcher),
        };
    }

    /// Returns an outbox for a dispatcher started by [`spawn`](Self::spawn). It accesses the database on the caller's
    /// runtime.
    pub fn outbox<O>(&self, outbox: O) -> Arc<DatabaseOutbox<O>> {
        Arc::new(DatabaseOutbox {
            outbox: Arc::new(outbox),
            database_runtime: self.runtime.as_ref().map(|_| Handle::current()),
        })
    }
}

async fn run_on<F>(runtime: &Handle, work: F) -> F::Output
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    match AbortOnDropHandle::new(runtime.spawn(work)).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime has shut down, and the program with it.
            Err(_) => pending().await,
        },
    }
}

/// An outbox that accesses the database on its own runtime, independent of the dispatcher's runtime.
pub struct DatabaseOutbox<O> {
    outbox: Arc<O>,
    /// `None` if the dispatcher runs on the same runtime.
    database_runtime: Option<Handle>,
}

impl<O> DatabaseOutbox<O> {
    async fn run<F>(&self, ask: impl FnOnce(Arc<O>) -> F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let asked = ask(Arc::clone(&self.outbox));
        match &self.database_runtime {
            Some(database_runtime) => run_on(database_runtime, asked).await,
            None => asked.await,
        }
    }
}

impl<O> Outbox for DatabaseOutbox<O>
where
    O: Outbox,
    O::Report: Clone + Sync,
{
    type Job = O::Job;
    type Report = O::Report;
    type Error = O::Error;

    async fn due_endpoints(&self, after: i64, limit: u32) -> Result<Vec<DueEndpoint>, O::Error> {
        self.run(|outbox| async move { outbox.due_endpoints(after, limit).await })
            .await
    }

    async fn claim(&self, params: &ClaimParams) -> Result<Vec<ClaimedJob<O::Job>>, O::Error> {
        let params = params.clone();
        self.run(|outbox| async move { outbox.claim(&params).await }).await
    }

    async fn settle(&self, settled: &[SettledJob<O::Report>]) -> Result<(), O::Error> {
        let settled = settled.to_vec();
        self.run(|outbox| async move { outbox.settle(&settled).await }).await
    }
}
