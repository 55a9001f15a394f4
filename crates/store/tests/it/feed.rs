//! The change feed of the history.

use std::sync::Arc;

use alerts::{AlertId, EvaluatedAlert};
use serde_json::json;
use store::Store;
use store::model::{LastChange, PositionedAlert};
use testkit::on_both_databases;
use tokio::sync::Notify;

use crate::firings::{fire, firing};
use crate::support::{
    activate, add, add_many, alert_of, asked, asked_price, delete, insert, now, open, pause, symbol, uuid,
    with_accounts,
};

/// The ids that changed after a position, sorted, and the next position.
async fn changed(store: &Store, position: i64) -> (Vec<AlertId>, i64) {
    let (changed, next) = store.changed_since(position, 1_000).await.unwrap();
    let mut ids: Vec<_> = changed.into_iter().map(|changed| changed.id).collect();
    ids.sort();
    (ids, next)
}

on_both_databases! {
    async fn changes_contain_current_alerts(database) {
        let store = with_accounts(database, 1).await;
        let alerts = add_many(&store, 3).await;
        let position = store.history_position().await.unwrap();
        assert_eq!(store.changed_since(position, 10).await.unwrap(), (vec![], position));

        assert!(pause(&store, &alerts[0].alert).await);
        fire(&store, vec![firing(&alerts[1], 60)]).await;
        assert!(delete(&store, &alerts[2].alert).await);
        let (mut changed, next) = store.changed_since(position, 10).await.unwrap();
        changed.sort_by_key(|changed| changed.id);
        let expected = [now(&store, &alerts[0]).await, now(&store, &alerts[1]).await, None];
        let expected = alerts.iter().zip(position + 1..).zip(expected).map(|((alert, position), stored)| {
            let has_fired = alert.alert.id == alerts[1].alert.id;
            PositionedAlert { id: alert.alert.id, position, has_fired, stored }
        });
        assert_eq!(changed, expected.collect::<Vec<_>>());
        assert_eq!(next, store.history_position().await.unwrap());
    }

    async fn changed_alert_has_the_position_of_its_last_change(database) {
        let store = with_accounts(database, 1).await;
        assert_eq!(store.history_last().await.unwrap(), 0);
        let alert = add_many(&store, 1).await.remove(0);
        assert_eq!(store.history_last().await.unwrap(), 1);
        assert!(pause(&store, &alert.alert).await);
        let (changed, next) = store.changed_since(0, 10).await.unwrap();
        assert_eq!(changed.iter().map(|changed| changed.position).collect::<Vec<_>>(), [2]);
        assert_eq!((next, store.history_last().await.unwrap()), (2, 2));
        let (changed, next) = store.changed_since(0, 1).await.unwrap();
        // Other processes compare positions with the alert as it is now.
        let position = if store.is_shared() { 2 } else { 1 };
        assert_eq!((changed[0].position, next), (position, 1), "the later change was not read");
    }

    async fn last_changes_of_alerts_have_positions_if_several_processes_write(database) {
        let store = with_accounts(database, 1).await;
        let alerts = add_many(&store, 2).await;
        assert!(pause(&store, &alerts[0].alert).await);
        let ids = [alerts[1].alert.id, alerts[0].alert.id, AlertId(uuid(99))];
        let mut positions = store.change_positions(&ids).await.unwrap();
        positions.sort_by_key(|change| change.position);
        let expected = [(1, 2), (0, 3)].map(|(alert, position): (usize, i64)| LastChange {
            alert: alerts[alert].alert.id,
            position,
            has_fired: false,
        });
        assert_eq!(positions, if store.is_shared() { &expected[..] } else { &[] });
        fire(&store, vec![firing(&alerts[1], 60)]).await;
        let fired = store.change_positions(&ids[..1]).await.unwrap();
        assert!(fired.iter().all(|change| change.has_fired), "{fired:?}");
    }

    async fn paged_feed_is_complete(database) {
        let store = with_accounts(database, 1).await;
        let alerts = add_many(&store, 10).await;
        let (mut position, mut seen) = (0, Vec::new());
        loop {
            let (changed, next) = store.changed_since(position, 3).await.unwrap();
            if next == position {
                break;
            }
            assert!(changed.len() <= 3);
            seen.extend(changed.into_iter().map(|changed| changed.stored.unwrap()));
            position = next;
        }
        seen.sort_by_key(|alert| alert.alert.id);
        assert_eq!(seen, alerts);
    }

    async fn late_commit_is_not_skipped(database) {
        let store = with_accounts(database, 1).await;
        add(&store, &alert_of(1, 1, asked_price(1), 0)).await;
        // On SQLite the other write waits for the end of this one, so nothing can overtake.
        if !database.is_postgres() {
            return;
        }
        let (written, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let slow = tokio::spawn({
            let (store, inputs) = (store.clone(), (Arc::clone(&written), Arc::clone(&go)));
            async move {
                let write = store.commit(inputs, |(written, go), unit| Box::pin(async move {
                    insert(unit, &alert_of(1, 2, asked_price(2), 0)).await?;
                    written.notify_one();
                    go.notified().await;
                    Ok(())
                }));
                write.await
            }
        });
        written.notified().await;
        let other = open(database).await;
        add(&other, &alert_of(1, 3, asked_price(3), 0)).await;
        let id = |number| AlertId(crate::support::uuid(number));
        let (first, position) = changed(&other, 0).await;
        assert_eq!((position, other.history_last().await.unwrap()), (1, 3));
        assert_eq!(first, [id(1)], "the third is on disk, but the second may come before it");
        let (committed, next) = other.committed_changes(position, 3, 10).await.unwrap();
        let committed: Vec<AlertId> = committed.into_iter().map(|changed| changed.id).collect();
        assert_eq!((committed, next), (vec![id(3)], 3));
        go.notify_one();
        slow.await.unwrap().unwrap();
        let (then, position) = changed(&other, position).await;
        assert_eq!(then, [id(2), id(3)]);
        assert_eq!(changed(&store, position).await, (vec![], position));
    }

    async fn alert_is_as_of_its_position_while_it_changes(database) {
        let store = with_accounts(database, 1).await;
        let alert = add_many(&store, 1).await.remove(0);
        // On SQLite a later state may come with an earlier position.
        if !database.is_postgres() {
            return;
        }
        let changing = tokio::spawn({
            let (other, alert) = (open(database).await, alert.alert.clone());
            async move {
                for _ in 0..100 {
                    assert!(pause(&other, &alert).await);
                    assert!(activate(&other, &alert).await);
                }
            }
        });
        let mut read = Vec::new();
        while !changing.is_finished() {
            read.extend(store.committed_changes(0, i64::MAX, 10).await.unwrap().0);
        }
        changing.await.unwrap();
        let pool = sqlx::PgPool::connect(database.url()).await.unwrap();
        let positions: Vec<i64> = sqlx::query_scalar("SELECT seq FROM history ORDER BY seq").fetch_all(&pool).await.unwrap();
        // The first entry is of the first revision, and each change is one more entry and revision.
        let first = alert.alert.revision.0;
        for changed in read {
            let revision = changed.stored.unwrap().alert.revision.0;
            assert_eq!(changed.position, positions[usize::try_from(revision - first).unwrap()], "revision {revision}");
        }
    }

    async fn active_alerts_of_some_stocks_are_read(database) {
        let store = with_accounts(database, 1).await;
        let mut alerts = Vec::new();
        for (number, symbol) in (1..).zip(["AAPL", "MSFT", "AAPL", "IBM", "AAPL", "AAPL"]) {
            alerts.push(alert_of(1, number, asked(symbol, "price_above", &json!({"threshold": 1})), 0));
            add(&store, &alerts[alerts.len() - 1]).await;
        }
        assert!(pause(&store, &alerts[4].alert).await);
        assert!(delete(&store, &alerts[5].alert).await);
        let read = async |symbols: &[&str]| {
            let symbols: Vec<_> = symbols.iter().map(|text| symbol(text)).collect();
            let mut read = Vec::new();
            store.active_alerts_of_symbols(&symbols, &mut |piece| read.extend(piece)).await.unwrap();
            read.sort_by_key(|alert| alert.id);
            read
        };
        let of = |numbers: &[usize]| -> Vec<_> {
            numbers.iter().map(|number| EvaluatedAlert::of(&alerts[*number].alert)).collect()
        };
        assert_eq!(read(&["AAPL", "MSFT", "TSLA"]).await, of(&[0, 1, 2]));
        assert_eq!(read(&["AAPL", "AAPL"]).await, of(&[0, 2]));
        assert_eq!(read(&["TSLA"]).await, []);
        assert_eq!(read(&[]).await, []);
    }

    async fn active_alerts_are_read_in_order_of_creation(database) {
        let store = with_accounts(database, 1).await;
        let alerts = add_many(&store, 5_000).await;
        assert!(pause(&store, &alerts[0].alert).await);
        assert!(delete(&store, &alerts[1].alert).await);
        let (mut read, mut pieces) = (Vec::new(), 0);
        store.active_alerts(&mut |piece| {
            pieces += 1;
            read.extend(piece);
        }).await.unwrap();
        let expected: Vec<_> = alerts[2..].iter().map(|alert| EvaluatedAlert::of(&alert.alert)).collect();
        assert!(read == expected, "{} were read", read.len());
        assert!(pieces > 1);
        let mut revisions = Vec::new();
        store.active_revisions(&mut |piece| revisions.extend(piece)).await.unwrap();
        let expected: Vec<_> = alerts[2..].iter().map(|alert| (alert.alert.id, alert.alert.revision)).collect();
        assert!(revisions == expected, "{} were read", revisions.len());
    }
}
