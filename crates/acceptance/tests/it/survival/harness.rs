//! The kill harness: one or two service processes on one database, the workers, and the comparison of the actual state with the
//! expected state.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use acceptance::environment::{ALL_SCOPES, ingest};
use acceptance::{ApiClient, RunningService, ServiceSetup};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng};
use serde_json::json;

use crate::survival::audit::{self, DatabaseSnapshot, ListedAlert};
use crate::survival::deliveries::{self, DeliveryCounts, WebhookReceivers};
use crate::survival::messages::{MessageReceivers, OWNER};
use crate::survival::model::{AlertState, AlertStatus, dollars};
use crate::survival::worker::{Worker, random_below};

const WORKER_COUNT: u64 = 4;
const START_PRICE: i64 = 1_000_000;
/// Maximum time before the processes of a round are killed, in milliseconds.
const MAX_RUN_TIME_MS: u64 = 600;
/// Maximum time before a starting process is killed, in milliseconds.
const MAX_STARTUP_TIME_MS: u64 = 300;

pub(crate) struct KillHarness {
    setup: ServiceSetup,
    key: String,
    processes: Vec<RunningService>,
    workers: Vec<Worker>,
    receivers: WebhookReceivers,
    messages: MessageReceivers,
    messages_summary: String,
    received: DeliveryCounts,
    rounds: u32,
    killed_during_startup: u32,
}

impl KillHarness {
    pub(crate) async fn start(setup: ServiceSetup, processes: usize) -> Self {
        let (messages, setup) = MessageReceivers::start(setup).await;
        setup.create_user(OWNER, "premium", &["--operator"]).await;
        let key = setup.create_key(OWNER, Some(ALL_SCOPES)).await;
        let mut started = Vec::new();
        for _ in 0..processes {
            started.push(setup.start().await);
        }
        messages.verify_phone(&started[0]).await;
        let receivers = WebhookReceivers::start(&started[0].anonymous_client().with_key(&key)).await;
        let harness = Self {
            setup,
            key,
            processes: started,
            workers: (0..WORKER_COUNT)
                .map(|number| Worker::new(number, START_PRICE))
                .collect(),
            receivers,
            messages,
            messages_summary: String::new(),
            received: DeliveryCounts::default(),
            rounds: 0,
            killed_during_startup: 0,
        };
        let symbols: Vec<_> = harness.workers.iter().map(|worker| worker.symbol.clone()).collect();
        let stocks: Vec<_> = symbols
            .iter()
            .map(|symbol| json!({"symbol": symbol, "name": symbol}))
            .collect();
        let quotes: Vec<_> = symbols
            .iter()
            .map(|symbol| json!({"symbol": symbol, "price": dollars(START_PRICE)}))
            .collect();
        for process in harness.clients() {
            ingest(&process, json!({"stocks": stocks, "quotes": quotes})).await;
        }
        harness
    }

    fn clients(&self) -> Vec<ApiClient> {
        let client = |process: &RunningService| process.anonymous_client().with_key(&self.key);
        self.processes.iter().map(client).collect()
    }

    pub(crate) fn logs(&self) -> String {
        let tail = |process: &RunningService| {
            let log = process.log();
            let lines: Vec<_> = log.lines().rev().take(15).collect();
            lines.into_iter().rev().collect::<Vec<_>>().join("\n")
        };
        self.processes.iter().map(tail).collect::<Vec<_>>().join("\n---\n")
    }

    pub(crate) fn acknowledged(&self) -> u64 {
        self.workers.iter().map(|worker| worker.acknowledged).sum()
    }

    pub(crate) fn firings(&self) -> usize {
        let alerts = self.workers.iter().flat_map(|worker| &worker.alerts);
        alerts
            .filter_map(|alert| alert.possible_states.first())
            .map(|state| state.fired.len())
            .sum()
    }

