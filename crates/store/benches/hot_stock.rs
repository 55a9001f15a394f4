//! Benchmark: 50,000 alerts on one stock fire at once on PostgreSQL: as one evaluation, which two connections write, and in parts, which one
//! connection writes.
//!
//! ```sh
//! export BELLWETHER_TEST_POSTGRES_URL=$(scripts/postgres-for-tests start --with-fsync)
//! cargo bench -p store --bench hot_stock
//! ```

#![allow(clippy::unwrap_used, reason = "a bench may fail so")]

mod support;

use std::ops::Range;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use sqlx::{Connection, PgConnection};
use store::model::Firing;
use store::{Store, StoreOptions};
use testkit::Database;

use support::{at, compare, fire, firing, insert_fixtures, is_measured, shuffle, stopwatch};

/// The number of firings that are one transaction.
const CHUNK: usize = 2_048;

fn main() {
    let (alerts, rounds) = if is_measured() { (100_000, 4) } else { (10_000, 1) };
    testkit::run(async {
        let (mut by_one, mut by_two) = (Duration::MAX, Duration::MAX);
        for round in 0..rounds {
            let (one, two) = one_round(alerts, round % 2 == 0).await;
            by_one = by_one.min(one);
            by_two = by_two.min(two);
        }
        let what = format!("PostgreSQL, {} firings of one stock on two connections", alerts / 2);
        compare(&what, by_two, "on one", by_one, 1.6);
    });
}

/// The time on one connection for one half of the alerts, and on two for the other half.
async fn one_round(alerts: u64, one_begins: bool) -> (Duration, Duration) {
    let database = Database::postgres().await;
    let store = Store::open(StoreOptions::new(database.url())).await.unwrap();
    insert_fixtures(&store, 0..1_000, 0..0).await;
    for start in (0..alerts).step_by(10_000) {
        insert_fixtures(&store, 0..0, start..(start + 10_000).min(alerts)).await;
    }
    let (mut by_one, mut by_two) = (Duration::ZERO, Duration::ZERO);
    for is_one in [one_begins, !one_begins] {
        if is_one {
            by_one = fire_all(&database, &store, 0..alerts / 2, true).await;
        } else {
            by_two = fire_all(&database, &store, alerts / 2..alerts, false).await;
        }
    }
    store.close().await;
    (by_one, by_two)
}

/// Fires alerts, in parts or at once. Returns the time that passes, and prints the processor time.
async fn fire_all(database: &Database, store: &Store, numbers: Range<u64>, in_parts: bool) -> Duration {
    let mut firings: Vec<Firing> = numbers.map(|number| firing(number, at(1_000_000))).collect();
    let parts: Vec<Vec<Firing>> = if in_parts {
        firings.chunks(CHUNK).map(<[Firing]>::to_vec).collect()
    } else {
        shuffle(&mut firings);
        vec![firings]
    };
    let (used, used_by_server, start) = (testkit::processor_time(), server_time(database).await, stopwatch());
    // While one part is written, the next one is read and composed.
    let firing = stream::iter(parts).map(|part| fire(store, part)).buffered(2);
    firing.collect::<Vec<_>>().await;
    let taken = start.elapsed();
    let used = testkit::processor_time().saturating_sub(used);
    let used_by_server = server_time(database).await.saturating_sub(used_by_server);
    let connections = if in_parts { 1 } else { 2 };
    println!(
        "connections: {connections}; {taken:.2?}; processor time: {used:.2?}, of the server: {used_by_server:.2?}"
    );
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
