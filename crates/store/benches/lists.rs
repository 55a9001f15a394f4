//! Benchmark: a page of 50 alerts of an account with 100 alerts, and of accounts with many more.
//!
//! The elapsed time of the fastest of some reads, one after the other on an idle store, so nearly all of it is work. The goal: the page
//! of the largest account takes at most 1.3 times as long as that of the smallest.
//!
//! ```sh
//! export BELLWETHER_TEST_POSTGRES_URL=$(scripts/postgres-for-tests start)
//! cargo bench -p store --bench lists
//! ```

#![allow(clippy::unwrap_used, reason = "a bench may fail so")]

mod support;

use std::time::Duration;

use store::model::{AccountId, AlertFilter, AlertOwner, AlertSort, AlertSortField, PageRequest};
use store::{Store, StoreOptions};
use testkit::Database;

use support::{alert, id, insert, insert_fixtures, is_measured, is_selected, stopwatch};

const NEWEST_FIRST: AlertSort = AlertSort {
    field: AlertSortField::CreatedAt,
    ascending: false,
};
const PAGE: PageRequest = PageRequest { page: 1, limit: 50 };
/// The number of alerts that a transaction inserts.
const TRANSACTION_SIZE: usize = 5_000;
/// The greatest growth from the first account to the last.
const MAX_GROWTH: f64 = 1.3;

fn main() {
    let (sizes, reads): (&[u64], _) = if is_measured() {
        (&[100, 20_000, 1_000_000], 2_000)
    } else {
        (&[60, 120], 2)
    };
    testkit::run(async {
        for database in testkit::fresh_databases().await {
            let kind = if database.is_postgres() { "PostgreSQL" } else { "SQLite" };
            if is_selected(kind) {
                measure(&database, kind, sizes, reads).await;
            }
        }
    });
}

async fn measure(database: &Database, kind: &str, sizes: &[u64], reads: u32) {
    let store = Store::open(StoreOptions::new(database.url())).await.unwrap();
    insert_fixtures(&store, 0..sizes.len() as u64, 0..0).await;
    let mut first = 0;
    for (number, size) in (0..).zip(sizes) {
        insert_alerts_of(&store, account_of(number), first, first + size).await;
        first += size;
    }
    let mut fastest = vec![Duration::MAX; sizes.len()];
    for _ in 0..reads {
        for (number, fastest) in (0..).zip(&mut fastest) {
            *fastest = (*fastest).min(read(&store, account_of(number)).await);
        }
    }
    for (size, fastest) in sizes.iter().zip(&fastest) {
        println!("{kind}: a page of 50 of {size} alerts takes {} µs", fastest.as_micros());
    }
    let growth = fastest.last().unwrap().as_secs_f64() / fastest[0].as_secs_f64();
    let what = format!("{kind}, a page of 50 of {} alerts", sizes.last().unwrap());
    let found = format!("{growth:.2} times that of 100 alerts, goal at most {MAX_GROWTH}");
    testkit::print_goal(&what, &found, growth <= MAX_GROWTH);
    store.close().await;
}

fn account_of(number: u64) -> AccountId {
    AccountId(id(number))
}

/// Inserts alerts with numbers from `first` on, and below `end`, for one account.
async fn insert_alerts_of(store: &Store, account: AccountId, first: u64, end: u64) {
    for from in (first..end).step_by(TRANSACTION_SIZE) {
        let numbers = from..end.min(from + TRANSACTION_SIZE as u64);
        let inserted = store.commit(numbers, move |numbers, unit| {
            Box::pin(async move {
                for number in numbers.clone() {
                    let mut alert = alert(number);
                    alert.owner = AlertOwner::Account(account);
                    insert(unit, &alert).await?;
                }
                Ok(())
            })
        });
        inserted.await.unwrap();
    }
}

async fn read(store: &Store, account: AccountId) -> Duration {
    let start = stopwatch();
    let page = store
        .alerts(account, &AlertFilter::default(), NEWEST_FIRST, PAGE)
        .await
        .unwrap();
    assert_eq!(page.items.len(), 50);
    start.elapsed()
}
