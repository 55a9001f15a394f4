//! Single alerts: created, found, changed, deleted.

use alerts::{AlertId, Status, transition};
use serde_json::{Value, json};
use store::Store;
use store::model::{AccountId, AlertOwner, HistoryRow, StoredAlert};
use testkit::on_both_databases;

use crate::firings::{ALL, odd_instant};
use crate::support::{
    add, add_many, alert_of, asked, asked_price, at, change, created, delete, now, pause, symbol, uuid, with_accounts,
};

/// The numbers of the alerts that may be equivalent to the requested one.
async fn similar(store: &Store, owner: AlertOwner, condition: &'static str, more: Value) -> Vec<u128> {
    let found = store.commit((owner, asked("AAPL", condition, &more)), |(owner, asked), unit| {
        Box::pin(unit.similar_alerts(owner, asked))
    });
    numbers(&found.await.unwrap())
}

fn numbers(alerts: &[StoredAlert]) -> Vec<u128> {
    alerts.iter().map(|alert| alert.alert.id.0.as_u128()).collect()
}

fn guest() -> AlertOwner {
    AlertOwner::Guest {
        email: "guest@example.com".to_owned(),
    }
}

fn marked(onboarding_id: &Value) -> Value {
    json!({"threshold": 7, "parameters": {"onboarding_id": onboarding_id}})
}

