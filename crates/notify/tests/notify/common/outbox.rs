//! An outbox in memory, which checks that the dispatcher keeps its side of the contract.
//!
//! Like a table it has an index by lane and instant, or tests with a hundred thousand deliveries would take minutes.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use notify::dispatcher::{ClaimOrder, Claimed, LaneDue, Outbox, Settled};
use notify::schedule::{Next, Report};
use notify::time::Time;
use tokio::sync::watch;
use uuid::Uuid;

/// How far a delivery has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    Pending,
    Delivered,
    Failed,
}

/// A delivery.
#[derive(Clone, Debug)]
pub(crate) struct Row<J, R> {
    pub(crate) id: Uuid,
    pub(crate) lane: i64,
    pub(crate) host: Arc<str>,
    pub(crate) account: Uuid,
    pub(crate) queued_at: Timestamp,
    pub(crate) due: Timestamp,
    pub(crate) lease: Option<i64>,
    pub(crate) status: Status,
    pub(crate) tries: u32,
    pub(crate) reports: Vec<R>,
    pub(crate) settled_at: Option<Timestamp>,
    pub(crate) job: J,
}

#[derive(Debug)]
pub(crate) struct Rows<J, R> {
    pub(crate) rows: BTreeMap<i64, Row<J, R>>,
    /// Lanes that were switched off.
    pub(crate) off: BTreeSet<i64>,
    /// The sizes of batches that were settled.
    pub(crate) batches: Vec<usize>,
    /// The most that was claimed at once.
    pub(crate) most_claimed: usize,
    pub(crate) looks: usize,
    pub(crate) claims: usize,
    next_key: i64,
    /// What is pending, by lane.
    pending: BTreeMap<i64, BTreeSet<(Timestamp, i64)>>,
    /// How many are claimed.
    claimed: usize,
}

impl<J, R> Rows<J, R> {
    /// Changes a row and what is counted of it.
    fn change<T>(&mut self, key: i64, change: impl FnOnce(&mut Row<J, R>) -> T) -> T {
        self.count(key, false);
        let changed = change(self.rows.get_mut(&key).unwrap());
        self.count(key, true);
        changed
    }

    /// Counts a row in, or out.
    fn count(&mut self, key: i64, comes: bool) {
        let row = &self.rows[&key];
        let counts = usize::from(row.lease.is_some());
        self.claimed = if comes {
            self.claimed + counts
        } else {
            self.claimed - counts
        };
        if row.status != Status::Pending {
            return;
        }
        let lane = self.pending.entry(row.lane).or_default();
        if comes {
            lane.insert((row.due, key));
        } else {
            lane.remove(&(row.due, key));
            if lane.is_empty() {
                self.pending.remove(&row.lane);
            }
        }
    }
}

/// What the outbox is asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Question {
    Lanes,
    Claim,
    Settle,
}

/// How it fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    Error,
    Panic,
}

pub(crate) struct MemoryOutbox<J, R> {
    pub(crate) all: Mutex<Rows<J, R>>,
    faults: Mutex<VecDeque<(Question, Fault)>>,
    /// How long it takes to answer; what it answers is what is so at the end.
    takes: Mutex<HashMap<Question, Duration>>,
    /// Results of this delivery cannot be written.
    unwritable: Mutex<Option<i64>>,
    time: Arc<dyn Time>,
    changed: watch::Sender<u64>,
}

impl<J: Clone + Send, R: Clone + Send> MemoryOutbox<J, R> {
    pub(crate) fn new(time: Arc<dyn Time>) -> Arc<Self> {
        let rows = Rows {
            rows: BTreeMap::new(),
            off: BTreeSet::new(),
            batches: Vec::new(),
            most_claimed: 0,
            looks: 0,
            claims: 0,
            next_key: 1,
            pending: BTreeMap::new(),
            claimed: 0,
        };
        Arc::new(Self {
            all: Mutex::new(rows),
            faults: Mutex::default(),
            takes: Mutex::default(),
            unwritable: Mutex::default(),
            time,
            changed: watch::Sender::new(0),
        })
    }

    /// Queues a delivery: its key.
    pub(crate) fn queue(&self, lane: i64, host: &Arc<str>, account: u128, job: J) -> i64 {
        let now = self.time.now();
        let mut all = self.all.lock().unwrap();
        let key = all.next_key;
        all.next_key += 1;
        let row = Row {
            id: Uuid::from_u128(u128::try_from(key).unwrap() << 64),
            lane,
            host: Arc::clone(host),
            account: Uuid::from_u128(account),
            queued_at: now,
            due: now,
            lease: None,
            status: Status::Pending,
            tries: 0,
            reports: Vec::new(),
            settled_at: None,
            job,
        };
        all.rows.insert(key, row);
        all.count(key, true);
        key
    }

    /// From now on it takes so long to answer this.
    pub(crate) fn takes(&self, question: Question, millis: u64) {
        let mut takes = self.takes.lock().unwrap();
        takes.insert(question, Duration::from_millis(millis));
    }

    /// Whatever comes of this delivery cannot be written, nor what is to be written with it.
    pub(crate) fn cannot_settle(&self, key: i64) {
        *self.unwritable.lock().unwrap() = Some(key);
    }

    /// The next time it is asked this, it fails.
    pub(crate) fn fail(&self, question: Question, fault: Fault) {
        self.faults.lock().unwrap().push_back((question, fault));
    }

