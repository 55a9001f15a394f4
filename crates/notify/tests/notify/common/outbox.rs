//! An outbox in memory, which checks that the dispatcher keeps its side of the contract.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
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
}

/// What the outbox is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
        };
        Arc::new(Self {
            all: Mutex::new(rows),
            faults: Mutex::default(),
            time,
            changed: watch::Sender::new(0),
        })
    }

    /// Queues a delivery: its key.
    pub(crate) fn queue(&self, lane: i64, host: &str, account: u128, job: J) -> i64 {
        let now = self.time.now();
        let mut all = self.all.lock().unwrap();
        let key = all.next_key;
        all.next_key += 1;
        let row = Row {
            id: Uuid::from_u128(u128::try_from(key).unwrap() << 64),
            lane,
            host: host.into(),
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
        key
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
        self.until(|all| all.rows.values().all(|row| row.status != Status::Pending))
            .await;
    }

    fn fails(&self, question: Question) -> Result<(), String> {
        let mut faults = self.faults.lock().unwrap();
        let Some((_, fault)) = faults.pop_front_if(|(next, _)| *next == question) else {
            return Ok(());
        };
        drop(faults);
        assert_eq!(fault, Fault::Error, "a panic that the test asked for");
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
        tokio::task::yield_now().await;
        self.fails(Question::Lanes)?;
        let mut all = self.all.lock().unwrap();
        all.looks += 1;
        let mut lanes: BTreeMap<i64, Timestamp> = BTreeMap::new();
        for row in all
            .rows
            .values()
            .filter(|row| row.status == Status::Pending && row.lane > after)
        {
            let first = lanes.entry(row.lane).or_insert(row.due);
            *first = row.due.min(*first);
        }
        let lanes = lanes.into_iter().take(usize::try_from(limit).unwrap());
        Ok(lanes.map(|(lane, first_due)| LaneDue { lane, first_due }).collect())
    }

    async fn claim(&self, order: &ClaimOrder) -> Result<Vec<Claimed<J>>, String> {
        tokio::task::yield_now().await;
        self.fails(Question::Claim)?;
        assert!(order.now <= self.time.now(), "nothing is claimed before it is due");
        let mut all = self.all.lock().unwrap();
        all.claims += 1;
        let mut claimed = Vec::new();
        for lane in &order.lanes {
            let due = |row: &Row<J, R>| row.status == Status::Pending && row.lane == *lane && row.due <= order.now;
            let mut rows: Vec<_> = all.rows.iter_mut().filter(|(_, row)| due(row)).collect();
            rows.sort_by_key(|(_, row)| row.due);
            for (key, row) in rows.into_iter().take(usize::try_from(order.most_of_each).unwrap()) {
                if claimed.len() >= usize::try_from(order.most).unwrap() {
                    break;
                }
                row.due = order.until;
                row.lease = Some(order.lease);
                claimed.push(Claimed {
                    key: *key,
                    id: row.id,
                    lane: row.lane,
                    host: Arc::clone(&row.host),
                    account: row.account,
                    tries: row.tries,
                    job: row.job.clone(),
                });
            }
        }
        let open = all.rows.values().filter(|row| row.lease.is_some()).count();
        all.most_claimed = all.most_claimed.max(open);
        Ok(claimed)
    }

    async fn settle(&self, settled: &[Settled<R>]) -> Result<(), String> {
        tokio::task::yield_now().await;
        self.fails(Question::Settle)?;
        let now = self.time.now();
        let mut all = self.all.lock().unwrap();
        all.batches.push(settled.len());
        for settled in settled {
            let row = all.rows.get_mut(&settled.key).unwrap();
            assert_eq!(row.lane, settled.lane);
            assert_eq!(settled.report.is_none(), settled.next == Next::Released);
            row.tries += u32::from(settled.report.is_some());
            row.reports.extend(settled.report.clone());
            if settled.next == Next::Delivered {
                row.status = Status::Delivered;
            } else if row.lease != Some(settled.lease) {
                continue;
            }
            row.lease = None;
            match settled.next {
                Next::Delivered => row.settled_at = Some(now),
                Next::RetryAt(at) => row.due = at,
                Next::Released => row.due = now,
                Next::GivenUp | Next::SwitchOff => row.status = Status::Failed,
            }
            if settled.next == Next::SwitchOff {
                all.off.insert(settled.lane);
            }
        }
        drop(all);
        self.changed.send_modify(|count| *count += 1);
        Ok(())
    }
}
