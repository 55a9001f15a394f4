//! A channel that does what a test says, and counts what goes on at once.

use std::collections::{HashMap, HashSet};
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use notify::dispatcher::{Bell, Dispatcher, Limits, Transport};
use notify::schedule::{Report, RetryDelays, Verdict};
use notify::time::Time;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::TokioTime;
use super::outbox::{MemoryOutbox, wanted_panic};

/// What an attempt does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Act {
    /// Takes it after so many milliseconds.
    Takes(u64),
    /// Refuses it after so many milliseconds.
    Fails(u64),
    /// Refuses it at once, and asks to be left alone for so many seconds.
    Later(i64),
    /// Is gone.
    Gone,
    /// Breaks.
    Panics,
    /// Never ends.
    Never,
}

/// A delivery of this channel: where it goes to, and what happens.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) lane: i64,
    pub(crate) host: Arc<str>,
    pub(crate) account: u128,
    /// What each attempt does, and all further ones as the last.
    pub(crate) acts: Arc<[Act]>,
}

/// What an attempt came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Told {
    pub(crate) at: Timestamp,
    pub(crate) verdict: Verdict,
}

impl Report for Told {
    fn broken(at: Timestamp) -> Self {
        Self {
            at,
            verdict: Verdict::Failed { not_before: None },
        }
    }

    fn verdict(&self) -> Verdict {
        self.verdict
    }
}

/// What attempts are counted by.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Of {
    All,
    Lane(i64),
    Host(Arc<str>),
    Account(u128),
}

impl Of {
    fn job(job: &Job) -> [(&'static str, Self); 4] {
        [
            ("all", Self::All),
            ("lane", Self::Lane(job.lane)),
            ("host", Self::Host(Arc::clone(&job.host))),
            ("account", Self::Account(job.account)),
        ]
    }
}

/// How many go on at once, now and at most.
#[derive(Debug, Default)]
struct AtOnce {
    now: HashMap<Of, usize>,
    most: HashMap<&'static str, usize>,
}

#[derive(Debug)]
pub(crate) struct Channel {
    time: Arc<TokioTime>,
    at_once: Mutex<AtOnce>,
    /// The deliveries that are being tried, and how often each was.
    trying: Mutex<(HashSet<Uuid>, HashMap<Uuid, usize>)>,
}

impl Channel {
    /// How many attempts were made.
    pub(crate) fn attempts(&self) -> usize {
        self.trying.lock().unwrap().1.values().sum()
    }

    /// The most at once of `all`, of one `lane`, `host` or `account`.
    pub(crate) fn most(&self, of: &'static str) -> usize {
        self.at_once.lock().unwrap().most.get(of).copied().unwrap_or_default()
    }
}

/// Counts an attempt for as long as it goes on.
struct Counted<'a>(&'a Channel, &'a Job, Uuid);

impl<'a> Counted<'a> {
    fn new(channel: &'a Channel, job: &'a Job, id: Uuid) -> Self {
        let mut at_once = channel.at_once.lock().unwrap();
        for (kind, of) in Of::job(job) {
            let now = at_once.now.entry(of).or_default();
            *now += 1;
            let now = *now;
            let most = at_once.most.entry(kind).or_default();
            *most = now.max(*most);
        }
        Self(channel, job, id)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        let mut at_once = self.0.at_once.lock().unwrap();
        for (_, of) in Of::job(self.1) {
            *at_once.now.get_mut(&of).unwrap() -= 1;
        }
        self.0.trying.lock().unwrap().0.remove(&self.2);
    }
}

impl Transport for Channel {
    type Job = Job;
    type Report = Told;

    async fn attempt(&self, id: Uuid, job: &Job) -> Told {
        let at = self.time.now();
        let nth = {
            let mut trying = self.trying.lock().unwrap();
            assert!(trying.0.insert(id), "{id} is tried twice at once");
            let nth = trying.1.entry(id).or_default();
            *nth += 1;
            *nth - 1
        };
        let _counted = Counted::new(self, job, id);
        let act = job.acts[nth.min(job.acts.len() - 1)];
        let sleep = |millis| self.time.sleep(Duration::from_millis(millis));
        let failed = Verdict::Failed { not_before: None };
        let verdict = match act {
            Act::Takes(millis) => {
                sleep(millis).await;
                Verdict::Delivered
            }
            Act::Fails(millis) => {
                sleep(millis).await;
                failed
            }
            Act::Later(seconds) => Verdict::Failed {
                not_before: Some(SignedDuration::from_secs(seconds)),
            },
            Act::Gone => Verdict::Gone,
            Act::Panics => wanted_panic(),
            Act::Never => pending().await,
        };
        Told { at, verdict }
    }
}

/// An outbox, a channel and a dispatcher between them, in virtual time.
pub(crate) struct House {
    pub(crate) time: Arc<TokioTime>,
    pub(crate) outbox: Arc<MemoryOutbox<Job, Told>>,
    pub(crate) channel: Arc<Channel>,
    pub(crate) bell: Bell,
}

/// A dispatcher at work.
pub(crate) struct AtWork {
    pub(crate) task: JoinHandle<()>,
    pub(crate) stop: oneshot::Sender<()>,
}

impl AtWork {
    /// Stops it, however far it has come.
    pub(crate) async fn end(self) {
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
    }
}

/// As many lanes as a test has, each is an endpoint of its own host and account.
impl House {
    pub(crate) fn new() -> Self {
        let time = Arc::new(TokioTime::new());
        Self {
            outbox: MemoryOutbox::new(Arc::clone(&time) as Arc<dyn Time>),
            channel: Arc::new(Channel {
                time: Arc::clone(&time),
                at_once: Mutex::default(),
                trying: Mutex::default(),
            }),
            time,
            bell: Bell::default(),
        }
    }

    /// A dispatcher that draws this number whenever it draws one for a delay.
    pub(crate) fn dispatch(&self, limits: Limits, chance: u64) -> AtWork {
        let (stop, stopped) = oneshot::channel();
        let dispatcher = Dispatcher {
            outbox: Arc::clone(&self.outbox),
            transport: Arc::clone(&self.channel),
            time: Arc::clone(&self.time) as Arc<dyn Time>,
            limits,
            delays: RetryDelays::default(),
            chance: Box::new(move || chance),
            bell: self.bell.clone(),
        };
        let task = tokio::spawn(dispatcher.run(async {
            // Who lets go of the dispatcher does not stop it.
            if stopped.await.is_err() {
                pending().await
            }
        }));
        AtWork { task, stop }
    }

    /// Queues a delivery for an endpoint that has a host and an account to itself.
    pub(crate) fn queue(&self, lane: i64, acts: &[Act]) -> i64 {
        self.queue_for(lane, &format!("{lane}.example"), u128::try_from(lane).unwrap(), acts)
    }

    pub(crate) fn queue_for(&self, lane: i64, host: &str, account: u128, acts: &[Act]) -> i64 {
        let job = Job {
            lane,
            host: host.into(),
            account,
            acts: acts.into(),
        };
        self.outbox.queue(lane, &Arc::clone(&job.host), account, job)
    }

    pub(crate) async fn sleep(&self, millis: u64) {
        self.time.sleep(Duration::from_millis(millis)).await;
    }

    /// Milliseconds from when a delivery was queued until it was taken.
    pub(crate) fn latency_ms(&self, key: i64) -> i128 {
        let row = self.outbox.row(key);
        row.settled_at.unwrap().duration_since(row.queued_at).as_millis()
    }
}
