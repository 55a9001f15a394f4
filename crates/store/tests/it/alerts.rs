//! Alerts one by one: made, found again, changed, deleted.

use alerts::{AlertId, Status, transition};
use serde_json::{Value, json};
use store::Store;
use store::model::{AccountId, HistoryRow, Owner, StoredAlert};
use testkit::on_both;

use crate::firings::{ALL, odd_instant};
use crate::support::{
    add, add_many, alert_of, asked, asked_price, at, boxed, change, created, delete, now, pause, symbol, uuid,
    with_accounts, work,
};

/// The numbers of those that may be equivalent to what is asked for.
async fn similar(store: &Store, owner: Owner, condition: &'static str, more: Value) -> Vec<u128> {
    let found = store.write(work(move |unit| {
        let (owner, asked) = (owner.clone(), asked("AAPL", condition, &more));
        boxed(async move { Ok(unit.similar_alerts(&owner, &asked).await?) })
    }));
    found
        .await
        .unwrap()
        .iter()
        .map(|alert| alert.alert.id.0.as_u128())
        .collect()
}

fn guest() -> Owner {
    Owner::Guest {
        email: "guest@example.com".to_owned(),
    }
}

fn marked(onboarding_id: &Value) -> Value {
    json!({"threshold": 7, "parameters": {"onboarding_id": onboarding_id}})
}

