//! Benchmark: 100,000 of 200,000 alerts fire at once.
//!
//! Compares `Store::commit_evaluation` with a baseline that writes the same rows: for each firing three prepared
//! statements (alert, history entry, event), 10,000 firings per transaction, on one connection; on SQLite with the driver of the store
//! and with that of sqlx.
//! Each round has a fresh database. One half of its alerts is fired by the store, the other half by the baseline;
//! the two take turns at going first. A further part compares firings with routes and receipts with ones without (`receipts`).
//!
//! ```sh
//! export BELLWETHER_TEST_POSTGRES_URL=$(scripts/postgres-for-tests start --with-fsync)
//! cargo bench -p store --bench storm
//! ```

#![allow(clippy::unwrap_used, reason = "a bench may fail so")]

mod support;

use std::time::Duration;

use market::Price;
use serde_json::json;
use sqlx::Connection;
use sqlx::sqlite::SqliteConnectOptions;
use store::model::{ChannelThrottle, Firing, StoredAlert};
use store::{Store, StoreOptions};
use testkit::Database;

use support::{
    alert, at, channel, compare, compose, fire, firing, insert_fixtures, is_measured, is_selected, route_to, shuffle,
    stopwatch,
};

/// Firings per transaction of the baseline.
const FIRINGS_PER_TRANSACTION: usize = 10_000;

fn main() {
    let (alerts, rounds) = if is_measured() { (200_000, 2) } else { (400, 1) };
    testkit::run(async {
        for (kind, driver, goal) in [
            ("SQLite", Driver::Rusqlite, 8.0),
            ("SQLite with the driver of sqlx", Driver::Sqlx, 8.0),
            ("PostgreSQL", Driver::Sqlx, 2.0),
        ] {
            if !is_selected(kind) {
                continue;
            }
            let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
            for round in 0..rounds {
                let database = match kind {
                    "PostgreSQL" => Database::postgres().await,
                    _ => Database::sqlite(),
                };
                let (store, plain) = one_round(&database, driver, alerts, round % 2 == 0).await;
                println!("{kind}, round {round}: {store:.2?} and {plain:.2?}");
                ours = ours.min(store);
                theirs = theirs.min(plain);
            }
            let what = format!("{kind}, {} firings of {alerts} alerts", alerts / 2);
            compare(&what, ours, "three statements each", theirs, goal);
        }
        if is_selected("receipts") {
            cost_of_receipts(alerts / 2, rounds).await;
        }
    });
}

/// Compares firings whose alerts have a route, with an index by which a receipt finds its firing, with firings without both.
async fn cost_of_receipts(firings: u64, rounds: u64) {
    // Two equal storms differ by up to a tenth on a shared machine, so this compares many neighbours.
    let mut ratios = Vec::new();
    for round in 0..rounds * 8 {
        let mut taken = [0.0, 0.0];
        for is_routed in [round % 2 == 0, round % 2 == 1] {
            let database = Database::sqlite();
            taken[usize::from(is_routed)] = routed_storm(&database, firings, is_routed).await.as_secs_f64();
        }
        let [without, with] = taken;
        println!("receipts, round {round}: {with:.2} s and {without:.2} s");
        ratios.push(with / without);
    }
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios[ratios.len() / 2];
    let found = format!("{ratio:.2} times as the median of {}, goal at most 1.1", ratios.len());
    let what = format!("SQLite, {firings} firings with routes and receipts against ones without");
    testkit::print_goal(&what, &found, ratio <= 1.1);
}

/// The time in which alerts fire, each with a message.
async fn routed_storm(database: &Database, firings: u64, is_routed: bool) -> Duration {
    let store = Store::open(StoreOptions::new(database.url())).await.unwrap();
    insert_fixtures(&store, 0..1_000, 0..0).await;
    for start in (0..firings).step_by(10_000) {
        insert_fixtures(&store, 0..0, start..(start + 10_000).min(firings)).await;
    }
    if is_routed {
        set_routes(&store).await;
    } else {
        let mut connection = sqlx::SqliteConnection::connect(database.url()).await.unwrap();
        sqlx::raw_sql("DROP INDEX events_by_id")
            .execute(&mut connection)
            .await
            .unwrap();
    }
    let mut all: Vec<_> = (0..firings).map(|number| firing(number, at(1_000_000))).collect();
    shuffle(&mut all);
    let taken = by_the_store(database, &store, all).await;
    store.close().await;
    taken
}