    pub(crate) fn summary(&self) -> String {
        format!(
            "{} kills ({} more while starting), {} acknowledged requests, {} alerts, {} firings; \
             at two receivers {} deliveries in {} requests, {} of them duplicates of accepted deliveries; {}",
            self.rounds,
            self.killed_during_startup,
            self.acknowledged(),
            self.workers.iter().map(|worker| worker.alerts.len()).sum::<usize>(),
            self.firings(),
            self.received.deliveries,
            self.received.requests,
            self.received.duplicates,
            self.messages_summary,
        )
    }

    /// Runs the workers, kills and restarts the processes, and compares. Returns the violations.
    pub(crate) async fn round(&mut self, rng: &mut ChaCha8Rng) -> Vec<String> {
        self.rounds += 1;
        self.receivers.change_behaviour(rng);
        self.messages.change_behaviour(rng);
        let stop = Arc::new(AtomicBool::new(false));
        let mut working = tokio::task::JoinSet::new();
        for worker in std::mem::take(&mut self.workers) {
            let worker_rng = ChaCha8Rng::seed_from_u64(rng.next_u64());
            working.spawn(worker.work(self.clients(), worker_rng, Arc::clone(&stop)));
        }
        // The time of the kill is the random variable of the experiment.
        tokio::time::sleep(Duration::from_millis(20 + random_below(rng, MAX_RUN_TIME_MS))).await;
        // With two processes, usually only one is killed.
        let killed = if self.processes.len() == 2 && random_below(rng, 3) > 0 {
            1
        } else {
            self.processes.len()
        };
        let mut survivors = Vec::new();
        for (index, process) in self.processes.drain(..).enumerate() {
            if index < killed {
                process.kill().await;
            } else {
                survivors.push(process);
            }
        }
        stop.store(true, Ordering::Relaxed);
        self.workers = working.join_all().await;
        self.workers.sort_by(|one, other| one.symbol.cmp(&other.symbol));
        self.processes = survivors;
        for _ in 0..killed {
            self.start_process(rng).await;
        }
        let mut violations: Vec<_> = self
            .workers
            .iter_mut()
            .flat_map(|worker| worker.violations.drain(..))
            .collect();
        violations.extend(self.compare().await);
        violations
    }

    /// Starts a process; sometimes kills it during startup and starts it again.
    async fn start_process(&mut self, rng: &mut ChaCha8Rng) {
        while random_below(rng, 5) == 0 {
            let launched = self.setup.launch();
            tokio::time::sleep(Duration::from_millis(random_below(rng, MAX_STARTUP_TIME_MS))).await;
            launched.kill().await;
            self.killed_during_startup += 1;
        }
        self.processes.push(self.setup.start().await);
    }

    async fn read_snapshot(&self) -> DatabaseSnapshot {
        audit::read_database(self.setup.database(), self.setup.database_url()).await
    }

    /// Reads a state that the API and the database show consistently. The database may still commit a request of a killed process,
    /// and another process a request whose client has given up. Histories only grow, so between two equal ones nothing has changed.
    async fn read_consistent_state(&self, client: &ApiClient) -> (Vec<ListedAlert>, DatabaseSnapshot) {
        loop {
            let before = self.read_snapshot().await;
            let shown = audit::list_alerts(client).await;
            if self.read_snapshot().await == before {
                return (shown, before);
            }
        }
    }

