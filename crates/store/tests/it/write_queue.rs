//! The write queue: shared commits are invisible to their transactions.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::join_all;
use store::model::AccountId;
use store::{Abort, BoxFuture, StoreError, Transaction, UnitOfWork};
use testkit::on_both_databases;
use tokio::sync::Notify;

use crate::support::{
    account, add_account, alert_of, asked_price, boxed, insert, now, open, transaction, uuid, with_accounts,
};

/// The refusal of transactions in this file.
#[derive(Debug, PartialEq)]
struct Refused;

/// Adds an account and records the commit.
struct AddAccount {
    number: u128,
    committed: Arc<Mutex<Vec<u128>>>,
}

impl Transaction for AddAccount {
    type Output = u128;
    type Refusal = ();

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<u128, Abort<()>>> {
        Box::pin(async move {
            unit.insert_account(&account(self.number)).await?;
            Ok(self.number)
        })
    }

    fn committed(&self, done: &u128) {
        self.committed.lock().unwrap().push(*done);
    }
}

/// Adds the first account and notifies after the commit.
struct NotifyCommit(Arc<Notify>);

impl Transaction for NotifyCommit {
    type Output = ();
    type Refusal = ();

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<()>>> {
        Box::pin(async move {
            unit.insert_account(&account(1)).await?;
            Ok(())
        })
    }

    fn committed(&self, _done: &()) {
        self.0.notify_one();
    }
}

/// Blocks the writer until `go`, so that other transactions gather in the queue.
fn hold(held: &Arc<Notify>, go: &Arc<Notify>) -> impl Transaction<Output = (), Refusal = ()> {
    let (held, go) = (Arc::clone(held), Arc::clone(go));
    transaction(move |_| {
        let (held, go) = (Arc::clone(&held), Arc::clone(&go));
        boxed(async move {
            held.notify_one();
            go.notified().await;
            Ok(())
        })
    })
}

