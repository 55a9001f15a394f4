//! Benchmark: 50,000 alerts on one stock fire at once on PostgreSQL, written by one evaluator, and by two with the alerts of one half of the
//! accounts each. It says how much a stock that is shared by two evaluators would gain.
//!
//! ```sh
//! export BELLWETHER_TEST_POSTGRES_URL=$(scripts/postgres-for-tests start --with-fsync)
//! cargo bench -p store --bench hot_stock
//! ```

#![allow(clippy::unwrap_used, reason = "a bench may fail so")]

mod support;

use std::ops::Range;
use std::time::Duration;

use sqlx::{Connection, PgConnection};
use store::model::Firing;
use store::{Store, StoreOptions};
use testkit::Database;

use support::{at, compare, fire, firing, insert_fixtures, is_measured, shuffle, stopwatch};

fn main() {
    let (alerts, rounds) = if is_measured() { (100_000, 4) } else { (400, 1) };
    testkit::run(async {
        let (mut by_one, mut by_two) = (Duration::MAX, Duration::MAX);
        for round in 0..rounds {
            let (one, two) = one_round(alerts, round % 2 == 0).await;
            by_one = by_one.min(one);
            by_two = by_two.min(two);
        }
        let what = format!("PostgreSQL, {} firings of one stock by two evaluators", alerts / 2);
        compare(&what, by_two, "by one", by_one, 1.6);
    });
}

/// The time of one evaluator for one half of the alerts, and of two for the other half.
async fn one_round(alerts: u64, one_begins: bool) -> (Duration, Duration) {
    let database = Database::postgres().await;
    let evaluators = [open(&database).await, open(&database).await];
    insert_fixtures(&evaluators[0], 0..1_000, 0..0).await;
    for start in (0..alerts).step_by(10_000) {
        insert_fixtures(&evaluators[0], 0..0, start..(start + 10_000).min(alerts)).await;
    }
    let (mut by_one, mut by_two) = (Duration::ZERO, Duration::ZERO);
    for is_one in [one_begins, !one_begins] {
        if is_one {
            by_one = fire_all(&database, &evaluators[..1], 0..alerts / 2).await;
        } else {
            by_two = fire_all(&database, &evaluators, alerts / 2..alerts).await;
        }
    }
    for store in &evaluators {
        store.close().await;
    }
    (by_one, by_two)
}

async fn open(database: &Database) -> Store {
    Store::open(StoreOptions::new(database.url())).await.unwrap()
}

/// Fires alerts, each by the evaluator of its account. Returns the time that passes, and prints the processor time.
async fn fire_all(database: &Database, evaluators: &[Store], numbers: Range<u64>) -> Duration {
    let of_evaluator = |evaluator: usize| {
        let is_evaluated = |number: &u64| usize::try_from(*number).unwrap() % evaluators.len() == evaluator;
        let numbers = numbers.clone().filter(is_evaluated);
        let mut firings: Vec<Firing> = numbers.map(|number| firing(number, at(1_000_000))).collect();
        shuffle(&mut firings);
        firings
    };
    let parts: Vec<Vec<Firing>> = (0..evaluators.len()).map(of_evaluator).collect();
    let (used, used_by_server, start) = (testkit::processor_time(), server_time(database).await, stopwatch());
    let firing = evaluators
        .iter()
        .zip(parts)
        .map(|(store, firings)| fire(store, firings));
    futures_util::future::join_all(firing).await;
    let taken = start.elapsed();
    let used = testkit::processor_time().saturating_sub(used);
    let used_by_server = server_time(database).await.saturating_sub(used_by_server);
    let number = evaluators.len();
    println!("evaluators: {number}; {taken:.2?}; processor time: {used:.2?}, of the server: {used_by_server:.2?}");
    taken
}

/// The processor time of the server's processes for the database.
async fn server_time(database: &Database) -> Duration {
    let mut connection = PgConnection::connect(database.url()).await.unwrap();
    let sql = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let pids: Vec<(i32,)> = sqlx::query_as(sql).fetch_all(&mut connection).await.unwrap();
    let ticks = pids.into_iter().map(|(pid,)| {
        // A process that has just ended has no file.
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let times = after_name.split_whitespace().skip(11).take(2);
        times.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>()
    });
    // A tick is a hundredth of a second.
    Duration::from_millis(ticks.sum::<u64>() * 10)
}