/// Gives each account a chat channel, to which all of its firings go.
async fn set_routes(store: &Store) {
    let set = store.commit((), |(), unit| {
        Box::pin(async move {
            for number in 0..1_000 {
                let channel = channel(number, ChannelThrottle::default());
                unit.insert_notification_channel(&channel).await?;
                unit.set_notification_route(channel.account, route_to(&channel).as_ref())
                    .await?;
            }
            Ok(())
        })
    });
    set.await.unwrap();
}

/// The time of the store for one half of the alerts, and of the baseline for the other.
async fn one_round(database: &Database, driver: Driver, alerts: u64, store_begins: bool) -> (Duration, Duration) {
    let store = Store::open(StoreOptions::new(database.url())).await.unwrap();
    insert_fixtures(&store, 0..1_000, 0..0).await;
    for start in (0..alerts).step_by(10_000) {
        insert_fixtures(&store, 0..0, start..(start + 10_000).min(alerts)).await;
    }
    let half = |odd: u64| {
        let mut firings: Vec<_> = (0..alerts / 2)
            .map(|number| firing(number * 2 + odd, at(1_000_000)))
            .collect();
        shuffle(&mut firings);
        firings
    };
    let (evens, odds) = (half(0), half(1));
    let mut taken = (Duration::ZERO, Duration::ZERO);
    for turn in [store_begins, !store_begins] {
        if turn {
            taken.0 = by_the_store(database, &store, evens.clone()).await;
        } else {
            taken.1 = one_by_one(database, driver, &odds).await;
        }
    }
    assert_eq!(
        events_of(database).await,
        i64::try_from(alerts).unwrap(),
        "both have done the same"
    );
    store.close().await;
    taken
}

/// Begins to measure: the processor time of this process; on PostgreSQL, whose server is another one, the time that passes.
fn begin(database: &Database) -> impl FnOnce() -> Duration {
    let is_postgres = database.is_postgres();
    let start = stopwatch();
    let used = testkit::processor_time();
    move || {
        if is_postgres {
            start.elapsed()
        } else {
            testkit::processor_time().saturating_sub(used)
        }
    }
}

async fn by_the_store(database: &Database, store: &Store, firings: Vec<Firing>) -> Duration {
    let elapsed = begin(database);
    fire(store, firings).await;
    elapsed()
}

const UPDATE: &str = "UPDATE alerts SET status = 'triggered', revision = revision + 1, triggered_at = $3
    WHERE id = $1 AND revision = $2 AND status = 'active' RETURNING seq, account_id";
const RECORD: &str = "INSERT INTO history (alert_seq, action, previous_status, new_status, at, price, details)
    VALUES ($1, 'triggered', 'active', 'triggered', $2, $3, $4) RETURNING seq";
const EVENT: &str = "INSERT INTO events (seq, id, account_id, alert_seq, at, data) VALUES ($1, $2, $3, $4, $5, $6)";

macro_rules! one_by_one_with_sqlx {
    ($database:expr, $connection:expr, $begin:literal, $firings:expr, $any:expr) => {{
        let connection = $connection;
        let elapsed = begin($database);
        for firings in $firings.chunks(FIRINGS_PER_TRANSACTION) {
            sqlx::query($begin).execute(&mut *connection).await.unwrap();
            for firing in firings {
                let at = firing.at.as_microsecond();
                let update = sqlx::query_as(UPDATE)
                    .bind(firing.alert.0)
                    .bind(i64::from(firing.revision.0))
                    .bind(at);
                let (seq, account): (i64, Option<uuid::Uuid>) = update.fetch_one(&mut *connection).await.unwrap();
                let record = sqlx::query_as(RECORD)
                    .bind(seq)
                    .bind(at)
                    .bind(firing.price.map(Price::micros))
                    .bind(details(firing));
                let (place,): (i64,) = record.fetch_one(&mut *connection).await.unwrap();
                let event = sqlx::query(EVENT)
                    .bind(place)
                    .bind(firing.event.0)
                    .bind(account)
                    .bind(seq)
                    .bind(at)
                    .bind(compose($any, firing));
                event.execute(&mut *connection).await.unwrap();
            }
            sqlx::query("COMMIT").execute(&mut *connection).await.unwrap();
        }
        elapsed()
    }};
}

