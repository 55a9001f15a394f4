//! An outbox in memory, which also checks that the dispatcher keeps its contract.
//!
//! It has an index by endpoint and due time, so that tests with a hundred thousand deliveries are fast.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clock::Clock;
use jiff::Timestamp;
use notify::dispatcher::{ClaimParams, ClaimedJob, DueEndpoint, Outbox, SettledJob};
use notify::schedule::{AttemptReport, NextStep};
use tokio::sync::watch;
use uuid::Uuid;

/// The status of a delivery.
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
    pub(crate) endpoint: i64,
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
    /// Endpoints that were disabled.
    pub(crate) disabled: BTreeSet<i64>,
    /// The sizes of settled batches.
    pub(crate) batches: Vec<usize>,
    /// Maximum number of deliveries that were claimed at once.
    pub(crate) max_claimed: usize,
    pub(crate) polls: usize,
    pub(crate) claims: usize,
    next_key: i64,
    /// Pending deliveries by endpoint.
    pending: BTreeMap<i64, BTreeSet<(Timestamp, i64)>>,
    /// Number of claimed deliveries.
    claimed: usize,
}

impl<J, R> Rows<J, R> {
    /// Changes a row and updates the counts.
    fn change<T>(&mut self, key: i64, change: impl FnOnce(&mut Row<J, R>) -> T) -> T {
        self.count(key, false);
        let changed = change(self.rows.get_mut(&key).unwrap());
        self.count(key, true);
        changed
    }

    /// Adds a row to the counts, or removes it.
    fn count(&mut self, key: i64, is_added: bool) {
        let row = &self.rows[&key];
        let counts = usize::from(row.lease.is_some());
        self.claimed = if is_added {
            self.claimed + counts
        } else {
            self.claimed - counts
        };
        if row.status != Status::Pending {
            return;
        }
        let endpoint = self.pending.entry(row.endpoint).or_default();
        if is_added {
            endpoint.insert((row.due, key));
        } else {
            endpoint.remove(&(row.due, key));
            if endpoint.is_empty() {
                self.pending.remove(&row.endpoint);
            }
        }
    }
}

/// The calls of an outbox.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum OutboxCall {
    DueEndpoints,
    Claim,
    Settle,
}

/// A failure that a test injects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InjectedFailure {
    Error,
    Panic,
}

pub(crate) struct MemoryOutbox<J, R> {
    pub(crate) all: Mutex<Rows<J, R>>,
    failures: Mutex<VecDeque<(OutboxCall, InjectedFailure)>>,
    /// The duration of calls. Their results are determined at the end.
    takes: Mutex<HashMap<OutboxCall, Duration>>,
    /// The result of this delivery cannot be settled.
    unwritable: Mutex<Option<i64>>,
    time: Arc<dyn Clock>,
    changed: watch::Sender<u64>,
}

impl<J: Clone + Send, R: Clone + Send> MemoryOutbox<J, R> {
    pub(crate) fn new(time: Arc<dyn Clock>) -> Arc<Self> {
        let rows = Rows {
            rows: BTreeMap::new(),
            disabled: BTreeSet::new(),
            batches: Vec::new(),
            max_claimed: 0,
            polls: 0,
            claims: 0,
            next_key: 1,
            pending: BTreeMap::new(),
            claimed: 0,
        };
        Arc::new(Self {
            all: Mutex::new(rows),
            failures: Mutex::default(),
            takes: Mutex::default(),
            unwritable: Mutex::default(),
            time,
            changed: watch::Sender::new(0),
        })
    }

