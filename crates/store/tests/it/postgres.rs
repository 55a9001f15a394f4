//! Failures that need several writers and a network connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use alerts::HistoryAction;
use store::Store;
use store::model::{AccountId, MessageChannel, SettlementDecision};
use testkit::Database;
use tokio::sync::{Barrier, Notify};

use crate::firings::{ALL, fire, firing};
use crate::messages::{claim, settled};
use crate::support::{account, add_account, add_many, at, open, uuid, with_accounts};

/// Waits until a statement waits for a lock of another transaction.
pub(crate) async fn wait_until_blocked(database: &Database) {
    let pool = sqlx::PgPool::connect(database.url()).await.unwrap();
    let blocked = "SELECT COUNT(*) FROM pg_stat_activity
                   WHERE datname = current_database() AND CARDINALITY(pg_blocking_pids(pid)) > 0";
    while sqlx::query_scalar::<_, i64>(blocked).fetch_one(&pool).await.unwrap() == 0 {
        tokio::task::yield_now().await;
    }
    pool.close().await;
}

/// Waits until the server has ended all transactions whose processes do nothing.
async fn wait_until_none_is_idle(database: &Database) {
    let pool = sqlx::PgPool::connect(database.url()).await.unwrap();
    let idle = "SELECT COUNT(*) FROM pg_stat_activity
                WHERE datname = current_database() AND state = 'idle in transaction'";
    while sqlx::query_scalar::<_, i64>(idle).fetch_one(&pool).await.unwrap() > 0 {
        tokio::task::yield_now().await;
    }
    pool.close().await;
}