/// How the baseline reaches the database.
#[derive(Clone, Copy)]
enum Driver {
    /// SQLite on the calling thread, like the store.
    Rusqlite,
    /// SQLite on a thread of the connection, to which each statement is sent, or PostgreSQL.
    Sqlx,
}

/// The baseline. It composes events like the store, but from an alert that it need not read.
async fn one_by_one(database: &Database, driver: Driver, firings: &[Firing]) -> Duration {
    let any = alert(0);
    match driver {
        Driver::Rusqlite => one_by_one_with_rusqlite(database, firings, &any),
        Driver::Sqlx if database.is_postgres() => {
            let mut connection = sqlx::PgConnection::connect(database.url()).await.unwrap();
            one_by_one_with_sqlx!(database, &mut connection, "BEGIN", firings, &any)
        }
        Driver::Sqlx => {
            let options: SqliteConnectOptions = database.url().parse().unwrap();
            let with = |options: SqliteConnectOptions, (name, value)| options.pragma(name, value);
            let options = SQLITE_SETTINGS.into_iter().fold(options, with);
            let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
            one_by_one_with_sqlx!(database, &mut connection, "BEGIN IMMEDIATE", firings, &any)
        }
    }
}

/// The settings of the store.
const SQLITE_SETTINGS: [(&str, &str); 5] = [
    ("synchronous", "FULL"),
    ("cache_size", "-32000"),
    ("mmap_size", "268435456"),
    ("wal_autocheckpoint", "8000"),
    ("temp_store", "MEMORY"),
];

fn one_by_one_with_rusqlite(database: &Database, firings: &[Firing], any: &StoredAlert) -> Duration {
    let mut connection = rusqlite::Connection::open(database.url().trim_start_matches("sqlite://")).unwrap();
    for (name, value) in SQLITE_SETTINGS {
        connection.pragma_update(None, name, value).unwrap();
    }
    let elapsed = begin(database);
    for firings in firings.chunks(FIRINGS_PER_TRANSACTION) {
        let transaction = connection
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
            .unwrap();
        {
            let mut update = transaction.prepare_cached(UPDATE).unwrap();
            let mut record = transaction.prepare_cached(RECORD).unwrap();
            let mut event = transaction.prepare_cached(EVENT).unwrap();
            for firing in firings {
                let at = firing.at.as_microsecond();
                let alert = rusqlite::named_params! {
                    "$1": firing.alert.0, "$2": i64::from(firing.revision.0), "$3": at,
                };
                let (seq, account): (i64, Option<uuid::Uuid>) =
                    update.query_row(alert, |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
                let entry = rusqlite::params![seq, at, firing.price.map(Price::micros), details(firing)];
                let place: i64 = record.query_row(entry, |row| row.get(0)).unwrap();
                let data = compose(any, firing);
                event
                    .execute(rusqlite::params![place, firing.event.0, account, seq, at, data])
                    .unwrap();
            }
        }
        transaction.commit().unwrap();
    }
    elapsed()
}

/// The details of the history entry of a firing.
fn details(firing: &Firing) -> String {
    json!({"reason": firing.reason, "metric": null}).to_string()
}

async fn events_of(database: &Database) -> i64 {
    const COUNT: &str = "SELECT COUNT(*) FROM events";
    let (count,): (i64,) = if database.is_postgres() {
        let mut connection = sqlx::PgConnection::connect(database.url()).await.unwrap();
        sqlx::query_as(COUNT).fetch_one(&mut connection).await.unwrap()
    } else {
        let mut connection = sqlx::SqliteConnection::connect(database.url()).await.unwrap();
        sqlx::query_as(COUNT).fetch_one(&mut connection).await.unwrap()
    };
    count
}