on_both! {
    async fn an_alert_comes_back_as_it_was_put_in(database) {
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

    async fn alerts_are_read_by_the_thousand(database) {
        let store = with_accounts(database, 1).await;
        let alerts = add_many(&store, 1_500).await;
        let mut ids: Vec<_> = alerts.iter().map(|alert| alert.alert.id).collect();
        ids.push(AlertId(uuid(77_777)));
        let mut read = store.alerts_by_id(&ids).await.unwrap();
        read.sort_by_key(|alert| alert.alert.id);
        assert!(read == alerts);
        assert_eq!(store.alerts_by_id(&[]).await.unwrap(), []);
    }

    async fn a_change_is_written_with_its_history_entry(database) {
        let store = with_accounts(database, 1).await;
        let alert = add_many(&store, 1).await.remove(0);
        let id = alert.alert.id;
        let details = json!({"ratio": 4}).as_object().cloned();
        let changed = store.write(work(move |unit| {
            let details = details.clone();
            boxed(async move {
                let alert = unit.alert_to_change(AccountId(uuid(1)), id).await?.unwrap().alert;
                let mut after = alert.clone();
                after.condition = asked_price(99).condition;
                after.revision = alert.revision.next();
                let entry = transition::Entry {
                    action: alerts::HistoryAction::Adjusted,
                    previous_status: Some(alert.status),
                    new_status: transition::HistoryStatus::Of(alert.status),
                };
                let changed = transition::Changed { alert: after, entry };
                let first = unit.update_alert(&changed, alert.revision, at(9), details.as_ref()).await?;
                let second = unit.update_alert(&changed, alert.revision, at(9), details.as_ref()).await?;
                Ok((first, second))
            })
        }));
        assert_eq!(changed.await.unwrap(), (true, false), "the second is too late");
        assert_eq!(now(&store, &alert).await.unwrap().alert.condition, asked_price(99).condition);
        let history = store.history(AccountId(uuid(1)), id, ALL).await.unwrap().unwrap();
        assert_eq!((history.total, history.items[0].at), (2, at(9)));
        assert_eq!(history.items[0].details, json!({"ratio": 4}).as_object().cloned());
    }

    async fn what_clients_note_down_is_history_too(database) {
        let store = with_accounts(database, 1).await;
        let alert = add_many(&store, 1).await.remove(0);
        let row = HistoryRow {
            at: odd_instant(),
            price: Some(crate::support::price("12.5")),
            details: json!({"note": "é\u{0}\n", "z": 1, "a": 1.50}).as_object().cloned(),
            ..created(&alert.alert)
        };
        let noted = row.clone();
        store.write(work(move |unit| {
            let row = noted.clone();
            boxed(async move { Ok(unit.append_history(&row).await?) })
        })).await.unwrap();
        let history = store.history(AccountId(uuid(1)), alert.alert.id, ALL).await.unwrap().unwrap();
        assert_eq!(history.items[0], row);
    }

    async fn firings_come_newest_first_without_what_clients_noted_down(database) {
        let store = with_accounts(database, 2).await;
        let alert = add_many(&store, 1).await.remove(0);
        let id = alert.alert.id;
        // Of six entries the second and the fourth to sixth are a client's.
        for (n, source) in (1..).zip(["engine", "client", "engine", "client", "client", "client"]) {
            let row = HistoryRow {
                at: at(n),
                details: json!({"source": source}).as_object().cloned(),
                entry: alerts::transition::Entry {
                    action: alerts::HistoryAction::Triggered,
                    ..created(&alert.alert).entry
                },
                ..created(&alert.alert)
            };
            store.write(work(move |unit| {
                let row = row.clone();
                boxed(async move { Ok(unit.append_history(&row).await?) })
            })).await.unwrap();
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

    async fn a_deleted_alert_is_gone_but_for_its_history(database) {
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
        let gone = store.write(work(move |unit| boxed(async move {
            Ok(unit.alert_to_change(AccountId(uuid(1)), id).await?.is_none())
        })));
        assert!(gone.await.unwrap());
    }

    async fn only_active_alerts_that_are_not_deleted_count(database) {
        let store = with_accounts(database, 2).await;
        let alerts = add_many(&store, 5).await;
        add(&store, &alert_of(2, 9, asked_price(9), 0)).await;
        assert!(pause(&store, &alerts[0].alert).await);
        assert!(delete(&store, &alerts[1].alert).await);
        let count = store.write(work(|unit| boxed(async move {
            Ok(unit.count_active_alerts(AccountId(uuid(1))).await?)
        })));
        assert_eq!(count.await.unwrap(), 3);
    }

    async fn similar_alerts_are_the_owners_of_the_same_wish(database) {
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
        let me = || Owner::Account(AccountId(uuid(1)));
        assert_eq!(similar(&store, me(), "price_above", threshold(5)).await, [1]);
        assert_eq!(similar(&store, me(), "new_high", json!({})).await, [4]);
        assert_eq!(similar(&store, me(), "reminder", days).await, [6]);
        assert_eq!(similar(&store, guest(), "price_above", threshold(5)).await, [7]);
        assert_eq!(similar(&store, guest(), "new_high", json!({})).await, []);
        assert!(delete(&store, &alert_of(1, 1, asked("AAPL", "price_above", &threshold(5)), 0).alert).await);
        assert_eq!(similar(&store, me(), "price_above", threshold(5)).await, []);
    }

    async fn a_repeat_is_found_by_its_onboarding_id_whatever_it_says(database) {
        let store = with_accounts(database, 2).await;
        let text = marked(&json!("one"));
        add(&store, &alert_of(1, 1, asked("MSFT", "price_above", &text), 0)).await;
        add(&store, &alert_of(1, 2, asked("MSFT", "price_above", &marked(&json!(1))), 0)).await;
        add(&store, &alert_of(2, 3, asked("MSFT", "price_above", &text), 0)).await;
        let me = || Owner::Account(AccountId(uuid(1)));
        assert_eq!(similar(&store, me(), "price_below", text).await, [1]);
        assert_eq!(similar(&store, me(), "price_below", marked(&json!(1))).await, [2]);
        assert_eq!(similar(&store, me(), "price_below", marked(&json!("1"))).await, []);
        assert_eq!(similar(&store, me(), "price_below", marked(&json!(""))).await, []);
        assert_eq!(similar(&store, guest(), "price_below", marked(&json!("one"))).await, []);
    }

    async fn an_update_moves_the_marks_that_an_alert_is_found_by(database) {
        let store = with_accounts(database, 1).await;
        let alert = alert_of(1, 1, asked("AAPL", "price_above", &marked(&json!("old"))), 0);
        add(&store, &alert).await;
        let new = asked("AAPL", "price_below", &marked(&json!("new")));
        assert!(change(&store, &alert.alert, move |alert| {
            let change = alerts::request::AlertChange {
                condition: new.condition,
                notification: new.notification,
                parameters: new.parameters.clone(),
            };
            transition::update(alert, change, transition::StartPrice::Unknown, at(5)).unwrap()
        }).await);
        let me = || Owner::Account(AccountId(uuid(1)));
        assert_eq!(similar(&store, me(), "new_high", json!({"parameters": {"onboarding_id": "old"}})).await, []);
        assert_eq!(similar(&store, me(), "new_high", json!({"parameters": {"onboarding_id": "new"}})).await, [1]);
        assert_eq!(similar(&store, me(), "price_above", json!({"threshold": 7})).await, []);
        assert_eq!(similar(&store, me(), "price_below", json!({"threshold": 7})).await, [1]);
    }

    async fn all_alerts_of_a_stock_are_found_for_a_split(database) {
        let store = with_accounts(database, 2).await;
        add(&store, &alert_of(1, 1, asked_price(1), 0)).await;
        add(&store, &alert_of(2, 2, asked_price(2), 0)).await;
        add(&store, &alert_of(1, 3, asked("MSFT", "new_low", &json!({})), 0)).await;
        assert!(pause(&store, &alert_of(1, 1, asked_price(1), 0).alert).await);
        let found = store.write(work(|unit| boxed(async move {
            Ok(unit.alerts_of_symbol_to_change(symbol("AAPL")).await?)
        })));
        let numbers: Vec<_> = found.await.unwrap().iter().map(|alert| alert.alert.id.0.as_u128()).collect();
        assert_eq!(numbers, [1, 2]);
    }
}