on_both_databases! {
    async fn waiting_transactions_share_a_commit(database) {
        let store = open(database).await;
        let (held, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let committed = Arc::new(Mutex::new(Vec::new()));
        let holding = tokio::spawn({
            let (store, hold) = (store.clone(), hold(&held, &go));
            async move { store.write(hold).await }
        });
        held.notified().await;
        let waiting: Vec<_> = (1..=50)
            .map(|number| store.write(AddAccount { number, committed: Arc::clone(&committed) }))
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
        let (held, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let committed = Arc::new(Mutex::new(Vec::new()));
        let holding = tokio::spawn({
            let (store, hold) = (store.clone(), hold(&held, &go));
            async move { store.write(hold).await }
        });
        held.notified().await;
        let refusing = transaction(|unit: &mut UnitOfWork| -> BoxFuture<'_, Result<(), Abort<Refused>>> {
            Box::pin(async move {
                assert!(unit.insert_account(&account(66)).await?);
                Err(Abort::Refused(Refused))
            })
        });
        let (first, refused, last, ()) = tokio::join!(
            store.write(AddAccount { number: 1, committed: Arc::clone(&committed) }),
            store.write(refusing),
            store.write(AddAccount { number: 2, committed: Arc::clone(&committed) }),
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
        let (held, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let runs = Arc::new(AtomicUsize::new(0));
        let holding = tokio::spawn({
            let (store, hold) = (store.clone(), hold(&held, &go));
            async move { store.write(hold).await }
        });
        held.notified().await;
        let refusing = transaction({
            let runs = Arc::clone(&runs);
            move |unit: &mut UnitOfWork| -> BoxFuture<'_, Result<(), Abort<Refused>>> {
                runs.fetch_add(1, Ordering::Relaxed);
                Box::pin(async move {
                    assert!(!unit.insert_account(&account(1)).await?, "there is one of that address");
                    Err(Abort::Refused(Refused))
                })
            }
        });
        let committed = Arc::new(Mutex::new(Vec::new()));
        let (refused, added, ()) = tokio::join!(
            store.write(refusing),
            store.write(AddAccount { number: 2, committed }),
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
        let (held, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let committed = Arc::new(Mutex::new(Vec::new()));
        let holding = tokio::spawn({
            let (store, hold) = (store.clone(), hold(&held, &go));
            async move { store.write(hold).await }
        });
        held.notified().await;
        let panicking = transaction(|unit| boxed::<()>(async move {
            unit.insert_account(&account(66)).await?;
            panic!("as a test of panics");
        }));
        let (added, panicked, ()) = tokio::join!(
            store.write(AddAccount { number: 1, committed }),
            store.write(panicking),
            async { go.notify_one() },
        );
        holding.await.unwrap().unwrap();
        assert_eq!(added.unwrap(), 1);
        assert!(matches!(&panicked, Err(Abort::Store(StoreError::Panicked(_)))), "{panicked:?}");
        assert_eq!(store.account(AccountId(uuid(66))).await.unwrap(), None);
        add_account(&store, account(3)).await;
    }

    async fn ignored_database_error_aborts_transaction(database) {
        let store = with_accounts(database, 1).await;
        let done = store.write(transaction(|unit| boxed(async move {
            unit.insert_account(&account(2)).await?;
            let alert = alert_of(1, 5, asked_price(1), 0);
            insert(unit, &alert).await?;
            assert!(insert(unit, &alert).await.is_err(), "the id is taken");
            Ok(())
        })));
        let done = done.await;
        assert!(matches!(&done, Err(Abort::Store(StoreError::Aborted(_)))), "{done:?}");
        assert_eq!(store.account(AccountId(uuid(2))).await.unwrap(), None);
        assert_eq!(now(&store, &alert_of(1, 5, asked_price(1), 0)).await, None);
    }

    async fn cancelled_caller_does_not_affect_others(database) {
        let store = open(database).await;
        let (held, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let committed = Arc::new(Mutex::new(Vec::new()));
        let holding = tokio::spawn({
            let (store, hold) = (store.clone(), hold(&held, &go));
            async move { store.write(hold).await }
        });
        held.notified().await;
        {
            let mut leaving = Box::pin(store.write(AddAccount { number: 1, committed: Arc::clone(&committed) }));
            assert!(leaving.as_mut().now_or_never().is_none());
        }
        let (stayed, ()) = tokio::join!(
            store.write(AddAccount { number: 2, committed: Arc::clone(&committed) }),
            async { go.notify_one() },
        );
        holding.await.unwrap().unwrap();
        assert_eq!(stayed.unwrap(), 2);
        assert_eq!(*committed.lock().unwrap(), [1, 2], "a queued transaction still runs");
    }

    async fn close_finishes_waiting_transactions_and_rejects_new_ones(database) {
        let store = open(database).await;
        let committed = Arc::new(Mutex::new(Vec::new()));
        let mut waiting: Vec<_> = (1..=20)
            .map(|number| Box::pin(store.write(AddAccount { number, committed: Arc::clone(&committed) })))
            .collect();
        for write in &mut waiting {
            assert!(write.as_mut().now_or_never().is_none());
        }
        store.close().await;
        for (answer, number) in join_all(waiting).await.into_iter().zip(1..) {
            assert_eq!(answer.unwrap(), number);
        }
        let late = store.write(AddAccount { number: 21, committed }).await;
        assert!(matches!(late, Err(Abort::Store(StoreError::Closed))), "{late:?}");
        store.close().await;
        let store = open(database).await;
        assert_eq!(store.account(AccountId(uuid(20))).await.unwrap(), Some(account(20)));
    }

    async fn dropping_last_handle_finishes_waiting_transactions(database) {
        let store = open(database).await;
        let committed = Arc::new(Notify::new());
        {
            let mut leaving = Box::pin(store.write(NotifyCommit(Arc::clone(&committed))));
            assert!(leaving.as_mut().now_or_never().is_none());
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
            let create = transaction(move |unit: &mut UnitOfWork| -> BoxFuture<'_, Result<(), Abort<Refused>>> {
                Box::pin(async move {
                    unit.lock_account(AccountId(uuid(1))).await?;
                    if unit.count_active_alerts(AccountId(uuid(1))).await? >= quota {
                        return Err(Abort::Refused(Refused));
                    }
                    insert(unit, &alert_of(1, u128::from(id), asked_price(id), 0)).await?;
                    Ok(())
                })
            });
            let store = if id % 2 == 0 { store.clone() } else { other.clone() };
            tokio::spawn(async move { store.write(create).await })
        });
        let mut taken = 0;
        for answer in join_all(creates).await {
            match answer.unwrap() {
                Ok(()) => taken += 1,
                Err(refused) => assert!(matches!(refused, Abort::Refused(Refused)), "{refused}"),
            }
        }
        assert_eq!(taken, 1);
    }
}
