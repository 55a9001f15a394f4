//! Two stores on one database: each respects the decisions of the other.

use alerts::HistoryAction;
use futures_util::future::join_all;
use serde_json::json;
use store::model::{AccountId, FiringResult};
use testkit::on_both_databases;

use crate::escalations::{fire_with, ids, messages, pending, with_channels};
use crate::firings::{ALL, fire, firing};
use crate::support::{add_many, at, now, open, uuid, with_accounts};

on_both_databases! {
    async fn concurrent_firings_fire_once(database) {
        let store = with_accounts(database, 1).await;
        let other = open(database).await;
        let alerts = add_many(&store, 300).await;
        let firings: Vec<_> = alerts.iter().map(|alert| firing(alert, 60)).collect();
        let mut opposite = firings.clone();
        opposite.reverse();
        let (one, two) = (store.clone(), other.clone());
        let (one, two) = tokio::join!(
            tokio::spawn(async move { fire(&one, firings).await }),
            tokio::spawn(async move { fire(&two, opposite).await }),
        );
        let (one, mut two) = (one.unwrap(), two.unwrap());
        two.reverse();
        for (one, two) in one.iter().zip(&two) {
            match (one, two) {
                (FiringResult::Fired(fired), FiringResult::Stale(Some(current)))
                | (FiringResult::Stale(Some(current)), FiringResult::Fired(fired)) => assert_eq!(fired, current),
                neither_or_both => panic!("{neither_or_both:?}"),
            }
        }
        assert_eq!(store.events_after(AccountId(uuid(1)), 0, 1_000).await.unwrap().len(), 300);
        for alert in &alerts {
            let history = other.history(AccountId(uuid(1)), alert.alert.id, ALL).await.unwrap().unwrap();
            let fired = history.items.iter().filter(|row| row.entry.action == HistoryAction::Triggered);
            assert_eq!((history.total, fired.count()), (2, 1));
        }
    }

    async fn concurrent_escalations_send_each_firing_once_to_its_next_channel(database) {
        let store = with_channels(database).await;
        let other = open(database).await;
        let routing = json!({"channels": ids(&[10, 11, 12]), "policy": "failover", "ack_timeout": "2m"});
        let mut events = Vec::new();
        for id in 100..140 {
            events.push(fire_with(&store, id, routing.clone()).await);
        }
        let advances = [store.clone(), other].map(|store| {
            tokio::spawn(async move { store.advance_escalations(at(220), 100).await.unwrap() })
        });
        let advanced: usize = join_all(advances).await.into_iter().map(Result::unwrap).sum();
        assert_eq!(advanced, events.len());
        for event in events {
            assert_eq!(messages(&store, event).await, pending(&[10, 11]));
        }
    }

    async fn concurrent_pause_and_firing_exclude_each_other(database) {
        let store = with_accounts(database, 1).await;
        let other = open(database).await;
        let alerts = add_many(&store, 40).await;
        let pauses = join_all(alerts.iter().map(|alert| {
            let (store, alert) = (store.clone(), alert.alert.clone());
            tokio::spawn(async move { pause_if_active(&store, &alert).await })
        }));
        let firings = join_all(alerts.iter().map(|alert| {
            let (other, firing) = (other.clone(), firing(alert, 60));
            tokio::spawn(async move { fire(&other, vec![firing]).await.remove(0) })
        }));
        let (pauses, firings) = tokio::join!(pauses, firings);
        for ((alert, paused), settled) in alerts.iter().zip(pauses).zip(firings) {
            let fired = matches!(settled.unwrap(), FiringResult::Fired(_));
            assert_ne!(paused.unwrap(), fired, "{:?}", now(&store, alert).await);
        }
    }
}

/// Pauses an alert unless it has fired. Returns `false` if it has.
async fn pause_if_active(store: &store::Store, alert: &alerts::Alert) -> bool {
    use alerts::transition::{self, Transition};
    use store::Abort;

    let paused = store.transaction(alert.id, |id, unit| {
        Box::pin(async move {
            let alert = unit.lock_alert(AccountId(uuid(1)), *id).await?.unwrap().alert;
            let Ok(Transition::Changed(changed)) = transition::pause(&alert) else {
                return Err(Abort::Refused(()));
            };
            assert!(
                unit.update_alert(&changed, &alert, crate::support::at(50), None)
                    .await?
            );
            Ok(())
        })
    });
    match paused.await {
        Ok(()) => true,
        Err(Abort::Refused(())) => false,
        Err(Abort::Store(error)) => panic!("{error}"),
    }
}
