//! Crash tests: no acknowledged change is lost and no alert fires twice, at whatever time the service is killed.
//!
//! A *round* starts the service, runs several workers that create, change, pause, delete and fire alerts concurrently, kills the
//! service with SIGKILL at a random time, restarts it on the same database and compares the actual state with the expected state.
//! A worker models each of its alerts as a *set of possible states* ([`model`]): an acknowledged request leaves one successor of
//! each state; a request without a response leaves the state with and without the change, but no partial change.
//!
//! Firings are delivered to webhooks at receivers in the test process ([`deliveries`]): at least once, under one id, and nothing
//! that has not fired. Each firing also sends one email or text message ([`messages`]), at least once.
//!
//! A third of the alerts are expressions. [`repeating`] does the same with alerts that fire again and again, and [`timed`] with those
//! that are snoozed or expire. [`escalations`] does it with firings whose first channel fails, [`folding`] with more firings than their
//! channel gets separate messages for. Everywhere else each firing has its own message.
//!
//! The same test runs with two service processes on one database, which both get every quote. A negative control proves that the
//! harness detects duplicate firings: with compare-and-set on commit disabled, it must find some.
//!
//! Another test lets the server of the database crash and lose its connections ([`postgres_server`]), instead of the service or besides.
//!
//! `BELLWETHER_KILL_ROUNDS` sets the total rounds of all tests. `BELLWETHER_KILL_SEED` repeats a run with the seed that it printed.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

mod audit;
mod channels;
mod comparison;
mod deliveries;
mod escalations;
mod folding;
mod harness;
mod messages;
mod model;
mod postgres_server;
mod repeating;
mod timed;
mod worker;

use acceptance::{DatabaseKind, ServiceSetup, clock};
use harness::KillHarness;
use postgres_server::PostgresServer;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Total rounds of all tests, unless the environment overrides it.
const DEFAULT_ROUNDS: u32 = 60;

/// Seeds that once failed. Their rounds run first.
const REGRESSION_SEEDS: [u64; 0] = [];

/// Returns this percentage of all rounds and a random generator. Prints the seed, so that a run can be repeated.
fn plan(percent: u32) -> (u32, ChaCha8Rng) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let rounds = number("BELLWETHER_KILL_ROUNDS").map_or(DEFAULT_ROUNDS, |rounds| u32::try_from(rounds).unwrap());
    let seed = number("BELLWETHER_KILL_SEED").unwrap_or_else(|| u64::try_from(clock::now().as_microsecond()).unwrap());
    let rounds = (rounds * percent).div_ceil(100);
    println!("{rounds} rounds with BELLWETHER_KILL_SEED={seed}");
    (rounds, ChaCha8Rng::seed_from_u64(seed))
}

/// Returns settings that permit webhooks to call this machine, with many retries at short intervals.
fn with_webhooks(setup: ServiceSetup) -> ServiceSetup {
    setup
        .set("limits.premium_per_hour", "100000000")
        .set("notifications.burst_limit", "1000000")
        .set("webhooks.allow_private_cidrs", "127.0.0.1")
        .set("webhooks.timeout", "500ms")
        .set("webhooks.retry_delays", &["1s"; 60].join(","))
}

async fn run_rounds(database: DatabaseKind, processes: usize, percent: u32) {
    let (rounds, rng) = plan(percent);
    for seed in REGRESSION_SEEDS {
        println!("regression seed {seed}");
        run_rounds_with(database, processes, rounds, ChaCha8Rng::seed_from_u64(seed)).await;
    }
    run_rounds_with(database, processes, rounds, rng).await;
}

async fn run_rounds_with(database: DatabaseKind, processes: usize, rounds: u32, mut rng: ChaCha8Rng) {
    let setup = with_webhooks(ServiceSetup::on(database).await);
    let harness = KillHarness::start(setup, processes).await;
    run_rounds_of(harness, rounds, &mut rng).await;
}

async fn run_rounds_of(mut harness: KillHarness, rounds: u32, rng: &mut ChaCha8Rng) {
    for round in 1..=rounds {
        let violations = harness.round(rng).await;
        assert!(
            violations.is_empty(),
            "round {round}: {violations:#?}\n{}",
            harness.logs()
        );
    }
    let violations = harness.final_check().await;
    assert!(violations.is_empty(), "at the end: {violations:#?}");
    println!("{}", harness.summary());
    assert!(
        harness.firings() > 0 && harness.acknowledged() > u64::from(rounds),
        "the rounds did nothing"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_duplicated_on_sqlite() {
    run_rounds(DatabaseKind::Sqlite, 1, 40).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_duplicated_on_postgres() {
    run_rounds(DatabaseKind::Postgres, 1, 30).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_duplicated_by_two_processes() {
    run_rounds(DatabaseKind::Postgres, 2, 30).await;
}

/// The server of the database crashes, or its connections are cut, while the service goes on or is killed, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_duplicated_while_postgres_fails() {
    let (rounds, mut rng) = plan(30);
    let server = PostgresServer::start();
    let setup = with_webhooks(ServiceSetup::on_existing_postgres(server.url()));
    let harness = KillHarness::start(setup, 1).await.with_failing_server(server);
    run_rounds_of(harness, rounds, &mut rng).await;
}

/// The negative control: without compare-and-set, the harness must detect duplicate firings.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn harness_detects_duplicates_without_compare_and_set() {
    let (_, mut rng) = plan(0);
    let setup = with_webhooks(ServiceSetup::on(DatabaseKind::Postgres).await)
        .set("database.unsafe_without_compare_and_set", "true");
    let mut harness = KillHarness::start(setup, 2).await;
    for _ in 0..20 {
        let violations = harness.round(&mut rng).await;
        if violations.iter().any(|violation| violation.contains("fired too often")) {
            return;
        }
    }
    panic!("no duplicate firing detected in 20 rounds of two processes without compare-and-set");
}
