//! The door for writes: sharing transactions without anybody noticing.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::join_all;
use store::model::AccountId;
use store::{Abort, BoxFuture, StoreError, Unit, Work};
use testkit::on_both;
use tokio::sync::Notify;

use crate::support::{
    account, add_account, alert_of, asked_price, boxed, insert, now, open, uuid, with_accounts, work,
};

/// Refusing, as works of this file do.
#[derive(Debug, PartialEq)]
struct No;

/// Adds an account and tells when it is on disk.
struct Add {
    number: u128,
    told: Arc<Mutex<Vec<u128>>>,
}

impl Work for Add {
    type Done = u128;
    type Refusal = ();

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<u128, Abort<()>>> {
        Box::pin(async move {
            unit.insert_account(&account(self.number)).await?;
            Ok(self.number)
        })
    }

    fn committed(&self, done: &u128) {
        self.told.lock().unwrap().push(*done);
    }
}

/// Adds the first account and tells when it is on disk.
struct Tell(Arc<Notify>);

impl Work for Tell {
    type Done = ();
    type Refusal = ();

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<(), Abort<()>>> {
        Box::pin(async move {
            unit.insert_account(&account(1)).await?;
            Ok(())
        })
    }

    fn committed(&self, _done: &()) {
        self.0.notify_one();
    }
}

/// Holds the writer until it is let go, so that others gather behind it.
fn hold(held: &Arc<Notify>, go: &Arc<Notify>) -> impl Work<Done = (), Refusal = ()> {
    let (held, go) = (Arc::clone(held), Arc::clone(go));
    work(move |_| {
        let (held, go) = (Arc::clone(&held), Arc::clone(&go));
        boxed(async move {
            held.notify_one();
            go.notified().await;
            Ok(())
        })
    })
}

