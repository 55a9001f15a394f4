//! The kill harness: nothing acknowledged is lost and nothing fires twice, whenever the program dies.
//!
//! A *round* starts the program, lets several workers make, change, pause, delete and fire alerts at once, kills it with
//! SIGKILL at a random instant, starts it again on the same database and compares what is there with what must be. A
//! worker knows each of its alerts as the *set of states* it may be in ([`model`]): what was acknowledged leaves one
//! successor of each, what was not leaves both; so an unanswered request may have happened or not, but not halfway.
//!
//! What fired is delivered to webhooks at receivers in the process of the test ([`post`]): at least once, under one id,
//! and nothing that has not fired.
//!
//! The same goes on with two programs on one database, which both see every price. That the harness would notice a
//! double firing is shown by its own mend: with the comparison on commit switched off, it must find some.
//!
//! `BELLWETHER_KILL_ROUNDS` sets the rounds of all tests together, `BELLWETHER_KILL_SEED` repeats what a run printed.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod audit;
mod house;
mod model;
mod post;
mod worker;

use acceptance::{Database, Setup, clock};
use house::House;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The rounds of all tests together, unless the environment says otherwise.
const ROUNDS: u32 = 60;

/// This share of all rounds, and a generator of chance that is told so that a run can be repeated.
fn plan(percent: u32) -> (u32, ChaCha8Rng) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let rounds = number("BELLWETHER_KILL_ROUNDS").map_or(ROUNDS, |rounds| u32::try_from(rounds).unwrap());
    let seed = number("BELLWETHER_KILL_SEED").unwrap_or_else(|| u64::try_from(clock::now().as_microsecond()).unwrap());
    let rounds = (rounds * percent).div_ceil(100);
    println!("{rounds} rounds with BELLWETHER_KILL_SEED={seed}");
    (rounds, ChaCha8Rng::seed_from_u64(seed))
}

/// A house whose webhooks may call this machine, and try again soon and for long.
async fn setup(database: Database) -> Setup {
    let setup = Setup::on(database).await;
    setup
        .set("limits.premium_per_hour", "100000000")
        .set("webhooks.allow_private_cidrs", "127.0.0.1")
        .set("webhooks.timeout", "500ms")
        .set("webhooks.retry_delays", &["1s"; 60].join(","))
}

async fn survive(database: Database, programs: usize, percent: u32) {
    let (rounds, mut chance) = plan(percent);
    let mut house = House::open(setup(database).await, programs).await;
    for round in 1..=rounds {
        let faults = house.round(&mut chance).await;
        assert!(faults.is_empty(), "round {round}: {faults:#?}\n{}", house.logs());
    }
    let faults = house.last_look().await;
    assert!(faults.is_empty(), "at the end: {faults:#?}");
    println!("{}", house.tally());
    assert!(
        house.firings() > 0 && house.acknowledged() > u64::from(rounds),
        "the rounds did nothing"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_doubled_on_sqlite() {
    survive(Database::Sqlite, 1, 40).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_doubled_on_postgres() {
    survive(Database::Postgres, 1, 30).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_doubled_by_two_programs_on_one_database() {
    survive(Database::Postgres, 2, 30).await;
}

/// The negative control.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_comparison_on_commit_the_harness_sees_doubles() {
    let (_, mut chance) = plan(0);
    let setup = setup(Database::Postgres)
        .await
        .set("database.unsafe_without_compare_and_set", "true");
    let mut house = House::open(setup, 2).await;
    for _ in 0..20 {
        let faults = house.round(&mut chance).await;
        if faults.iter().any(|fault| fault.contains("fired too often")) {
            return;
        }
    }
    panic!("20 rounds of two programs that do not compare, and no double firing was noticed");
}
