//! Faults in a cluster: no firing is lost and none is doubled, whichever nodes are killed, stopped or cut off.
//!
//! A *round* starts two API nodes, three evaluators, two dispatchers, one or three NATS servers, and PostgreSQL with a synchronous
//! replica as real processes. Several clients push prices and activate their alerts again as soon as these have fired ([`load`]), while
//! processes are killed and restarted, stopped and continued, or cut off, in one direction or both, from NATS, the database or all ([`schedule`],
//! [`faults`]). In every third round the primary is killed and its replica takes over, and in every second one the disk of the
//! database is full for a while ([`database`]) or the clocks of nodes are set ahead and back ([`clocks`]). At the end, the firings and
//! deliveries on disk are compared with those of a model that knows all prices ([`model`], [`comparison`]). [`report`] has the
//! figures. Everything random in a round comes from its seed; the order of concurrent events does not.
//!
//! A negative control proves that the comparison detects wrong firings: without compare-and-set and fence it must find some.
//!
//! The rounds take minutes, so `scripts/test` leaves them out; `scripts/test-cluster` runs them. `BELLWETHER_CLUSTER_ROUNDS`,
//! `BELLWETHER_CLUSTER_SEED` and `BELLWETHER_CLUSTER_SECONDS` set the number of rounds, the first seed, and the length of the load.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

mod clocks;
mod comparison;
mod database;
mod faults;
mod load;
mod model;
mod nodes;
mod random;
mod report;
mod requests;
mod schedule;

use std::sync::Arc;
use std::time::Duration;

use acceptance::clock::now;
use acceptance::{ScriptedServer, tools};
use serde_json::json;
use tokio::task::JoinSet;

use load::Client;
use nodes::Cluster;
use report::RoundReport;

const DEFAULT_ROUNDS: u64 = 3;
const DEFAULT_SECONDS: u64 = 120;
const CLIENTS: u64 = 6;
const STOCKS_PER_CLIENT: usize = 8;
const WEBHOOKS: usize = 2;
/// The maximum number of rounds of the negative control.
const MAX_CONTROL_ROUNDS: u64 = 5;
/// Enough to see a pattern.
const MAX_SHOWN_VIOLATIONS: usize = 20;

/// Returns a number from the environment.
fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

fn first_seed() -> u64 {
    number("BELLWETHER_CLUSTER_SEED").unwrap_or_else(|| now().as_second().unsigned_abs())
}

/// Runs a round, and prints its report.
async fn round(seed: u64, settings: &[(&str, &str)]) -> RoundReport {
    let length = Duration::from_secs(number("BELLWETHER_CLUSTER_SECONDS").unwrap_or(DEFAULT_SECONDS));
    let nats_servers = if seed.is_multiple_of(2) { 3 } else { 1 };
    let has_clock_faults = schedule::has_clock_faults(seed) && tools::find_libfaketime().is_some();
    let cluster = Arc::new(Cluster::start(nats_servers, has_clock_faults, settings).await);
    let receivers = start_receivers(&cluster).await;
    let mut starting = JoinSet::new();
    for number in 0..CLIENTS {
        starting.spawn(Client::start(Arc::clone(&cluster), seed, number, STOCKS_PER_CLIENT));
    }
    let clients = starting.join_all().await;
    let began = now();
    let mut plan = schedule::plan(seed, length);
    plan.retain(|fault| has_clock_faults || !fault.action.is_of_clock());
    let nemesis = tokio::spawn(faults::apply(Arc::clone(&cluster), plan, began));
    let mut running = JoinSet::new();
    for client in clients {
        running.spawn(client.run(began + length));
    }
    let mut clients = Vec::new();
    while let Some(ended) = running.join_next().await {
        match ended {
            Ok(client) => clients.push(client),
            Err(error) => {
                write_logs(&cluster, seed, &[error.to_string()]).await;
                panic!("a client has failed with seed {seed}: {error}");
            }
        }
    }
    let faults = nemesis.await.unwrap();
    cluster.wait_until_shared().await;
    let mut results = Vec::new();
    for client in clients {
        results.push(client.finish().await);
    }
    let alerts: Vec<_> = results.iter().flat_map(|result| result.alerts.clone()).collect();
    let perhaps_created = results.iter().map(|result| result.perhaps_created).sum();
    let comparison = comparison::compare(&cluster.database_url(), (&alerts, perhaps_created), &receivers).await;
    let report = RoundReport {
        seed,
        nats_servers,
        began,
        faults,
        clients: results,
        comparison,
    };
    println!("{report}");
    let violations = report.violations();
    for violation in violations.iter().take(MAX_SHOWN_VIOLATIONS) {
        println!("  {violation}");
    }
    if !violations.is_empty() {
        let mut violations = violations;
        violations.extend(report.clients.iter().flat_map(|client| client.steps.clone()));
        write_logs(&cluster, seed, &violations).await;
    }
    report
}

/// Starts receivers of webhooks.
async fn start_receivers(cluster: &Cluster) -> Vec<ScriptedServer> {
    let mut receivers = Vec::new();
    for number in 0..WEBHOOKS {
        let receiver = ScriptedServer::start().await;
        let body = json!({"url": receiver.url(), "events": ["alert.triggered"]});
        let created = cluster
            .post("/webhooks", Some(&body), &format!("webhook-{number}"))
            .await;
        created.expect("no node is killed before the load");
        receivers.push(receiver);
    }
    receivers
}

/// Writes the logs of all nodes and the violations to the folder for files of tests.
async fn write_logs(cluster: &Cluster, seed: u64, violations: &[String]) {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cluster-{seed}"));
    std::fs::create_dir_all(&folder).unwrap();
    for (number, (node, log)) in cluster.logs().await.into_iter().enumerate() {
        std::fs::write(folder.join(format!("{number:02}-{node}.log")), log).unwrap();
    }
    std::fs::write(folder.join("violations"), violations.join("\n")).unwrap();
    println!("  the logs are in {}", folder.display());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes; scripts/test-cluster runs it"]
async fn nothing_is_lost_or_doubled_while_nodes_fail() {
    let (rounds, first) = (
        number("BELLWETHER_CLUSTER_ROUNDS").unwrap_or(DEFAULT_ROUNDS),
        first_seed(),
    );
    let mut failed = Vec::new();
    for seed in first..first + rounds {
        let report = round(seed, &[]).await;
        if !report.violations().is_empty() {
            failed.push(seed);
        }
    }
    assert!(failed.is_empty(), "the rounds with these seeds failed: {failed:?}");
}

/// The negative control: without compare-and-set and fence, the comparison must find wrong firings.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes; scripts/test-cluster --guard runs it"]
async fn rounds_detect_wrong_firings_without_compare_and_set_and_fence() {
    let settings = [
        ("database.unsafe_without_compare_and_set", "true"),
        ("cluster.unsafe_without_fence", "true"),
    ];
    let first = first_seed();
    for seed in first..first + MAX_CONTROL_ROUNDS {
        if round(seed, &settings).await.has_wrong_firings() {
            return;
        }
    }
    panic!("no wrong firing in {MAX_CONTROL_ROUNDS} rounds without compare-and-set and fence");
}
