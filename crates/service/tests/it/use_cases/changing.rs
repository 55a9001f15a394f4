//! Changes of alerts: pause, activation, update.

use alerts::transition::HistoryStatus;
use alerts::{AlertId, Channel, HistoryAction, Plan, Status};
use market::Price;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{OPEN, TestApp, above, at, kind, on_each_database};

on_each_database! {
    paused_alert_does_not_fire_and_cannot_be_paused_again
    triggered_alert_cannot_be_paused
    activation_sets_a_new_initial_price_and_the_alert_fires_again
    activation_of_an_active_alert_changes_nothing
    activation_needs_a_price
    past_reminder_cannot_be_activated
    update_of_an_active_alert_rearms_it_and_keeps_its_initial_price
    update_of_a_paused_or_triggered_alert_changes_only_its_fields
    update_is_validated_as_the_resulting_alert
    active_alert_becomes_a_percentage_only_of_a_known_price
    alert_of_another_account_is_not_found
    empty_update_changes_nothing_and_writes_no_history
    update_that_would_equal_another_alert_is_refused
    reminders_with_different_notes_are_different_alerts
}

async fn priced(app: &TestApp, plan: Plan, body: Value) -> (foundation::Actor, AlertId) {
    let ann = app.ann(plan).await;
    app.quote("AAPL", 189.20).await;
    let id = app.create(&ann, body).await.stored.alert.id;
    (ann, id)
}

async fn paused_alert_does_not_fire_and_cannot_be_paused_again(app: TestApp) {
    let (ann, id) = priced(&app, Plan::Basic, above("AAPL", 200.0)).await;
    app.advance(1);
    let paused = app.service.alerts.pause_alert(&ann, id).await.unwrap();
    assert_eq!((paused.stored.alert.status, paused.evaluation), (Status::Paused, None));
    app.advance(1);
    let again = app.service.alerts.pause_alert(&ann, id).await.unwrap();
    assert_eq!(again.stored, paused.stored);
    app.quote("AAPL", 201.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Paused);
    let history = app.history(&ann, id).await;
    assert_eq!(history.len(), 2);
    assert_eq!(history[1].entry.action, HistoryAction::Paused);
    assert_eq!(history[1].entry.previous_status, Some(Status::Active));
    assert_eq!(history[1].entry.new_status, HistoryStatus::Of(Status::Paused));
    assert_eq!(history[1].at, at("2024-03-08T15:01:00Z"));
}

async fn triggered_alert_cannot_be_paused(app: TestApp) {
    let (ann, id) = priced(&app, Plan::Basic, above("AAPL", 200.0)).await;
    app.quote("AAPL", 200.0).await;
    let error = app.service.alerts.pause_alert(&ann, id).await.unwrap_err();
    assert_eq!(kind(&error), "invalid status");
    assert!(error.to_string().contains("activate it first"), "{error}");
    assert_eq!(
        app.actions(&ann, id).await,
        [HistoryAction::Created, HistoryAction::Triggered]
    );
}

async fn activation_sets_a_new_initial_price_and_the_alert_fires_again(app: TestApp) {
    let body = json!({"symbol": "AAPL", "condition": "price_change_up", "threshold": 5});
    let (ann, id) = priced(&app, Plan::Basic, body).await;
    app.quote("AAPL", 198.65).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    app.quote("AAPL", 198.66).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    app.advance(5);
    let alert = app.service.alerts.activate_alert(&ann, id).await.unwrap().stored.alert;
    assert_eq!(alert.status, Status::Active);
    assert_eq!(alert.initial_price.map(Price::micros), Some(198_660_000));
    assert_eq!(alert.armed_at, at("2024-03-08T15:05:00Z"));
    assert_eq!(alert.created_at, at(OPEN));
    // 198.66 up 5 % is 208.593.
    app.quote("AAPL", 208.592_999).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    app.quote("AAPL", 208.593).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    use HistoryAction::{Created, Reactivated, Triggered};
    assert_eq!(
        app.actions(&ann, id).await,
        [Created, Triggered, Reactivated, Triggered]
    );
}

async fn activation_of_an_active_alert_changes_nothing(app: TestApp) {
    let (ann, id) = priced(&app, Plan::Basic, above("AAPL", 200.0)).await;
    let before = app.service.alerts.alert(&ann, id).await.unwrap().stored;
    app.quote("AAPL", 190.0).await;
    app.advance(1);
    let after = app.service.alerts.activate_alert(&ann, id).await.unwrap().stored;
    assert_eq!(after, before);
    assert_eq!(app.actions(&ann, id).await, [HistoryAction::Created]);
}

async fn activation_needs_a_price(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.deliver(json!({"stocks": [{"symbol": "ACME", "name": "Acme"}]}))
        .await;
    let id = app.create(&ann, above("ACME", 10.0)).await.stored.alert.id;
    app.service.alerts.pause_alert(&ann, id).await.unwrap();
    let error = app.service.alerts.activate_alert(&ann, id).await.unwrap_err();
    assert_eq!(kind(&error), "unavailable");
    assert_eq!(app.status(&ann, id).await, Status::Paused);
    app.quote("ACME", 8.0).await;
    let alert = app.service.alerts.activate_alert(&ann, id).await.unwrap().stored.alert;
    assert_eq!(alert.initial_price.map(Price::micros), Some(8_000_000));
}