/// Terminates all other connections to a database.
async fn cut(database: &Database) -> i64 {
    let pool = sqlx::PgPool::connect(database.url()).await.unwrap();
    let (ended,): (i64,) = sqlx::query_as(
        "SELECT COUNT(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )
    .fetch_one(&pool)
    .await
    .unwrap();
    pool.close().await;
    ended
}

#[test]
fn deadlocked_transactions_both_succeed() {
    testkit::run(async {
        let database = Database::postgres().await;
        let store = with_accounts(&database, 2).await;
        let other = open(&database).await;
        let (both_have_one, runs) = (Arc::new(Barrier::new(2)), Arc::new(AtomicUsize::new(0)));
        // Locks the first account, waits until the other transaction has locked its first account too, then wants
        // the second.
        let lock = |store: &Store, first: u128, second: u128| {
            let (store, inputs) = (store.clone(), (Arc::clone(&both_have_one), Arc::clone(&runs)));
            tokio::spawn(async move {
                let locking = store.commit(inputs, move |(both_have_one, runs), unit| {
                    Box::pin(async move {
                        unit.lock_account(AccountId(uuid(first))).await?;
                        if runs.fetch_add(1, Ordering::SeqCst) < 2 {
                            both_have_one.wait().await;
                        }
                        let mut account = unit.lock_account(AccountId(uuid(second))).await?.unwrap();
                        account.full_name = Some(format!("{first} was first"));
                        unit.update_account(&account).await
                    })
                });
                locking.await.unwrap()
            })
        };
        let (one, two) = tokio::join!(lock(&store, 1, 2), lock(&other, 2, 1));
        assert!(one.unwrap() && two.unwrap());
        assert!(
            runs.load(Ordering::SeqCst) > 2,
            "one of them was rolled back and done again"
        );
        for (number, first) in [(1, 2), (2, 1)] {
            let account = store.account(AccountId(uuid(number))).await.unwrap().unwrap();
            assert_eq!(account.full_name, Some(format!("{first} was first")));
        }
    });
}

#[test]
fn store_survives_lost_connections() {
    testkit::run(async {
        let database = Database::postgres().await;
        let store = with_accounts(&database, 1).await;
        assert!(cut(&database).await >= 1);
        add_account(&store, account(2)).await;
        assert_eq!(store.account(AccountId(uuid(2))).await.unwrap(), Some(account(2)));
    });
}

#[test]
fn lost_connection_before_commit_is_retried() {
    testkit::run(async {
        let database = Arc::new(Database::postgres().await);
        let store = with_accounts(&database, 1).await;
        let runs = Arc::new(AtomicUsize::new(0));
        let adding = store.commit((Arc::clone(&database), Arc::clone(&runs)), |(database, runs), unit| {
            Box::pin(async move {
                unit.insert_account(&account(2)).await?;
                if runs.fetch_add(1, Ordering::SeqCst) == 0 {
                    cut(database).await;
                }
                unit.insert_account(&account(3)).await
            })
        });
        assert!(adding.await.unwrap());
        assert_eq!(runs.load(Ordering::SeqCst), 2);
        for number in [2, 3] {
            assert_eq!(
                store.account(AccountId(uuid(number))).await.unwrap(),
                Some(account(number))
            );
        }
    });
}

#[test]
fn transaction_of_a_process_that_has_stopped_is_ended_and_retried() {
    testkit::run(async {
        let database = Arc::new(Database::postgres().await);
        let store = with_accounts(&database, 1).await;
        let runs = Arc::new(AtomicUsize::new(0));
        let adding = store.commit((Arc::clone(&database), Arc::clone(&runs)), |(database, runs), unit| {
            Box::pin(async move {
                unit.insert_account(&account(2)).await?;
                if runs.fetch_add(1, Ordering::SeqCst) == 0 {
                    wait_until_none_is_idle(database).await;
                }
                unit.insert_account(&account(3)).await
            })
        });
        assert!(adding.await.unwrap());
        assert_eq!(runs.load(Ordering::SeqCst), 2);
    });
}

#[test]
fn unconfirmed_commit_is_neither_reported_done_nor_retried() {
    testkit::run(async {
        let database = Arc::new(Database::postgres().await);
        let store = with_accounts(&database, 1).await;
        let runs = Arc::new(AtomicUsize::new(0));
        let adding = store.commit((Arc::clone(&database), Arc::clone(&runs)), |(database, runs), unit| {
            Box::pin(async move {
                runs.fetch_add(1, Ordering::SeqCst);
                let added = unit.insert_account(&account(2)).await?;
                // The next request on the connection is the commit.
                cut(database).await;
                Ok(added)
            })
        });
        let unconfirmed = adding.await.unwrap_err();
        assert!(
            matches!(unconfirmed, store::StoreError::Unconfirmed(_)),
            "{unconfirmed}"
        );
        assert_eq!(runs.load(Ordering::SeqCst), 1);
        add_account(&store, account(3)).await;
    });
}

#[test]
fn history_entry_of_message_has_the_status_that_a_concurrent_change_has_left() {
    testkit::run(async {
        let database = Database::postgres().await;
        let (store, other) = (with_accounts(&database, 1).await, open(&database).await);
        let alert = add_many(&store, 1).await.remove(0);
        fire(&store, vec![firing(&alert, 60)]).await;
        let claimed = claim(&store, MessageChannel::Email, 60, 1).await.remove(0);
        let (deleted, may_commit) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let inputs = (alert.alert.id, Arc::clone(&deleted), Arc::clone(&may_commit));
        let deleting = tokio::spawn(async move {
            let deleting = other.commit(inputs, |(id, deleted, may_commit), unit| {
                Box::pin(async move {
                    let alert = unit.lock_alert(AccountId(uuid(1)), *id).await?.unwrap().alert;
                    let done = unit.delete_alert(&alert, at(61)).await?;
                    deleted.notify_one();
                    may_commit.notified().await;
                    Ok(done)
                })
            });
            deleting.await.unwrap()
        });
        deleted.notified().await;
        let settling = async {
            let sent = settled(&claimed, "sent", SettlementDecision::Delivered);
            store
                .settle_messages(MessageChannel::Email, vec![sent], at(62))
                .await
                .unwrap();
        };
        tokio::pin!(settling);
        tokio::select! {
            () = &mut settling => panic!("the message was settled while the alert was locked"),
            () = wait_until_blocked(&database) => may_commit.notify_one(),
        }
        settling.await;
        assert!(deleting.await.unwrap());
        let history = store.history(AccountId(uuid(1)), alert.alert.id, ALL).await.unwrap();
        let statuses: Vec<_> = history
            .unwrap()
            .items
            .iter()
            .map(|row| (row.entry.action, row.entry.new_status.name()))
            .collect();
        assert_eq!(
            statuses[..2],
            [
                (HistoryAction::NotificationSent, "deleted"),
                (HistoryAction::Deleted, "deleted")
            ]
        );
    });
}

/// A row whose indexed columns stay as they are gets its new version on the same page, without new entries in the indexes.
#[test]
fn no_index_of_alerts_has_a_column_that_a_firing_changes() {
    testkit::run(async {
        let database = Database::postgres().await;
        drop(open(&database).await);
        let pool = sqlx::PgPool::connect(database.url()).await.unwrap();
        // Also finds columns in the condition of an index.
        let of_column = "SELECT CAST(objid AS REGCLASS)::TEXT FROM pg_depend
                         JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
                         WHERE refobjid = CAST('alerts' AS REGCLASS) AND classid = CAST('pg_class' AS REGCLASS)
                         AND objid IN (SELECT indexrelid FROM pg_index) AND attname = $1";
        for (column, is_indexed) in [
            ("status", false),
            ("revision", false),
            ("triggered_at", false),
            ("lifecycle", false),
            ("deleted_at", true),
        ] {
            let indexes: Vec<String> = sqlx::query_scalar(of_column)
                .bind(column)
                .fetch_all(&pool)
                .await
                .unwrap();
            assert_eq!(!indexes.is_empty(), is_indexed, "{column} is in {indexes:?}");
        }
        pool.close().await;
    });
}
