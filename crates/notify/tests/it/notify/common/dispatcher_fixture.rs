//! A fake transport with scripted behaviour that counts concurrent attempts, and a dispatcher that uses it.

use std::collections::{HashMap, HashSet};
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clock::Clock;
use jiff::{SignedDuration, Timestamp};
use notify::dispatcher::{Dispatcher, DispatcherLimits, Outbox, Transport, WakeHandle};
use notify::schedule::{AttemptReport, AttemptResult, RetrySchedule};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::TokioTime;
use super::outbox::{MemoryOutbox, panic_on_purpose};

/// The behaviour of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AttemptBehaviour {
    /// Succeeds after this number of milliseconds.
    Succeeds(u64),
    /// Fails after this number of milliseconds.
    Fails(u64),
    /// Fails at once, and requests a retry after this number of seconds.
    RetryAfter(i64),
    /// Fails because the endpoint is gone.
    Gone,
    /// Panics.
    Panics,
    /// Never ends.
    Hangs,
}

/// A delivery for the fake transport.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) endpoint: i64,
    pub(crate) host: Arc<str>,
    pub(crate) account: u128,
    /// The behaviour of each attempt. Further attempts repeat the last one.
    pub(crate) behaviours: Arc<[AttemptBehaviour]>,
}

/// The report of an attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TestReport {
    pub(crate) at: Timestamp,
    pub(crate) result: AttemptResult,
}

impl AttemptReport for TestReport {
    fn internal_error(at: Timestamp) -> Self {
        Self {
            at,
            result: AttemptResult::Failed { not_before: None },
        }
    }

    fn result(&self) -> AttemptResult {
        self.result
    }
}

/// The keys by which attempts are counted.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum CountedBy {
    All,
    Endpoint(i64),
    Host(Arc<str>),
    Account(u128),
}

impl CountedBy {
    fn job(job: &Job) -> [(&'static str, Self); 4] {
        [
            ("all", Self::All),
            ("endpoint", Self::Endpoint(job.endpoint)),
            ("host", Self::Host(Arc::clone(&job.host))),
            ("account", Self::Account(job.account)),
        ]
    }
}

/// Numbers of concurrent attempts: now, and at most.
#[derive(Debug, Default)]
struct Concurrency {
    now: HashMap<CountedBy, usize>,
    max: HashMap<&'static str, usize>,
}

#[derive(Debug)]
pub(crate) struct FakeTransport {
    time: Arc<TokioTime>,
    concurrency: Mutex<Concurrency>,
    /// The deliveries in progress, and the number of attempts of each delivery.
    trying: Mutex<(HashSet<Uuid>, HashMap<Uuid, usize>)>,
}

impl FakeTransport {
    /// Returns the number of attempts.
    pub(crate) fn attempts(&self) -> usize {
        self.trying.lock().unwrap().1.values().sum()
    }

    /// Returns the maximum of concurrent attempts: of `all`, or of one `endpoint`, `host` or `account`.
    pub(crate) fn max(&self, of: &'static str) -> usize {
        self.concurrency
            .lock()
            .unwrap()
            .max
            .get(of)
            .copied()
            .unwrap_or_default()
    }

    /// Returns the number of attempts in progress.
    pub(crate) fn running(&self) -> usize {
        let concurrency = self.concurrency.lock().unwrap();
        concurrency.now.get(&CountedBy::All).copied().unwrap_or_default()
    }
}

/// Counts an attempt while it is in progress.
struct Counted<'a>(&'a FakeTransport, &'a Job, Uuid);

impl<'a> Counted<'a> {
    fn new(transport: &'a FakeTransport, job: &'a Job, id: Uuid) -> Self {
        let mut concurrency = transport.concurrency.lock().unwrap();
        for (kind, of) in CountedBy::job(job) {
            let now = concurrency.now.entry(of).or_default();
            *now += 1;
            let now = *now;
            let max = concurrency.max.entry(kind).or_default();
            *max = now.max(*max);
        }
        Self(transport, job, id)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        let mut concurrency = self.0.concurrency.lock().unwrap();
        for (_, of) in CountedBy::job(self.1) {
            *concurrency.now.get_mut(&of).unwrap() -= 1;
        }
        self.0.trying.lock().unwrap().0.remove(&self.2);
    }
}

impl Transport for FakeTransport {
    type Job = Job;
    type Report = TestReport;