    /// Compares the actual state with the model and resolves uncertain states. Returns the violations.
    async fn compare(&mut self) -> Vec<String> {
        let mut violations = Vec::new();
        let clients = self.clients();
        for worker in &mut self.workers {
            let response = clients[0]
                .get(&format!("/stocks/{}", worker.symbol))
                .await
                .expect_ok(200);
            let price = audit::price(&response.data()["last_price"]);
            // Each of two processes has its own last price; one may have missed a quote that was not acknowledged.
            if !worker.prices.contains(&price) {
                violations.push(format!(
                    "{} is at {price}; expected one of {:?}",
                    worker.symbol, worker.prices
                ));
            } else if clients.len() == 1 {
                worker.prices = BTreeSet::from([price]);
            }
        }
        let received = self.receivers.received();
        let (shown, snapshot) = self.read_consistent_state(clients.last().unwrap()).await;
        let written = &snapshot.alerts;
        let triggered: usize = written.values().map(|alert| alert.fired.len()).sum();
        if i64::try_from(triggered) != Ok(snapshot.events) {
            violations.push(format!("{triggered} firings, but {} events", snapshot.events));
        }
        for received in &received {
            violations.extend(deliveries::compare(received, &snapshot.firings).1);
        }
        let mut unknown: Vec<_> = shown.iter().collect();
        for worker in &mut self.workers {
            for alert in &mut worker.alerts {
                let found = unknown.iter().position(|shown| match &alert.id {
                    Some(id) => shown.id == *id,
                    None => shown.note == alert.note,
                });
                let shown = found.map(|index| unknown.swap_remove(index));
                if let Some(shown) = shown {
                    alert.id = Some(shown.id.clone());
                    if (shown.symbol.as_str(), shown.condition.as_str(), shown.note)
                        != (alert.symbol.as_str(), alert.condition(), alert.note)
                    {
                        violations.push(format!("{shown:?} was created as {alert:?}"));
                    }
                }
                let written = alert
                    .id
                    .as_ref()
                    .and_then(|id| written.get(id))
                    .cloned()
                    .unwrap_or_default();
                let state = AlertState {
                    status: match (shown, written.last_status.as_str()) {
                        (Some(shown), _) => shown.status,
                        (None, "") => AlertStatus::Absent,
                        (None, _) => AlertStatus::Deleted,
                    },
                    threshold: shown.map_or(alert.possible_states.first().unwrap().threshold, |shown| {
                        shown.threshold
                    }),
                    fired: written.fired.clone(),
                };
                if !written.last_status.is_empty() && AlertStatus::read(&written.last_status) != state.status {
                    violations.push(format!("{:?} is {state:?}, but its history is {written:?}", alert.id));
                }
                if i64::try_from(written.fired.len()) != Ok(written.events) {
                    violations.push(format!(
                        "{:?} fired {:?} with {} events",
                        alert.id, written.fired, written.events
                    ));
                }
                if let Err(violation) = alert.observe_state(&state, &worker.prices) {
                    violations.push(format!("{:?} {violation}", alert.id));
                }
            }
            worker.alerts.retain(|alert| !alert.is_certainly(AlertStatus::Absent));
        }
        violations.extend(unknown.iter().map(|shown| format!("unexpected alert {shown:?}")));
        violations
    }

    /// Compares the final state, and every firing with the history in the API. Returns the violations.
    pub(crate) async fn final_check(&mut self) -> Vec<String> {
        let mut violations = self.compare().await;
        let client = self.clients().remove(0);
        violations.extend(self.check_deliveries(&client).await);
        for alert in self.workers.iter().flat_map(|worker| &worker.alerts) {
            let path = format!("/alerts/{}/history?limit=200", alert.id.as_ref().unwrap());
            let history = client.get(&path).await.expect_ok(200);
            let fired = history
                .items()
                .iter()
                .rev()
                .filter(|entry| entry["action_type"] == "triggered");
            let prices: Vec<_> = fired.map(|entry| audit::price(&entry["trigger_price"])).collect();
            if alert.possible_states.iter().all(|state| state.fired != prices) {
                violations.push(format!(
                    "{:?} fired at {prices:?}; expected one of {:?}",
                    alert.id, alert.possible_states
                ));
            }
        }
        violations
    }

    /// Waits for all deliveries and messages, and checks that every firing has arrived at each receiver and as one message.
    /// Returns the violations.
    async fn check_deliveries(&mut self, client: &ApiClient) -> Vec<String> {
        self.receivers.wait_until_all_delivered(client).await;
        let firings = self.read_snapshot().await.firings;
        let mut violations = self.receivers.compare_reported(client, &firings).await;
        for received in self.receivers.received() {
            let (counts, more) = deliveries::compare_all(&received, &firings);
            self.received += counts;
            violations.extend(more);
        }
        let (more, summary) = self.messages.check(&self.setup, firings.values().sum()).await;
        violations.extend(more);
        self.messages_summary = summary;
        violations
    }
}
