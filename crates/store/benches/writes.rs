//! Benchmark: 64 users write at the same time.
//!
//! Each creates one alert after the other, as the service does: lock the account, look for an equivalent alert,
//! count the active ones, insert the alert with its history entry. In the store's write queue, transactions that
//! wait at the same time are committed together. The baseline runs one transaction at a time, each with its own
//! commit and fsync on the same connection.
//!
//! ```sh
//! export BELLWETHER_TEST_POSTGRES_URL=$(scripts/postgres-for-tests start --with-fsync)
//! cargo bench -p store --bench writes
//! ```

#![allow(clippy::unwrap_used, reason = "a bench may fail so")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use alerts::NewAlert;
use futures_util::future::join_all;
use store::model::AlertOwner;
use store::{Store, StoreOptions};
use testkit::Database;
use tokio::sync::Mutex;

use support::{alert, compare, insert, insert_fixtures, is_measured, is_selected, stopwatch};

const USER_COUNT: u64 = 64;

/// Creates the alert with a number.
async fn create_alert(store: &Store, number: u64) {
    let created = store.commit(number, |&number, unit| {
        Box::pin(async move {
            let alert = alert(number);
            let AlertOwner::Account(account) = alert.owner else {
                panic!("the alert of an account");
            };
            let asked = NewAlert {
                symbol: alert.alert.symbol,
                condition: alert.alert.condition.clone(),
                notification: alert.alert.notification,
                parameters: alert.alert.parameters.clone(),
                note: None,
                tags: alerts::Tags::default(),
                options: alerts::options::AlertOptions::default(),
                routing: alerts::Routing::default(),
                managed_by: None,
                email: None,
            };
            unit.lock_account(account).await?;
            unit.similar_alerts(&alert.owner, &asked).await?;
            unit.count_active_alerts(account).await?;
            insert(unit, &alert).await
        })
    });
    created.await.unwrap();
}

fn main() {
    let (each, rounds) = if is_measured() { (100, 5) } else { (2, 1) };
    testkit::run(async {
        for database in testkit::fresh_databases().await {
            let kind = if database.is_postgres() { "PostgreSQL" } else { "SQLite" };
            if is_selected(kind) {
                race(&database, kind, each, rounds).await;
            }
        }
    });
}

async fn race(database: &Database, kind: &str, each: u64, rounds: u64) {
    let store = Store::open(StoreOptions::new(database.url())).await.unwrap();
    insert_fixtures(&store, 0..1_000, 0..0).await;
    let (mut shared, mut alone) = (Duration::MAX, Duration::MAX);
    let mut next = 0;
    for _ in 0..rounds {
        let before = store.write_stats();
        shared = shared.min(all(&store, next, each, None).await);
        let after = store.write_stats();
        println!(
            "{kind}: {} transactions per commit",
            (after.transactions - before.transactions) / (after.commits - before.commits)
        );
        next += USER_COUNT * each;
        alone = alone.min(all(&store, next, each, Some(Arc::new(Mutex::new(())))).await);
        next += USER_COUNT * each;
    }
    let what = format!("{kind}, {USER_COUNT} users creating {each} alerts each");
    compare(&what, shared, "a transaction each", alone, 4.0);
    store.close().await;
}

/// The time until all users have created their alerts. With a lock, they write one at a time.
async fn all(store: &Store, first: u64, each: u64, lock: Option<Arc<Mutex<()>>>) -> Duration {
    let start = stopwatch();
    let users = (0..USER_COUNT).map(|user| {
        let (store, lock) = (store.clone(), lock.clone());
        tokio::spawn(async move {
            for number in 0..each {
                let _turn = match &lock {
                    Some(lock) => Some(lock.lock().await),
                    None => None,
                };
                create_alert(&store, first + user * each + number).await;
            }
        })
    });
    for user in join_all(users).await {
        user.unwrap();
    }
    start.elapsed()
}
