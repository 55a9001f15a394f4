//! Sixty-four users write at the same time.
//!
//! Each creates one alert after the other, as the service does: lock the account, look for an equivalent alert, count the
//! active ones, insert the alert with its history entry. Behind the store's door those that wait share a transaction; the
//! baseline lets one in at a time, so that each has a transaction and an fsync of its own on the same connection.
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
use store::model::Owner;
use store::{Abort, BoxFuture, Options, Store, Unit, Work};
use testkit::Database;
use tokio::sync::Mutex;

use support::{Fill, alert, compare, insert, is_asked_for, is_measured, stopwatch};

const USERS: u64 = 64;

/// Creates the alert of a number.
struct Create(u64);

impl Work for Create {
    type Done = ();
    type Refusal = ();

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<(), Abort<()>>> {
        Box::pin(async move {
            let alert = alert(self.0);
            let Owner::Account(account) = alert.owner else {
                return Err(Abort::Refused(()));
            };
            let asked = NewAlert {
                symbol: alert.alert.symbol,
                condition: alert.alert.condition,
                notification: alert.alert.notification,
                parameters: alert.alert.parameters.clone(),
                email: None,
            };
            unit.lock_account(account).await?;
            unit.similar_alerts(&alert.owner, &asked).await?;
            unit.count_active_alerts(account).await?;
            insert(unit, &alert).await?;
            Ok(())
        })
    }
}

fn main() {
    let (each, rounds) = if is_measured() { (100, 5) } else { (2, 1) };
    testkit::run(async {
        for database in testkit::fresh_databases().await {
            let kind = if database.is_postgres() { "PostgreSQL" } else { "SQLite" };
            if is_asked_for(kind) {
                race(&database, kind, each, rounds).await;
            }
        }
    });
}

async fn race(database: &Database, kind: &str, each: u64, rounds: u64) {
    let store = Store::open(Options::new(database.url())).await.unwrap();
    store
        .write(Fill {
            accounts: 0..1_000,
            alerts: 0..0,
        })
        .await
        .unwrap();
    let (mut shared, mut alone) = (Duration::MAX, Duration::MAX);
    let mut next = 0;
    for _ in 0..rounds {
        let before = store.written();
        shared = shared.min(all(&store, next, each, None).await);
        let after = store.written();
        println!(
            "{kind}: {} works a transaction",
            (after.works - before.works) / (after.transactions - before.transactions)
        );
        next += USERS * each;
        alone = alone.min(all(&store, next, each, Some(Arc::new(Mutex::new(())))).await);
        next += USERS * each;
    }
    let what = format!("{kind}, {USERS} users creating {each} alerts each");
    compare(&what, shared, "a transaction each", alone);
    store.close().await;
}

/// How long it takes until all users have created their alerts; with a turnstile, one lets one in at a time.
async fn all(store: &Store, first: u64, each: u64, turnstile: Option<Arc<Mutex<()>>>) -> Duration {
    let start = stopwatch();
    let users = (0..USERS).map(|user| {
        let (store, turnstile) = (store.clone(), turnstile.clone());
        tokio::spawn(async move {
            for number in 0..each {
                let create = Create(first + user * each + number);
                let _turn = match &turnstile {
                    Some(turnstile) => Some(turnstile.lock().await),
                    None => None,
                };
                store.write(create).await.unwrap();
            }
        })
    });
    for user in join_all(users).await {
        user.unwrap();
    }
    start.elapsed()
}
