//! Access to the network, and the runtime for it.
//!
//! Receivers are other people's programs: they hang, flood and drip. So deliveries can have a runtime of their own, with threads
//! of its own ([`Network::on`]): their deadlines do not wait for other work of this program, and their cost keeps
//! nothing else waiting. The database stays where the service is, so nothing that the service needs ends with that runtime.

use std::future::{Future, pending};
use std::panic::resume_unwind;
use std::sync::Arc;

use notify::address::{Resolver, SystemResolver};
use notify::dispatcher::{ClaimParams, ClaimedJob, DueEndpoint, Outbox, SettledJob};
use notify::time::Time;
use tokio::runtime::Handle;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::ByClock;
use crate::Clock;

/// The time and the resolver of network access, and its runtime.
#[derive(Clone, Debug)]
pub struct Network {
    /// The time that deadlines and due deliveries go by.
    pub time: Arc<dyn Time>,
    /// The resolver of names.
    pub resolver: Arc<dyn Resolver>,
    runtime: Option<Handle>,
}

impl Network {
    /// The machine's resolver, and a clock's time.
    #[must_use]
    pub fn by_clock(clock: &Arc<dyn Clock>) -> Self {
        Self::of(Arc::new(ByClock(Arc::clone(clock))))
    }

    /// The machine's resolver, and that time.
    #[must_use]
    pub fn of(time: Arc<dyn Time>) -> Self {
        Self {
            time,
            resolver: Arc::new(SystemResolver::default()),
            runtime: None,
        }
    }

    /// The same, with everything that speaks to receivers on that runtime. It must go on until the service has stopped.
    #[must_use]
    pub fn on(self, runtime: Handle) -> Self {
        Self {
            runtime: Some(runtime),
            ..self
        }
    }

    /// Does something that speaks to a receiver, on the runtime for that. Dropped, it ends there.
    pub(crate) async fn run<F>(&self, work: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        match &self.runtime {
            Some(runtime) => done(runtime, work).await,
            None => work.await,
        }
    }

    /// Starts a dispatcher on the runtime for that.
    pub(crate) fn spawn(&self, tasks: &TaskTracker, dispatcher: impl Future<Output = ()> + Send + 'static) {
        match &self.runtime {
            Some(runtime) => tasks.spawn_on(dispatcher, runtime),
            None => tasks.spawn(dispatcher),
        };
    }

    /// An outbox for a dispatcher that [`spawn`](Self::spawn) starts: the database is asked on the runtime of the caller.
    pub(crate) fn outbox<O>(&self, outbox: O) -> Arc<DatabaseOutbox<O>> {
        Arc::new(DatabaseOutbox {
            outbox: Arc::new(outbox),
            home: self.runtime.as_ref().map(|_| Handle::current()),
        })
    }
}

async fn done<F>(runtime: &Handle, work: F) -> F::Output
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    match AbortOnDropHandle::new(runtime.spawn(work)).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // That runtime has ended, and with it the program.
            Err(_) => pending().await,
        },
    }
}

/// An outbox that is asked on the runtime of the database, wherever the dispatcher is.
pub(crate) struct DatabaseOutbox<O> {
    outbox: Arc<O>,
    /// `None`: the dispatcher is there already.
    home: Option<Handle>,
}

impl<O> DatabaseOutbox<O> {
    async fn ask<F>(&self, ask: impl FnOnce(Arc<O>) -> F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let asked = ask(Arc::clone(&self.outbox));
        match &self.home {
            Some(home) => done(home, asked).await,
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
        self.ask(|outbox| async move { outbox.due_endpoints(after, limit).await })
            .await
    }

    async fn claim(&self, params: &ClaimParams) -> Result<Vec<ClaimedJob<O::Job>>, O::Error> {
        let params = params.clone();
        self.ask(|outbox| async move { outbox.claim(&params).await }).await
    }

    async fn settle(&self, settled: &[SettledJob<O::Report>]) -> Result<(), O::Error> {
        let settled = settled.to_vec();
        self.ask(|outbox| async move { outbox.settle(&settled).await }).await
    }
}