async fn past_reminder_cannot_be_activated(app: TestApp) {
    let body = json!({
        "symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-03-08T16:00:00Z"}
    });
    let (ann, id) = priced(&app, Plan::Basic, body).await;
    app.service.alerts.pause_alert(&ann, id).await.unwrap();
    app.advance(61);
    let error = app.service.alerts.activate_alert(&ann, id).await.unwrap_err();
    assert_eq!(kind(&error), "invalid status");
    let change = json!({"parameters": {"date": "2024-03-08T17:00:00Z"}});
    app.service.alerts.update_alert(&ann, id, &change).await.unwrap();
    app.service.alerts.activate_alert(&ann, id).await.unwrap();
}

async fn update_of_an_active_alert_rearms_it_and_keeps_its_initial_price(app: TestApp) {
    let (ann, id) = priced(&app, Plan::Basic, above("AAPL", 200.0)).await;
    app.quote("AAPL", 195.0).await;
    app.advance(2);
    let updated = app
        .service
        .alerts
        .update_alert(&ann, id, &json!({"threshold": 210}))
        .await
        .unwrap();
    let alert = &updated.stored.alert;
    assert_eq!(
        alert
            .condition
            .threshold()
            .map(|threshold| threshold.to_string())
            .as_deref(),
        Some("210")
    );
    assert_eq!(alert.initial_price.map(Price::micros), Some(189_200_000));
    assert_eq!(alert.armed_at, at("2024-03-08T15:02:00Z"));
    assert_eq!(alert.notification, Channel::Email);
    assert_eq!(updated.stored.created_by.as_deref(), Some("key:key of ann@example.com"));
    assert_eq!(app.service.alerts.alert(&ann, id).await.unwrap(), updated);
    app.quote("AAPL", 205.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    app.quote("AAPL", 210.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    use HistoryAction::{Created, Triggered, Updated};
    assert_eq!(app.actions(&ann, id).await, [Created, Updated, Triggered]);
}

async fn update_of_a_paused_or_triggered_alert_changes_only_its_fields(app: TestApp) {
    let (ann, id) = priced(&app, Plan::Basic, above("AAPL", 200.0)).await;
    app.service.alerts.pause_alert(&ann, id).await.unwrap();
    let armed_at = app.service.alerts.alert(&ann, id).await.unwrap().stored.alert.armed_at;
    app.advance(1);
    let alert = app
        .service
        .alerts
        .update_alert(&ann, id, &json!({"threshold": 195}))
        .await
        .unwrap()
        .stored
        .alert;
    assert_eq!((alert.status, alert.armed_at), (Status::Paused, armed_at));
    // Unchanged values write no history.
    app.service
        .alerts
        .update_alert(&ann, id, &json!({"threshold": 195}))
        .await
        .unwrap();
    app.quote("AAPL", 196.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Paused);
    app.service.alerts.activate_alert(&ann, id).await.unwrap();
    app.quote("AAPL", 196.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    let alert = app
        .service
        .alerts
        .update_alert(&ann, id, &json!({"threshold": 220}))
        .await
        .unwrap()
        .stored
        .alert;
    assert_eq!(alert.status, Status::Triggered);
    use HistoryAction::{Created, Paused, Reactivated, Triggered, Updated};
    let expected = [Created, Paused, Updated, Reactivated, Triggered, Updated];
    assert_eq!(app.actions(&ann, id).await, expected);
}

async fn update_is_validated_as_the_resulting_alert(app: TestApp) {
    let (ann, id) = priced(&app, Plan::Basic, above("AAPL", 200.0)).await;
    let update = async |body: Value| app.service.alerts.update_alert(&ann, id, &body).await;
    let error = update(json!({"condition": "new_high", "threshold": 3}))
        .await
        .unwrap_err();
    assert_eq!(kind(&error), "invalid threshold");
    let error = update(json!({"condition": "price_change_down", "threshold": 101}))
        .await
        .unwrap_err();
    assert_eq!(kind(&error), "invalid threshold");
    assert_eq!(kind(&update(json!("x")).await.unwrap_err()), "malformed");
    let error = update(json!({"condition": "rsi_limit", "threshold": 70}))
        .await
        .unwrap_err();
    assert_eq!(kind(&error), "forbidden plan premium");
    // 200 dollars are neither 200 percent nor another level.
    for name in ["price_below", "price_change_down"] {
        let error = update(json!({"condition": name})).await.unwrap_err();
        assert_eq!(kind(&error), "invalid threshold", "{name}");
    }
    assert_eq!(app.actions(&ann, id).await.len(), 1);
    let change = json!({"condition": "price_below", "threshold": 180});
    let alert = update(change).await.unwrap().stored.alert;
    assert_eq!(alert.condition.kind().name(), "price_below");
    assert_eq!(app.actions(&ann, id).await.len(), 2);
}

async fn active_alert_becomes_a_percentage_only_of_a_known_price(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.deliver(json!({"stocks": [{"symbol": "ACME", "name": "Acme"}]}))
        .await;
    let id = app.create(&ann, above("ACME", 10.0)).await.stored.alert.id;
    let change = json!({"condition": "price_change_up", "threshold": 5});
    let error = app.service.alerts.update_alert(&ann, id, &change).await.unwrap_err();
    assert_eq!(kind(&error), "unavailable");
    app.quote("ACME", 8.0).await;
    let alert = app
        .service
        .alerts
        .update_alert(&ann, id, &change)
        .await
        .unwrap()
        .stored
        .alert;
    assert_eq!(alert.initial_price.map(Price::micros), Some(8_000_000));
}

async fn alert_of_another_account_is_not_found(app: TestApp) {
    let (ann, id) = priced(&app, Plan::Basic, above("AAPL", 200.0)).await;
    let bob = app.bob(Plan::Basic).await;
    let nobodys = AlertId(Uuid::from_u128(7));
    for (actor, id) in [(&bob, id), (&ann, nobodys)] {
        let service = &app.service;
        assert_eq!(kind(&service.alerts.alert(actor, id).await.unwrap_err()), "no alert");
        assert_eq!(
            kind(&service.alerts.update_alert(actor, id, &json!({})).await.unwrap_err()),
            "no alert"
        );
        assert_eq!(
            kind(&service.alerts.pause_alert(actor, id).await.unwrap_err()),
            "no alert"
        );
        assert_eq!(
            kind(&service.alerts.activate_alert(actor, id).await.unwrap_err()),
            "no alert"
        );
        assert_eq!(
            kind(&service.alerts.delete_alert(actor, id).await.unwrap_err()),
            "no alert"
        );
        let history = service.alerts.alert_history(actor, id, crate::support::ALL).await;
        assert_eq!(kind(&history.unwrap_err()), "no alert");
    }
    assert_eq!(app.actions(&ann, id).await, [HistoryAction::Created]);
}

async fn empty_update_changes_nothing_and_writes_no_history(app: TestApp) {
    let (ann, id) = priced(&app, Plan::Basic, above("AAPL", 200.0)).await;
    let before = app.service.alerts.alert(&ann, id).await.unwrap().stored;
    app.advance(1);
    for body in [json!({}), json!({"condition": null}), json!({"symbol": "MSFT"})] {
        let after = app.service.alerts.update_alert(&ann, id, &body).await.unwrap().stored;
        assert_eq!(after, before, "{body}");
    }
    assert_eq!(app.actions(&ann, id).await, [HistoryAction::Created]);
}

async fn update_that_would_equal_another_alert_is_refused(app: TestApp) {
    let (ann, id) = priced(&app, Plan::Basic, above("AAPL", 200.0)).await;
    let bob = app.bob(Plan::Basic).await;
    let other = app.create(&ann, above("AAPL", 210.0)).await.stored.alert.id;
    app.create(&bob, above("AAPL", 220.0)).await;
    let update = async |id, body: Value| app.service.alerts.update_alert(&ann, id, &body).await;
    let before = app.service.alerts.alert(&ann, id).await.unwrap().stored;
    let error = update(id, json!({"threshold": 210})).await.unwrap_err();
    assert!(
        matches!(&error, foundation::ServiceError::Conflict(message) if message.contains(&other.to_string())),
        "{error}"
    );
    assert_eq!(app.service.alerts.alert(&ann, id).await.unwrap().stored, before);
    // A paused alert can be activated, so it counts. A triggered one does not.
    app.service.alerts.pause_alert(&ann, other).await.unwrap();
    assert!(update(id, json!({"threshold": 210})).await.is_err());
    // Another threshold, another owner and the alert itself do not conflict.
    update(id, json!({"threshold": 210.01})).await.unwrap();
    update(id, json!({"threshold": 220})).await.unwrap();
    update(id, json!({"threshold": 220, "notification": "email"}))
        .await
        .unwrap();
    app.service.alerts.activate_alert(&ann, other).await.unwrap();
    app.quote("AAPL", 215.0).await;
    assert_eq!(app.status(&ann, other).await, Status::Triggered);
    update(id, json!({"threshold": 210})).await.unwrap();
}

async fn reminders_with_different_notes_are_different_alerts(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 100.0).await;
    let body = |note: Value| json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-03-11", "note": note}});
    let create = async |note: Value| app.create(&ann, body(note)).await.stored.alert.id;
    let sell = create(json!("sell half")).await;
    let buy = create(json!("buy more")).await;
    assert_ne!(sell, buy);
    assert_ne!(create(Value::Null).await, sell);
    let again = app
        .service
        .alerts
        .create_alert(&ann, &body(json!("sell half")))
        .await
        .unwrap();
    assert!(matches!(again, service::alerts::Created::Existing(detail) if detail.stored.alert.id == sell));
    let same = json!({"parameters": {"date": "2024-03-11", "note": "sell half"}});
    assert!(app.service.alerts.update_alert(&ann, buy, &same).await.is_err());
}