on_both_databases! {
    async fn inserted_alert_is_read_back_unchanged(database) {
        let store = with_accounts(database, 1).await;
        let mut alert = add_many(&store, 1).await.remove(0);
        assert_eq!(now(&store, &alert).await.as_ref(), Some(&alert));
        alert.alert.id = AlertId(uuid(2));
        alert.alert.status = Status::Inactive;
        alert.alert.initial_price = None;
        alert.alert.armed_at = odd_instant();
        alert.alert.threshold_set_at = odd_instant();
        alert.alert.initial_price_set_at = odd_instant();
        alert.alert.triggered_at = Some(odd_instant());
        alert.alert.rsi_side = Some(alerts::condition::Side::Above);
        alert.alert.revision = alerts::Revision(u32::MAX);
        alert.owner = guest();
        alert.created_by = None;
        add(&store, &alert).await;
        assert_eq!(now(&store, &alert).await.as_ref(), Some(&alert));
    }

    async fn thousands_of_alerts_are_read_by_id(database) {
        let store = with_accounts(database, 1).await;
        let alerts = add_many(&store, 1_500).await;
        let mut ids: Vec<_> = alerts.iter().map(|alert| alert.alert.id).collect();
        ids.push(AlertId(uuid(77_777)));
        let mut read = store.alerts_by_id(&ids).await.unwrap();
        read.sort_by_key(|alert| alert.alert.id);
        assert!(read == alerts);
        assert_eq!(store.alerts_by_id(&[]).await.unwrap(), []);
    }

    async fn update_writes_history_entry(database) {
        let store = with_accounts(database, 1).await;
        let alert = add_many(&store, 1).await.remove(0);
        let id = alert.alert.id;
        let details = json!({"ratio": 4}).as_object().cloned();
        let changed = store.commit(details, move |details, unit| Box::pin(async move {
            let alert = unit.lock_alert(AccountId(uuid(1)), id).await?.unwrap().alert;
            let mut after = alert.clone();
            after.condition = asked_price(99).condition;
            after.revision = alert.revision.next();
            let entry = transition::StatusChange {
                action: alerts::HistoryAction::Adjusted,
                previous_status: Some(alert.status),
                new_status: transition::HistoryStatus::Of(alert.status),
            };
            let changed = transition::ChangedAlert { alert: after, entry };
            let first = unit.update_alert(&changed, &alert, at(9), details.as_ref()).await?;
            let second = unit.update_alert(&changed, &alert, at(9), details.as_ref()).await?;
            Ok((first, second))
        }));
        assert_eq!(changed.await.unwrap(), (true, false), "the second is too late");
        assert_eq!(now(&store, &alert).await.unwrap().alert.condition, asked_price(99).condition);
        let history = store.history(AccountId(uuid(1)), id, ALL).await.unwrap().unwrap();
        assert_eq!((history.total, history.items[0].at), (2, at(9)));
        assert_eq!(history.items[0].details, json!({"ratio": 4}).as_object().cloned());
    }

    async fn client_reports_are_part_of_the_history(database) {
        let store = with_accounts(database, 1).await;
        let alert = add_many(&store, 1).await.remove(0);
        let row = HistoryRow {
            at: odd_instant(),
            price: Some(crate::support::price("12.5")),
            details: json!({"note": "é\u{0}\n", "z": 1, "a": 1.50}).as_object().cloned(),
            ..created(&alert.alert)
        };
        store.commit(row.clone(), |row, unit| Box::pin(unit.append_history(row))).await.unwrap();
        let history = store.history(AccountId(uuid(1)), alert.alert.id, ALL).await.unwrap().unwrap();
        assert_eq!(history.items[0], row);
    }

    async fn firings_are_listed_newest_first_without_client_reports(database) {
        let store = with_accounts(database, 2).await;
        let alert = add_many(&store, 1).await.remove(0);
        let id = alert.alert.id;
        // Of six entries the second and the fourth to sixth were reported by a client.
        for (n, source) in (1..).zip(["engine", "client", "engine", "client", "client", "client"]) {
            let row = HistoryRow {
                at: at(n),
                details: json!({"source": source}).as_object().cloned(),
                entry: alerts::transition::StatusChange {
                    action: alerts::HistoryAction::Triggered,
                    ..created(&alert.alert).entry
                },
                ..created(&alert.alert)
            };
            store.commit(row, move |row, unit| Box::pin(unit.append_history(row))).await.unwrap();
        }
        let firings = async |owner: u128, limit: u32| store.firings_of_alert(AccountId(uuid(owner)), id, limit).await.unwrap();
        let (symbol, both) = firings(1, 2).await.unwrap();
        assert_eq!(symbol, alert.alert.symbol);
        assert_eq!(both.iter().map(|row| row.at).collect::<Vec<_>>(), [3, 1].map(at));
        assert_eq!(firings(1, 100).await.unwrap().1, both);
        assert_eq!(firings(1, 1).await.unwrap().1, both[..1]);
        assert_eq!(firings(1, 0).await.unwrap().1, []);
        assert_eq!(firings(2, 2).await, None);
    }

    async fn deleted_alert_keeps_its_history(database) {
        let store = with_accounts(database, 1).await;
        let alert = add_many(&store, 1).await.remove(0);
        assert!(pause(&store, &alert.alert).await);
        assert!(!delete(&store, &alert.alert).await, "it has changed since");
        let paused = now(&store, &alert).await.unwrap();
        assert!(delete(&store, &paused.alert).await);
        assert_eq!(now(&store, &alert).await, None);
        assert!(!delete(&store, &paused.alert).await);
        let history = store.history(AccountId(uuid(1)), alert.alert.id, ALL).await.unwrap().unwrap();
        assert_eq!(history.total, 3);
        let id = alert.alert.id;
        let gone = store.commit((), move |(), unit| Box::pin(async move {
            Ok(unit.lock_alert(AccountId(uuid(1)), id).await?.is_none())
        }));
        assert!(gone.await.unwrap());
    }

    async fn count_includes_only_active_undeleted_alerts(database) {
        let store = with_accounts(database, 2).await;
        let alerts = add_many(&store, 5).await;
        add(&store, &alert_of(2, 9, asked_price(9), 0)).await;
        assert!(pause(&store, &alerts[0].alert).await);
        assert!(delete(&store, &alerts[1].alert).await);
        let count = store.commit((), move |(), unit| Box::pin(unit.count_active_alerts(AccountId(uuid(1)))));
        assert_eq!(count.await.unwrap(), 3);
    }

    async fn similar_alerts_have_same_owner_symbol_and_condition(database) {
        let store = with_accounts(database, 2).await;
        let threshold = |threshold| json!({"threshold": threshold});
        let days = json!({"parameters": {"date": "2024-09-01"}});
        let guests = StoredAlert { owner: guest(), ..alert_of(1, 7, asked("AAPL", "price_above", &threshold(5)), 0) };
        for alert in [
            alert_of(1, 1, asked("AAPL", "price_above", &threshold(5)), 0),
            alert_of(1, 2, asked("AAPL", "price_above", &threshold(6)), 0),
            alert_of(1, 3, asked("MSFT", "price_above", &threshold(5)), 0),
            alert_of(1, 4, asked("AAPL", "new_high", &json!({})), 0),
            alert_of(2, 5, asked("AAPL", "price_above", &threshold(5)), 0),
            alert_of(1, 6, asked("AAPL", "reminder", &days), 0),
            guests,
        ] {
            add(&store, &alert).await;
        }
        let me = || AlertOwner::Account(AccountId(uuid(1)));
        assert_eq!(similar(&store, me(), "price_above", threshold(5)).await, [1]);
        assert_eq!(similar(&store, me(), "new_high", json!({})).await, [4]);
        assert_eq!(similar(&store, me(), "reminder", days).await, [6]);
        assert_eq!(similar(&store, guest(), "price_above", threshold(5)).await, [7]);
        assert_eq!(similar(&store, guest(), "new_high", json!({})).await, []);
        assert!(delete(&store, &alert_of(1, 1, asked("AAPL", "price_above", &threshold(5)), 0).alert).await);
        assert_eq!(similar(&store, me(), "price_above", threshold(5)).await, []);
    }

    async fn similar_alerts_match_by_onboarding_id(database) {
        let store = with_accounts(database, 2).await;
        let text = marked(&json!("one"));
        add(&store, &alert_of(1, 1, asked("MSFT", "price_above", &text), 0)).await;
        add(&store, &alert_of(1, 2, asked("MSFT", "price_above", &marked(&json!(1))), 0)).await;
        add(&store, &alert_of(2, 3, asked("MSFT", "price_above", &text), 0)).await;
        let me = || AlertOwner::Account(AccountId(uuid(1)));
        assert_eq!(similar(&store, me(), "price_below", text).await, [1]);
        assert_eq!(similar(&store, me(), "price_below", marked(&json!(1))).await, [2]);
        assert_eq!(similar(&store, me(), "price_below", marked(&json!("1"))).await, []);
        assert_eq!(similar(&store, me(), "price_below", marked(&json!(""))).await, []);
        assert_eq!(similar(&store, guest(), "price_below", marked(&json!("one"))).await, []);
    }

    async fn similar_alerts_follow_updates(database) {
        let store = with_accounts(database, 1).await;
        let alert = alert_of(1, 1, asked("AAPL", "price_above", &marked(&json!("old"))), 0);
        add(&store, &alert).await;
        let new = asked("AAPL", "price_below", &marked(&json!("new")));
        assert!(change(&store, &alert.alert, move |alert| {
            let change = alerts::request::AlertChange {
                condition: new.condition.clone(),
                notification: new.notification,
                parameters: new.parameters.clone(),
                note: None,
                tags: alerts::Tags::default(),
                options: alerts::options::AlertOptions::default(),
                routing: alerts::Routing::default(),
                managed_by: None,
                rearms: true,
            };
            transition::update(alert, change, transition::PriceAvailability::Unknown, at(5)).unwrap()
        }).await);
        let me = || AlertOwner::Account(AccountId(uuid(1)));
        assert_eq!(similar(&store, me(), "new_high", json!({"parameters": {"onboarding_id": "old"}})).await, []);
        assert_eq!(similar(&store, me(), "new_high", json!({"parameters": {"onboarding_id": "new"}})).await, [1]);
        assert_eq!(similar(&store, me(), "price_above", json!({"threshold": 7})).await, []);
        assert_eq!(similar(&store, me(), "price_below", json!({"threshold": 7})).await, [1]);
    }

    async fn all_alerts_of_a_stock_are_locked_for_a_split(database) {
        let store = with_accounts(database, 2).await;
        add(&store, &alert_of(1, 1, asked_price(1), 0)).await;
        add(&store, &alert_of(2, 2, asked_price(2), 0)).await;
        add(&store, &alert_of(1, 3, asked("MSFT", "new_low", &json!({})), 0)).await;
        assert!(pause(&store, &alert_of(1, 1, asked_price(1), 0).alert).await);
        let found = store.commit((), move |(), unit| Box::pin(unit.lock_alerts_of_symbol(symbol("AAPL"))));
        assert_eq!(numbers(&found.await.unwrap()), [1, 2]);
    }
}