    pub(crate) fn row(&self, key: i64) -> Row<J, R> {
        self.all.lock().unwrap().rows[&key].clone()
    }

    /// Waits until something is so.
    pub(crate) async fn until(&self, condition: impl Fn(&Rows<J, R>) -> bool) {
        let mut changed = self.changed.subscribe();
        let wait = async {
            while !condition(&self.all.lock().unwrap()) {
                changed.changed().await.unwrap();
            }
        };
        // Virtual time may run through days meanwhile.
        let waited = tokio::time::timeout(Duration::from_secs(30 * 86_400), wait).await;
        waited.expect("the outbox comes to it");
    }

    /// Waits until a delivery was tried so many times.
    pub(crate) async fn tried(&self, key: i64, times: usize) -> Row<J, R> {
        self.until(|all| all.rows[&key].reports.len() >= times).await;
        self.row(key)
    }

    /// Waits until nothing is pending.
    pub(crate) async fn done(&self) {
        self.until(|all| all.pending.is_empty()).await;
    }

    async fn think(&self, question: Question) -> Result<(), String> {
        let takes = self.takes.lock().unwrap().get(&question).copied();
        match takes {
            Some(takes) => self.time.sleep(takes).await,
            None => tokio::task::yield_now().await,
        }
        let mut faults = self.faults.lock().unwrap();
        let Some((_, fault)) = faults.pop_front_if(|(next, _)| *next == question) else {
            return Ok(());
        };
        drop(faults);
        if fault == Fault::Panic {
            wanted_panic();
        }
        Err(format!("{question:?} fails"))
    }
}

impl<J, R> Outbox for MemoryOutbox<J, R>
where
    J: Clone + Send + Sync + 'static,
    R: Report + Clone,
{
    type Job = J;
    type Report = R;
    type Error = String;

    async fn lanes(&self, after: i64, limit: u32) -> Result<Vec<LaneDue>, String> {
        self.think(Question::Lanes).await?;
        let mut all = self.all.lock().unwrap();
        all.looks += 1;
        let lanes = all.pending.range(after.saturating_add(1)..);
        let lanes = lanes.take(usize::try_from(limit).unwrap()).map(|(lane, rows)| LaneDue {
            lane: *lane,
            first_due: rows.first().unwrap().0,
        });
        Ok(lanes.collect())
    }

    async fn claim(&self, order: &ClaimOrder) -> Result<Vec<Claimed<J>>, String> {
        self.think(Question::Claim).await?;
        assert!(order.now <= self.time.now(), "nothing is claimed before it is due");
        let mut all = self.all.lock().unwrap();
        all.claims += 1;
        let mut claimed = Vec::new();
        let (each, most) = (order.most_of_each.try_into().unwrap(), order.most.try_into().unwrap());
        for lane in &order.lanes {
            let Some(rows) = all.pending.get(lane) else { continue };
            let due = rows.iter().take_while(|(due, _)| *due <= order.now);
            let keys: Vec<i64> = due.take(each).map(|(_, key)| *key).collect();
            for key in keys {
                if claimed.len() >= most {
                    break;
                }
                claimed.push(all.change(key, |row| {
                    row.due = order.until;
                    row.lease = Some(order.lease);
                    Claimed {
                        key,
                        id: row.id,
                        lane: row.lane,
                        host: Arc::clone(&row.host),
                        account: row.account,
                        tries: row.tries,
                        job: row.job.clone(),
                    }
                }));
            }
        }
        all.most_claimed = all.most_claimed.max(all.claimed);
        Ok(claimed)
    }

    async fn settle(&self, settled: &[Settled<R>]) -> Result<(), String> {
        self.think(Question::Settle).await?;
        let unwritable = *self.unwritable.lock().unwrap();
        if let Some(key) = unwritable.filter(|key| settled.iter().any(|settled| settled.key == *key)) {
            return Err(format!("what came of {key} cannot be written"));
        }
        let now = self.time.now();
        let mut all = self.all.lock().unwrap();
        all.batches.push(settled.len());
        for settled in settled {
            all.change(settled.key, |row| settle(row, settled, now));
            if settled.next == Next::SwitchOff {
                all.off.insert(settled.lane);
            }
        }
        drop(all);
        self.changed.send_modify(|count| *count += 1);
        Ok(())
    }
}

fn settle<J, R: Clone>(row: &mut Row<J, R>, settled: &Settled<R>, now: Timestamp) {
    assert_eq!(row.lane, settled.lane);
    assert_eq!(settled.report.is_none(), settled.next == Next::Released);
    row.tries += u32::from(settled.report.is_some());
    row.reports.extend(settled.report.clone());
    if settled.next == Next::Delivered {
        row.status = Status::Delivered;
    } else if row.lease != Some(settled.lease) {
        return;
    }
    row.lease = None;
    match settled.next {
        Next::Delivered => row.settled_at = Some(now),
        Next::RetryAt(at) => row.due = at,
        Next::Released => row.due = now,
        Next::GivenUp | Next::SwitchOff => row.status = Status::Failed,
    }
}

/// A panic that a test wants. It is not told to the log, as it is nothing that has gone wrong.
pub(crate) fn wanted_panic() -> ! {
    std::panic::resume_unwind(Box::new("a panic that the test wants"))
}
