//! The kill harness: one or two service processes on one database, and the workers. `comparison.rs` compares the actual state with the
//! expected state.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use acceptance::clock::wait_for;
use acceptance::environment::{ALL_SCOPES, ingest};
use acceptance::{ApiClient, RunningService, ServiceSetup};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng};
use reqwest::Method;
use serde_json::json;

use crate::survival::deliveries::{DeliveryCounts, WebhookReceivers};
use crate::survival::messages::{MessageReceivers, OWNER};
use crate::survival::model::dollars;
use crate::survival::postgres_server::PostgresServer;
use crate::survival::worker::{Worker, random_below};

const WORKER_COUNT: u64 = 4;
const START_PRICE: i64 = 1_000_000;
/// Maximum time before the processes of a round are killed, in milliseconds.
const MAX_RUN_TIME_MS: u64 = 600;
/// Maximum time before a starting process is killed, in milliseconds.
const MAX_STARTUP_TIME_MS: u64 = 300;

pub(crate) struct KillHarness {
    pub(super) setup: ServiceSetup,
    /// The server of the database, if it fails in each round.
    server: Option<PostgresServer>,
    key: String,
    processes: Vec<RunningService>,
    pub(super) workers: Vec<Worker>,
    pub(super) receivers: WebhookReceivers,
    pub(super) messages: MessageReceivers,
    pub(super) messages_summary: String,
    pub(super) received: DeliveryCounts,
    kills: u32,
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
            server: None,
            key,
            processes: started,
            workers: (0..WORKER_COUNT)
                .map(|number| Worker::new(number, START_PRICE))
                .collect(),
            receivers,
            messages,
            messages_summary: String::new(),
            received: DeliveryCounts::default(),
            kills: 0,
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

    /// Lets the server of the database fail in each round. The service is killed in some of them.
    pub(crate) fn with_failing_server(mut self, server: PostgresServer) -> Self {
        self.server = Some(server);
        for worker in &mut self.workers {
            worker.database_may_fail = true;
        }
        self
    }

    pub(super) fn clients(&self) -> Vec<ApiClient> {
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
        let (crashes, cuts) = self
            .server
            .as_ref()
            .map_or((0, 0), |server| (server.crashes, server.cuts));
        format!(
            "{} kills ({} more while starting), {crashes} crashes of the database, {cuts} cuts of its connections, {} acknowledged requests, {} alerts, {} firings; \
             at two receivers {} deliveries in {} requests, {} of them duplicates of accepted deliveries; {}",
            self.kills,
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

    /// Runs the workers, lets the server of the database fail or kills and restarts the processes, and compares. Returns the violations.
    pub(crate) async fn round(&mut self, rng: &mut ChaCha8Rng) -> Vec<String> {
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
        let mut killed = self.processes.len();
        if let Some(server) = &mut self.server {
            server.fail(rng).await;
            killed = usize::from(random_below(rng, 4) == 0);
        } else if killed == 2 && random_below(rng, 3) > 0 {
            // With two processes, usually only one is killed.
            killed = 1;
        }
        self.kills += u32::from(killed > 0);
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
        if self.server.is_some() {
            self.wait_until_database_is_back().await;
        }
        let mut violations: Vec<_> = self
            .workers
            .iter_mut()
            .flat_map(|worker| worker.violations.drain(..))
            .collect();
        violations.extend(self.compare().await);
        violations
    }

    /// Waits until all processes are ready and have judged the prices whose requests have failed.
    async fn wait_until_database_is_back(&mut self) {
        let clients = self.clients();
        for client in &clients {
            wait_for("readiness", || async {
                let response = client.request_to(Method::GET, "/readyz").try_send().await;
                response.ok().filter(|response| response.status == 200)
            })
            .await;
        }
        for worker in &mut self.workers {
            worker.repeat_unacknowledged_price(&clients).await;
        }
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
}