on_both! {
    async fn those_that_wait_together_share_a_transaction(database) {
        let store = open(database).await;
        let (held, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let told = Arc::new(Mutex::new(Vec::new()));
        let holding = tokio::spawn({
            let (store, hold) = (store.clone(), hold(&held, &go));
            async move { store.write(hold).await }
        });
        held.notified().await;
        let waiting: Vec<_> = (1..=50)
            .map(|number| store.write(Add { number, told: Arc::clone(&told) }))
            .collect();
        let (answers, ()) = tokio::join!(join_all(waiting), async {
            // All of the above have been polled once, and so wait in the queue.
            go.notify_one();
        });
        holding.await.unwrap().unwrap();
        for (answer, number) in answers.into_iter().zip(1..) {
            assert_eq!(answer.unwrap(), number);
        }
        assert_eq!(*told.lock().unwrap(), (1..=50).collect::<Vec<_>>(), "told once, and in order");
        assert_eq!((store.written().works, store.written().transactions), (51, 2));
    }

    async fn a_refusal_after_a_write_undoes_only_itself(database) {
        let store = open(database).await;
        let (held, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let told = Arc::new(Mutex::new(Vec::new()));
        let holding = tokio::spawn({
            let (store, hold) = (store.clone(), hold(&held, &go));
            async move { store.write(hold).await }
        });
        held.notified().await;
        let refusing = work(|unit: &mut Unit| -> BoxFuture<'_, Result<(), Abort<No>>> {
            Box::pin(async move {
                assert!(unit.insert_account(&account(66)).await?);
                Err(Abort::Refused(No))
            })
        });
        let (first, refused, last, ()) = tokio::join!(
            store.write(Add { number: 1, told: Arc::clone(&told) }),
            store.write(refusing),
            store.write(Add { number: 2, told: Arc::clone(&told) }),
            async { go.notify_one() },
        );
        holding.await.unwrap().unwrap();
        assert_eq!((first.unwrap(), last.unwrap()), (1, 2));
        assert!(matches!(refused, Err(Abort::Refused(No))), "{refused:?}");
        assert_eq!(store.account(AccountId(uuid(66))).await.unwrap(), None);
        assert_eq!(store.account(AccountId(uuid(1))).await.unwrap(), Some(account(1)));
        assert_eq!(store.account(AccountId(uuid(2))).await.unwrap(), Some(account(2)));
        assert_eq!(*told.lock().unwrap(), [1, 2], "told once, although run twice");
    }

    async fn a_refusal_that_has_written_nothing_costs_the_others_nothing(database) {
        let store = with_accounts(database, 1).await;
        let before = store.written().transactions;
        let (held, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let runs = Arc::new(AtomicUsize::new(0));
        let holding = tokio::spawn({
            let (store, hold) = (store.clone(), hold(&held, &go));
            async move { store.write(hold).await }
        });
        held.notified().await;
        let refusing = work({
            let runs = Arc::clone(&runs);
            move |unit: &mut Unit| -> BoxFuture<'_, Result<(), Abort<No>>> {
                runs.fetch_add(1, Ordering::Relaxed);
                Box::pin(async move {
                    assert!(!unit.insert_account(&account(1)).await?, "there is one of that address");
                    Err(Abort::Refused(No))
                })
            }
        });
        let told = Arc::new(Mutex::new(Vec::new()));
        let (refused, added, ()) = tokio::join!(
            store.write(refusing),
            store.write(Add { number: 2, told }),
            async { go.notify_one() },
        );
        holding.await.unwrap().unwrap();
        assert!(matches!(refused, Err(Abort::Refused(No))), "{refused:?}");
        assert_eq!(added.unwrap(), 2);
        assert_eq!(runs.load(Ordering::Relaxed), 1);
        assert_eq!(store.written().transactions - before, 2, "one of them is that which held the writer");
    }

    async fn a_work_that_panics_harms_nobody_else(database) {
        let store = open(database).await;
        let (held, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let told = Arc::new(Mutex::new(Vec::new()));
        let holding = tokio::spawn({
            let (store, hold) = (store.clone(), hold(&held, &go));
            async move { store.write(hold).await }
        });
        held.notified().await;
        let panicking = work(|unit| boxed::<()>(async move {
            unit.insert_account(&account(66)).await?;
            panic!("as a test of panics");
        }));
        let (added, panicked, ()) = tokio::join!(
            store.write(Add { number: 1, told }),
            store.write(panicking),
            async { go.notify_one() },
        );
        holding.await.unwrap().unwrap();
        assert_eq!(added.unwrap(), 1);
        assert!(matches!(&panicked, Err(Abort::Store(StoreError::Panicked(_)))), "{panicked:?}");
        assert_eq!(store.account(AccountId(uuid(66))).await.unwrap(), None);
        add_account(&store, account(3)).await;
    }

    async fn a_work_that_overlooks_a_failure_of_the_database_is_not_taken_for_done(database) {
        let store = with_accounts(database, 1).await;
        let done = store.write(work(|unit| boxed(async move {
            unit.insert_account(&account(2)).await?;
            let alert = alert_of(1, 5, asked_price(1), 0);
            insert(unit, &alert).await?;
            assert!(insert(unit, &alert).await.is_err(), "the id is taken");
            Ok(())
        })));
        let done = done.await;
        assert!(matches!(&done, Err(Abort::Store(StoreError::Spoiled(_)))), "{done:?}");
        assert_eq!(store.account(AccountId(uuid(2))).await.unwrap(), None);
        assert_eq!(now(&store, &alert_of(1, 5, asked_price(1), 0)).await, None);
    }

    async fn a_caller_who_goes_away_disturbs_nobody(database) {
        let store = open(database).await;
        let (held, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let told = Arc::new(Mutex::new(Vec::new()));
        let holding = tokio::spawn({
            let (store, hold) = (store.clone(), hold(&held, &go));
            async move { store.write(hold).await }
        });
        held.notified().await;
        {
            let mut leaving = Box::pin(store.write(Add { number: 1, told: Arc::clone(&told) }));
            assert!(leaving.as_mut().now_or_never().is_none());
        }
        let (stayed, ()) = tokio::join!(
            store.write(Add { number: 2, told: Arc::clone(&told) }),
            async { go.notify_one() },
        );
        holding.await.unwrap().unwrap();
        assert_eq!(stayed.unwrap(), 2);
        assert_eq!(*told.lock().unwrap(), [1, 2], "who waits in the queue is served");
    }

    async fn closing_finishes_what_waits_and_takes_nothing_more(database) {
        let store = open(database).await;
        let told = Arc::new(Mutex::new(Vec::new()));
        let mut waiting: Vec<_> = (1..=20)
            .map(|number| Box::pin(store.write(Add { number, told: Arc::clone(&told) })))
            .collect();
        for write in &mut waiting {
            assert!(write.as_mut().now_or_never().is_none());
        }
        store.close().await;
        for (answer, number) in join_all(waiting).await.into_iter().zip(1..) {
            assert_eq!(answer.unwrap(), number);
        }
        let late = store.write(Add { number: 21, told }).await;
        assert!(matches!(late, Err(Abort::Store(StoreError::Closed))), "{late:?}");
        store.close().await;
        let store = open(database).await;
        assert_eq!(store.account(AccountId(uuid(20))).await.unwrap(), Some(account(20)));
    }

    async fn dropping_the_last_handle_finishes_what_waits(database) {
        let store = open(database).await;
        let committed = Arc::new(Notify::new());
        {
            let mut leaving = Box::pin(store.write(Tell(Arc::clone(&committed))));
            assert!(leaving.as_mut().now_or_never().is_none());
        }
        drop(store);
        committed.notified().await;
        let store = open(database).await;
        assert_eq!(store.account(AccountId(uuid(1))).await.unwrap(), Some(account(1)));
    }

    async fn of_fifty_creates_at_one_below_the_quota_one_is_taken(database) {
        let store = with_accounts(database, 1).await;
        let other = open(database).await;
        let quota = 20;
        for id in 1..quota {
            crate::support::add(&store, &alert_of(1, u128::from(id), asked_price(id), 0)).await;
        }
        let creates = (100..150_u32).map(|id| {
            let create = work(move |unit: &mut Unit| -> BoxFuture<'_, Result<(), Abort<No>>> {
                Box::pin(async move {
                    unit.lock_account(AccountId(uuid(1))).await?;
                    if unit.count_active_alerts(AccountId(uuid(1))).await? >= quota {
                        return Err(Abort::Refused(No));
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
                Err(refused) => assert!(matches!(refused, Abort::Refused(No)), "{refused}"),
            }
        }
        assert_eq!(taken, 1);
    }
}
