//! The write queue: shared commits are invisible to their transactions.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::join_all;
use store::model::AccountId;
use store::{Abort, Store, StoreError};
use testkit::on_both_databases;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::support::{account, add_account, alert_of, asked_price, insert, now, open, uuid, with_accounts};

/// The refusal of transactions in this file.
#[derive(Debug, PartialEq)]
struct Refused;

/// The numbers of accounts whose insertion was committed.
type Committed = Arc<Mutex<Vec<u128>>>;

/// Adds an account and records the commit.
async fn add_recorded(store: &Store, number: u128, committed: &Committed) -> Result<u128, StoreError> {
    let committed = Arc::clone(committed);
    let added = store.commit_then(
        number,
        |&number, unit| {
            Box::pin(async move {
                unit.insert_account(&account(number)).await?;
                Ok(number)
            })
        },
        move |number| committed.lock().unwrap().push(*number),
    );
    added.await
}

/// Blocks the writer until `go` is notified, so that other transactions gather in the queue.
async fn hold(store: &Store) -> (JoinHandle<Result<(), StoreError>>, Arc<Notify>) {
    let (held, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (store, inputs) = (store.clone(), (Arc::clone(&held), Arc::clone(&go)));
    let holding = tokio::spawn(async move {
        let holding = store.commit(inputs, |(held, go), _| {
            Box::pin(async move {
                held.notify_one();
                go.notified().await;
                Ok(())
            })
        });
        holding.await
    });
    held.notified().await;
    (holding, go)
}

on_both_databases! {
    async fn waiting_transactions_share_a_commit(database) {
        let store = open(database).await;
        let committed = Committed::default();
        let (holding, go) = hold(&store).await;
        let waiting: Vec<_> = (1..=50)
            .map(|number| add_recorded(&store, number, &committed))
            .collect();
        let (answers, ()) = tokio::join!(join_all(waiting), async {
            // All of the above have been polled once, and so wait in the queue.
            go.notify_one();
        });
        holding.await.unwrap().unwrap();
        for (answer, number) in answers.into_iter().zip(1..) {
            assert_eq!(answer.unwrap(), number);
        }
        assert_eq!(*committed.lock().unwrap(), (1..=50).collect::<Vec<_>>(), "committed once, and in order");
        assert_eq!((store.write_stats().transactions, store.write_stats().commits), (51, 2));
    }

    async fn refusal_after_write_undoes_only_itself(database) {
        let store = open(database).await;
        let committed = Committed::default();
        let (holding, go) = hold(&store).await;
        let refusing = store.transaction::<_, (), _>((), |(), unit| Box::pin(async move {
            assert!(unit.insert_account(&account(66)).await?);
            Err(Abort::Refused(Refused))
        }));
        let (first, refused, last, ()) = tokio::join!(
            add_recorded(&store, 1, &committed),
            refusing,
            add_recorded(&store, 2, &committed),
            async { go.notify_one() },
        );
        holding.await.unwrap().unwrap();
        assert_eq!((first.unwrap(), last.unwrap()), (1, 2));
        assert!(matches!(refused, Err(Abort::Refused(Refused))), "{refused:?}");
        assert_eq!(store.account(AccountId(uuid(66))).await.unwrap(), None);
        assert_eq!(store.account(AccountId(uuid(1))).await.unwrap(), Some(account(1)));
        assert_eq!(store.account(AccountId(uuid(2))).await.unwrap(), Some(account(2)));
        assert_eq!(*committed.lock().unwrap(), [1, 2], "committed once, although run twice");
    }

    async fn refusal_without_write_does_not_split_batch(database) {
        let store = with_accounts(database, 1).await;
        let before = store.write_stats().commits;
        let runs = Arc::new(AtomicUsize::new(0));
        let (holding, go) = hold(&store).await;
        let refusing = store.transaction::<_, (), _>(Arc::clone(&runs), |runs, unit| Box::pin(async move {
            runs.fetch_add(1, Ordering::Relaxed);
            assert!(!unit.insert_account(&account(1)).await?, "there is one of that address");
            Err(Abort::Refused(Refused))
        }));
        let committed = Committed::default();
        let (refused, added, ()) = tokio::join!(
            refusing,
            add_recorded(&store, 2, &committed),
            async { go.notify_one() },
        );
        holding.await.unwrap().unwrap();
        assert!(matches!(refused, Err(Abort::Refused(Refused))), "{refused:?}");
        assert_eq!(added.unwrap(), 2);
        assert_eq!(runs.load(Ordering::Relaxed), 1);
        assert_eq!(store.write_stats().commits - before, 2, "one of them is that which held the writer");
    }

    async fn panicking_transaction_does_not_affect_others(database) {
        let store = open(database).await;
        let committed = Committed::default();
        let (holding, go) = hold(&store).await;
        let panicking = store.commit::<_, ()>((), |(), unit| Box::pin(async move {
            unit.insert_account(&account(66)).await?;
            panic!("as a test of panics");
        }));
        let (added, panicked, ()) = tokio::join!(
            add_recorded(&store, 1, &committed),
            panicking,
            async { go.notify_one() },
        );
        holding.await.unwrap().unwrap();
        assert_eq!(added.unwrap(), 1);
        assert!(matches!(&panicked, Err(StoreError::Panicked(_))), "{panicked:?}");
        assert_eq!(store.account(AccountId(uuid(66))).await.unwrap(), None);
        add_account(&store, account(3)).await;
    }

    async fn ignored_database_error_aborts_transaction(database) {
        let store = with_accounts(database, 1).await;
        let done = store.commit((), |(), unit| Box::pin(async move {
            unit.insert_account(&account(2)).await?;
            let alert = alert_of(1, 5, asked_price(1), 0);
            insert(unit, &alert).await?;
            assert!(insert(unit, &alert).await.is_err(), "the id is taken");
            Ok(())
        })).await;
        assert!(matches!(&done, Err(StoreError::Aborted(_))), "{done:?}");
        assert_eq!(store.account(AccountId(uuid(2))).await.unwrap(), None);
        assert_eq!(now(&store, &alert_of(1, 5, asked_price(1), 0)).await, None);
    }

    async fn cancelled_caller_does_not_affect_others(database) {
        let store = open(database).await;
        let committed = Committed::default();
        let (holding, go) = hold(&store).await;
        {
            let mut leaving = Box::pin(add_recorded(&store, 1, &committed));
            assert!(leaving.as_mut().now_or_never().is_none());
        }
        let (stayed, ()) = tokio::join!(
            add_recorded(&store, 2, &committed),
            async { go.notify_one() },
        );
        holding.await.unwrap().unwrap();
        assert_eq!(stayed.unwrap(), 2);
        assert_eq!(*committed.lock().unwrap(), [1, 2], "a queued transaction still runs");
    }

    async fn close_finishes_waiting_transactions_and_rejects_new_ones(database) {
        let store = open(database).await;
        let committed = Committed::default();
        let (holding, go) = hold(&store).await;
        let mut waiting: Vec<_> = (1..=20)
            .map(|number| Box::pin(add_recorded(&store, number, &committed)))
            .collect();
        for write in &mut waiting {
            assert!(write.as_mut().now_or_never().is_none());
        }
        go.notify_one();
        store.close().await;
        holding.await.unwrap().unwrap();
        for (answer, number) in join_all(waiting).await.into_iter().zip(1..) {
            assert_eq!(answer.unwrap(), number);
        }
        let late = add_recorded(&store, 21, &committed).await;
        assert!(matches!(late, Err(StoreError::Closed)), "{late:?}");
        store.close().await;
        let store = open(database).await;
        assert_eq!(store.account(AccountId(uuid(20))).await.unwrap(), Some(account(20)));
    }

    async fn dropping_last_handle_finishes_waiting_transactions(database) {
        let store = open(database).await;
        let committed = Arc::new(Notify::new());
        {
            let notify = Arc::clone(&committed);
            let adding = store.commit_then(
                (),
                |(), unit| Box::pin(async move { unit.insert_account(&account(1)).await }),
                move |_| notify.notify_one(),
            );
            // The caller leaves as soon as its transaction waits, which may have run by then.
            let _ = Box::pin(adding).as_mut().now_or_never();
        }
        drop(store);
        committed.notified().await;
        let store = open(database).await;
        assert_eq!(store.account(AccountId(uuid(1))).await.unwrap(), Some(account(1)));
    }

    async fn one_of_fifty_creates_is_accepted_one_below_quota(database) {
        let store = with_accounts(database, 1).await;
        let other = open(database).await;
        let quota = 20;
        for id in 1..quota {
            crate::support::add(&store, &alert_of(1, u128::from(id), asked_price(id), 0)).await;
        }
        let creates = (100..150_u32).map(|id| {
            let store = if id % 2 == 0 { &store } else { &other };
            store.transaction((), move |(), unit| Box::pin(async move {
                unit.lock_account(AccountId(uuid(1))).await?;
                if unit.count_active_alerts(AccountId(uuid(1))).await? >= quota {
                    return Err(Abort::Refused(Refused));
                }
                insert(unit, &alert_of(1, u128::from(id), asked_price(id), 0)).await?;
                Ok(())
            }))
        });
        let mut taken = 0;
        for answer in join_all(creates).await {
            match answer {
                Ok(()) => taken += 1,
                Err(refused) => assert!(matches!(refused, Abort::Refused(Refused)), "{refused}"),
            }
        }
        assert_eq!(taken, 1);
    }
}