    async fn attempt(&self, id: Uuid, job: &Job) -> TestReport {
        let at = self.time.now();
        let nth = {
            let mut trying = self.trying.lock().unwrap();
            assert!(trying.0.insert(id), "{id} is attempted twice at once");
            let nth = trying.1.entry(id).or_default();
            *nth += 1;
            *nth - 1
        };
        let _counted = Counted::new(self, job, id);
        let behaviour = job.behaviours[nth.min(job.behaviours.len() - 1)];
        let sleep = |millis| self.time.sleep(Duration::from_millis(millis));
        let failed = AttemptResult::Failed { not_before: None };
        let result = match behaviour {
            AttemptBehaviour::Succeeds(millis) => {
                sleep(millis).await;
                AttemptResult::Delivered
            }
            AttemptBehaviour::Fails(millis) => {
                sleep(millis).await;
                failed
            }
            AttemptBehaviour::RetryAfter(seconds) => AttemptResult::Failed {
                not_before: Some(SignedDuration::from_secs(seconds)),
            },
            AttemptBehaviour::Gone => AttemptResult::Gone,
            AttemptBehaviour::Panics => panic_on_purpose(),
            AttemptBehaviour::Hangs => pending().await,
        };
        TestReport { at, result }
    }
}

/// An outbox, a transport and dispatchers, in virtual time.
pub(crate) struct DispatcherFixture {
    pub(crate) time: Arc<TokioTime>,
    pub(crate) outbox: Arc<MemoryOutbox<Job, TestReport>>,
    pub(crate) transport: Arc<FakeTransport>,
    pub(crate) wake_handle: WakeHandle,
}

/// A running dispatcher.
pub(crate) struct RunningDispatcher {
    pub(crate) task: JoinHandle<()>,
    pub(crate) stop: oneshot::Sender<()>,
}

impl RunningDispatcher {
    /// Stops the dispatcher.
    pub(crate) async fn end(self) {
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
    }
}

impl DispatcherFixture {
    pub(crate) fn new() -> Self {
        let time = Arc::new(TokioTime::new());
        Self {
            outbox: MemoryOutbox::new(Arc::clone(&time) as Arc<dyn Clock>),
            transport: Arc::new(FakeTransport {
                time: Arc::clone(&time),
                concurrency: Mutex::default(),
                trying: Mutex::default(),
            }),
            time,
            wake_handle: WakeHandle::default(),
        }
    }

    /// Starts a dispatcher whose random numbers all are `random`.
    pub(crate) fn dispatch(&self, limits: DispatcherLimits, random: u64) -> RunningDispatcher {
        self.dispatch_from(Arc::clone(&self.outbox), &self.wake_handle, limits, random)
    }

    /// As [`dispatch`](Self::dispatch), from another outbox.
    pub(crate) fn dispatch_from(
        &self,
        outbox: Arc<impl Outbox<Job = Job, Report = TestReport>>,
        wake_handle: &WakeHandle,
        limits: DispatcherLimits,
        random: u64,
    ) -> RunningDispatcher {
        let (stop, stopped) = oneshot::channel();
        let dispatcher = Dispatcher {
            outbox,
            transport: Arc::clone(&self.transport),
            time: Arc::clone(&self.time) as Arc<dyn Clock>,
            limits,
            retry_schedule: RetrySchedule::default(),
            random: Box::new(move || random),
            wake_handle: wake_handle.clone(),
        };
        let task = tokio::spawn(dispatcher.run(async {
            // Dropping the handle does not stop the dispatcher.
            if stopped.await.is_err() {
                pending().await
            }
        }));
        RunningDispatcher { task, stop }
    }

    /// Queues a delivery for an endpoint with a separate host and account.
    pub(crate) fn queue(&self, endpoint: i64, behaviours: &[AttemptBehaviour]) -> i64 {
        self.queue_for(
            endpoint,
            &format!("{endpoint}.example"),
            u128::try_from(endpoint).unwrap(),
            behaviours,
        )
    }

    pub(crate) fn queue_for(&self, endpoint: i64, host: &str, account: u128, behaviours: &[AttemptBehaviour]) -> i64 {
        let job = Job {
            endpoint,
            host: host.into(),
            account,
            behaviours: behaviours.into(),
        };
        self.outbox.queue(endpoint, &Arc::clone(&job.host), account, job)
    }

    pub(crate) async fn sleep(&self, millis: u64) {
        self.time.sleep(Duration::from_millis(millis)).await;
    }

    /// Returns the milliseconds from the queueing of a delivery to its success.
    pub(crate) fn latency_ms(&self, key: i64) -> i128 {
        let row = self.outbox.row(key);
        row.settled_at.unwrap().duration_since(row.queued_at).as_millis()
    }
}