    /// Queues a delivery, and returns its key.
    pub(crate) fn queue(&self, endpoint: i64, host: &Arc<str>, account: u128, job: J) -> i64 {
        let now = self.time.now();
        let mut all = self.all.lock().unwrap();
        let key = all.next_key;
        all.next_key += 1;
        let row = Row {
            id: Uuid::from_u128(u128::try_from(key).unwrap() << 64),
            endpoint,
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

    /// Sets the duration of a call.
    pub(crate) fn takes(&self, call: OutboxCall, millis: u64) {
        let mut takes = self.takes.lock().unwrap();
        takes.insert(call, Duration::from_millis(millis));
    }

    /// Makes every batch fail that settles this delivery.
    pub(crate) fn cannot_settle(&self, key: i64) {
        *self.unwritable.lock().unwrap() = Some(key);
    }

    /// Makes the next call of this kind fail.
    pub(crate) fn fail(&self, call: OutboxCall, failure: InjectedFailure) {
        self.failures.lock().unwrap().push_back((call, failure));
    }

    pub(crate) fn row(&self, key: i64) -> Row<J, R> {
        self.all.lock().unwrap().rows[&key].clone()
    }

    /// Waits until a condition is true.
    pub(crate) async fn until(&self, condition: impl Fn(&Rows<J, R>) -> bool) {
        let mut changed = self.changed.subscribe();
        let wait = async {
            while !condition(&self.all.lock().unwrap()) {
                changed.changed().await.unwrap();
            }
        };
        // Virtual time may advance by days.
        let waited = tokio::time::timeout(Duration::from_secs(30 * 86_400), wait).await;
        waited.expect("the condition becomes true");
    }

    /// Waits until a delivery was attempted this number of times.
    pub(crate) async fn tried(&self, key: i64, times: usize) -> Row<J, R> {
        self.until(|all| all.rows[&key].reports.len() >= times).await;
        self.row(key)
    }

    /// Waits until nothing is pending.
    pub(crate) async fn done(&self) {
        self.until(|all| all.pending.is_empty()).await;
    }

    async fn respond(&self, call: OutboxCall) -> Result<(), String> {
        let takes = self.takes.lock().unwrap().get(&call).copied();
        match takes {
            Some(takes) => self.time.sleep(takes).await,
            None => tokio::task::yield_now().await,
        }
        let mut failures = self.failures.lock().unwrap();
        let Some((_, failure)) = failures.pop_front_if(|(next, _)| *next == call) else {
            return Ok(());
        };
        drop(failures);
        if failure == InjectedFailure::Panic {
            panic_on_purpose();
        }
        Err(format!("{call:?} fails"))
    }
}

impl<J, R> Outbox for MemoryOutbox<J, R>
where
    J: Clone + Send + Sync + 'static,
    R: AttemptReport + Clone,
{
    type Job = J;
    type Report = R;
    type Error = String;

    async fn due_endpoints(&self, after: i64, limit: u32) -> Result<Vec<DueEndpoint>, String> {
        self.respond(OutboxCall::DueEndpoints).await?;
        let mut all = self.all.lock().unwrap();
        all.polls += 1;
        let endpoints = all.pending.range(after.saturating_add(1)..);
        let endpoints = endpoints
            .take(usize::try_from(limit).unwrap())
            .map(|(endpoint, rows)| DueEndpoint {
                endpoint: *endpoint,
                first_due: rows.first().unwrap().0,
            });
        Ok(endpoints.collect())
    }

    async fn claim(&self, params: &ClaimParams) -> Result<Vec<ClaimedJob<J>>, String> {
        self.respond(OutboxCall::Claim).await?;
        assert!(params.now <= self.time.now(), "nothing is claimed before it is due");
        let mut all = self.all.lock().unwrap();
        all.claims += 1;
        let mut claimed = Vec::new();
        let (each, max) = (
            params.max_per_endpoint.try_into().unwrap(),
            params.max_total.try_into().unwrap(),
        );
        for endpoint in &params.endpoints {
            let Some(rows) = all.pending.get(endpoint) else {
                continue;
            };
            let due = rows.iter().take_while(|(due, _)| *due <= params.now);
            let keys: Vec<i64> = due.take(each).map(|(_, key)| *key).collect();
            for key in keys {
                if claimed.len() >= max {
                    break;
                }
                claimed.push(all.change(key, |row| {
                    row.due = params.until;
                    row.lease = Some(params.lease);
                    ClaimedJob {
                        key,
                        id: row.id,
                        endpoint: row.endpoint,
                        host: Arc::clone(&row.host),
                        account: row.account,
                        previous_attempts: row.tries,
                        caused_at: None,
                        job: row.job.clone(),
                    }
                }));
            }
        }
        all.max_claimed = all.max_claimed.max(all.claimed);
        Ok(claimed)
    }

    async fn settle(&self, settled: &[SettledJob<R>]) -> Result<(), String> {
        self.respond(OutboxCall::Settle).await?;
        let unwritable = *self.unwritable.lock().unwrap();
        if let Some(key) = unwritable.filter(|key| settled.iter().any(|settled| settled.key == *key)) {
            return Err(format!("the result of {key} cannot be settled"));
        }
        let now = self.time.now();
        let mut all = self.all.lock().unwrap();
        all.batches.push(settled.len());
        for settled in settled {
            all.change(settled.key, |row| settle(row, settled, now));
            if settled.next == NextStep::DisableEndpoint {
                all.disabled.insert(settled.endpoint);
            }
        }
        drop(all);
        self.changed.send_modify(|count| *count += 1);
        Ok(())
    }
}

fn settle<J, R: Clone>(row: &mut Row<J, R>, settled: &SettledJob<R>, now: Timestamp) {
    assert_eq!(row.endpoint, settled.endpoint);
    assert_eq!(settled.report.is_none(), settled.next == NextStep::Released);
    row.tries += u32::from(settled.report.is_some());
    row.reports.extend(settled.report.clone());
    if settled.next == NextStep::Delivered {
        row.status = Status::Delivered;
    } else if row.lease != Some(settled.lease) {
        return;
    }
    row.lease = None;
    match settled.next {
        NextStep::Delivered => row.settled_at = Some(now),
        NextStep::RetryAt(at) => row.due = at,
        NextStep::Released => row.due = now,
        NextStep::GivenUp | NextStep::DisableEndpoint => row.status = Status::Failed,
    }
}

/// Panics without a message in the log, because the test expects it.
pub(crate) fn panic_on_purpose() -> ! {
    std::panic::resume_unwind(Box::new("a panic that the test expects"))
}
