//! Changing alerts: pausing, activating, updating.

use alerts::transition::HistoryStatus;
use alerts::{AlertId, Channel, HistoryAction, Plan, Status};
use market::Price;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{OPEN, World, above, at, kind, on_each_database};

on_each_database! {
    a_paused_alert_does_not_fire_and_is_paused_once
    what_has_fired_cannot_be_paused
    activating_sets_a_new_initial_price_and_the_alert_fires_again
    an_active_alert_stays_as_it_is_when_activated
    activating_needs_a_price
    a_reminder_that_has_passed_cannot_be_activated
    an_update_of_an_active_alert_arms_it_anew_and_keeps_its_initial_price
    an_update_of_a_paused_or_triggered_alert_changes_its_fields_only
    an_update_is_judged_as_the_whole_that_comes_of_it
    active_alert_becomes_a_percentage_only_of_a_price_that_is_known
    somebody_elses_alert_is_not_found
    update_of_nothing_changes_nothing_and_writes_no_history
    update_that_would_equal_another_alert_is_refused
    reminders_with_different_notes_are_different_alerts
}

async fn priced(world: &World, plan: Plan, body: Value) -> (service::Actor, AlertId) {
    let ann = world.ann(plan).await;
    world.quote("AAPL", 189.20).await;
    let id = world.create(&ann, body).await.stored.alert.id;
    (ann, id)
}

async fn a_paused_alert_does_not_fire_and_is_paused_once(world: World) {
    let (ann, id) = priced(&world, Plan::Basic, above("AAPL", 200.0)).await;
    world.advance(1);
    let paused = world.service.alerts.pause_alert(&ann, id).await.unwrap();
    assert_eq!((paused.stored.alert.status, paused.evaluation), (Status::Paused, None));
    world.advance(1);
    let again = world.service.alerts.pause_alert(&ann, id).await.unwrap();
    assert_eq!(again.stored, paused.stored);
    world.quote("AAPL", 201.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Paused);
    let history = world.history(&ann, id).await;
    assert_eq!(history.len(), 2);
    assert_eq!(history[1].entry.action, HistoryAction::Paused);
    assert_eq!(history[1].entry.previous_status, Some(Status::Active));
    assert_eq!(history[1].entry.new_status, HistoryStatus::Of(Status::Paused));
    assert_eq!(history[1].at, at("2024-03-08T15:01:00Z"));
}

async fn what_has_fired_cannot_be_paused(world: World) {
    let (ann, id) = priced(&world, Plan::Basic, above("AAPL", 200.0)).await;
    world.quote("AAPL", 200.0).await;
    let error = world.service.alerts.pause_alert(&ann, id).await.unwrap_err();
    assert_eq!(kind(&error), "invalid status");
    assert!(error.to_string().contains("activate it first"), "{error}");
    assert_eq!(
        world.actions(&ann, id).await,
        [HistoryAction::Created, HistoryAction::Triggered]
    );
}

async fn activating_sets_a_new_initial_price_and_the_alert_fires_again(world: World) {
    let body = json!({"symbol": "AAPL", "condition": "price_change_up", "threshold": 5});
    let (ann, id) = priced(&world, Plan::Basic, body).await;
    world.quote("AAPL", 198.65).await;
    assert_eq!(world.status(&ann, id).await, Status::Active);
    world.quote("AAPL", 198.66).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
    world.advance(5);
    let alert = world
        .service
        .alerts
        .activate_alert(&ann, id)
        .await
        .unwrap()
        .stored
        .alert;
    assert_eq!(alert.status, Status::Active);
    assert_eq!(alert.initial_price.map(Price::micros), Some(198_660_000));
    assert_eq!(alert.armed_at, at("2024-03-08T15:05:00Z"));
    assert_eq!(alert.created_at, at(OPEN));
    // 198.66 up 5 % is 208.593.
    world.quote("AAPL", 208.592_999).await;
    assert_eq!(world.status(&ann, id).await, Status::Active);
    world.quote("AAPL", 208.593).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
    use HistoryAction::{Created, Reactivated, Triggered};
    assert_eq!(
        world.actions(&ann, id).await,
        [Created, Triggered, Reactivated, Triggered]
    );
}

async fn an_active_alert_stays_as_it_is_when_activated(world: World) {
    let (ann, id) = priced(&world, Plan::Basic, above("AAPL", 200.0)).await;
    let before = world.service.alerts.alert(&ann, id).await.unwrap().stored;
    world.quote("AAPL", 190.0).await;
    world.advance(1);
    let after = world.service.alerts.activate_alert(&ann, id).await.unwrap().stored;
    assert_eq!(after, before);
    assert_eq!(world.actions(&ann, id).await, [HistoryAction::Created]);
}

async fn activating_needs_a_price(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world
        .deliver(json!({"stocks": [{"symbol": "ACME", "name": "Acme"}]}))
        .await;
    let id = world.create(&ann, above("ACME", 10.0)).await.stored.alert.id;
    world.service.alerts.pause_alert(&ann, id).await.unwrap();
    let error = world.service.alerts.activate_alert(&ann, id).await.unwrap_err();
    assert_eq!(kind(&error), "unavailable");
    assert_eq!(world.status(&ann, id).await, Status::Paused);
    world.quote("ACME", 8.0).await;
    let alert = world
        .service
        .alerts
        .activate_alert(&ann, id)
        .await
        .unwrap()
        .stored
        .alert;
    assert_eq!(alert.initial_price.map(Price::micros), Some(8_000_000));
}

async fn a_reminder_that_has_passed_cannot_be_activated(world: World) {
    let body = json!({
        "symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-03-08T16:00:00Z"}
    });
    let (ann, id) = priced(&world, Plan::Basic, body).await;
    world.service.alerts.pause_alert(&ann, id).await.unwrap();
    world.advance(61);
    let error = world.service.alerts.activate_alert(&ann, id).await.unwrap_err();
    assert_eq!(kind(&error), "invalid status");
    let change = json!({"parameters": {"date": "2024-03-08T17:00:00Z"}});
    world.service.alerts.update_alert(&ann, id, &change).await.unwrap();
    world.service.alerts.activate_alert(&ann, id).await.unwrap();
}

async fn an_update_of_an_active_alert_arms_it_anew_and_keeps_its_initial_price(world: World) {
    let (ann, id) = priced(&world, Plan::Basic, above("AAPL", 200.0)).await;
    world.quote("AAPL", 195.0).await;
    world.advance(2);
    let updated = world
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
    assert_eq!(world.service.alerts.alert(&ann, id).await.unwrap(), updated);
    world.quote("AAPL", 205.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Active);
    world.quote("AAPL", 210.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
    use HistoryAction::{Created, Triggered, Updated};
    assert_eq!(world.actions(&ann, id).await, [Created, Updated, Triggered]);
}

async fn an_update_of_a_paused_or_triggered_alert_changes_its_fields_only(world: World) {
    let (ann, id) = priced(&world, Plan::Basic, above("AAPL", 200.0)).await;
    world.service.alerts.pause_alert(&ann, id).await.unwrap();
    let armed_at = world
        .service
        .alerts
        .alert(&ann, id)
        .await
        .unwrap()
        .stored
        .alert
        .armed_at;
    world.advance(1);
    let alert = world
        .service
        .alerts
        .update_alert(&ann, id, &json!({"threshold": 195}))
        .await
        .unwrap()
        .stored
        .alert;
    assert_eq!((alert.status, alert.armed_at), (Status::Paused, armed_at));
    // With what it has already nothing changes and no history is written.
    world
        .service
        .alerts
        .update_alert(&ann, id, &json!({"threshold": 195}))
        .await
        .unwrap();
    world.quote("AAPL", 196.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Paused);
    world.service.alerts.activate_alert(&ann, id).await.unwrap();
    world.quote("AAPL", 196.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
    let alert = world
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
    assert_eq!(world.actions(&ann, id).await, expected);
}

async fn an_update_is_judged_as_the_whole_that_comes_of_it(world: World) {
    let (ann, id) = priced(&world, Plan::Basic, above("AAPL", 200.0)).await;
    let update = async |body: Value| world.service.alerts.update_alert(&ann, id, &body).await;
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
    // 200 dollars are no 200 percent, nor another level.
    for name in ["price_below", "price_change_down"] {
        let error = update(json!({"condition": name})).await.unwrap_err();
        assert_eq!(kind(&error), "invalid threshold", "{name}");
    }
    assert_eq!(world.actions(&ann, id).await.len(), 1);
    let change = json!({"condition": "price_below", "threshold": 180});
    let alert = update(change).await.unwrap().stored.alert;
    assert_eq!(alert.condition.kind().name(), "price_below");
    assert_eq!(world.actions(&ann, id).await.len(), 2);
}

async fn active_alert_becomes_a_percentage_only_of_a_price_that_is_known(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world
        .deliver(json!({"stocks": [{"symbol": "ACME", "name": "Acme"}]}))
        .await;
    let id = world.create(&ann, above("ACME", 10.0)).await.stored.alert.id;
    let change = json!({"condition": "price_change_up", "threshold": 5});
    let error = world.service.alerts.update_alert(&ann, id, &change).await.unwrap_err();
    assert_eq!(kind(&error), "unavailable");
    world.quote("ACME", 8.0).await;
    let alert = world
        .service
        .alerts
        .update_alert(&ann, id, &change)
        .await
        .unwrap()
        .stored
        .alert;
    assert_eq!(alert.initial_price.map(Price::micros), Some(8_000_000));
}

async fn somebody_elses_alert_is_not_found(world: World) {
    let (ann, id) = priced(&world, Plan::Basic, above("AAPL", 200.0)).await;
    let bob = world.bob(Plan::Basic).await;
    let nobodys = AlertId(Uuid::from_u128(7));
    for (actor, id) in [(&bob, id), (&ann, nobodys)] {
        let service = &world.service;
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
    assert_eq!(world.actions(&ann, id).await, [HistoryAction::Created]);
}

async fn update_of_nothing_changes_nothing_and_writes_no_history(world: World) {
    let (ann, id) = priced(&world, Plan::Basic, above("AAPL", 200.0)).await;
    let before = world.service.alerts.alert(&ann, id).await.unwrap().stored;
    world.advance(1);
    for body in [json!({}), json!({"condition": null}), json!({"symbol": "MSFT"})] {
        let after = world.service.alerts.update_alert(&ann, id, &body).await.unwrap().stored;
        assert_eq!(after, before, "{body}");
    }
    assert_eq!(world.actions(&ann, id).await, [HistoryAction::Created]);
}

async fn update_that_would_equal_another_alert_is_refused(world: World) {
    let (ann, id) = priced(&world, Plan::Basic, above("AAPL", 200.0)).await;
    let bob = world.bob(Plan::Basic).await;
    let other = world.create(&ann, above("AAPL", 210.0)).await.stored.alert.id;
    world.create(&bob, above("AAPL", 220.0)).await;
    let update = async |id, body: Value| world.service.alerts.update_alert(&ann, id, &body).await;
    let before = world.service.alerts.alert(&ann, id).await.unwrap().stored;
    let error = update(id, json!({"threshold": 210})).await.unwrap_err();
    assert!(
        matches!(&error, service::ServiceError::Conflict(message) if message.contains(&other.to_string())),
        "{error}"
    );
    assert_eq!(world.service.alerts.alert(&ann, id).await.unwrap().stored, before);
    // One that is paused can be activated, so it counts; one that has fired does not.
    world.service.alerts.pause_alert(&ann, other).await.unwrap();
    assert!(update(id, json!({"threshold": 210})).await.is_err());
    // Another threshold, another owner and the alert itself do not conflict.
    update(id, json!({"threshold": 210.01})).await.unwrap();
    update(id, json!({"threshold": 220})).await.unwrap();
    update(id, json!({"threshold": 220, "notification": "email"}))
        .await
        .unwrap();
    world.service.alerts.activate_alert(&ann, other).await.unwrap();
    world.quote("AAPL", 215.0).await;
    assert_eq!(world.status(&ann, other).await, Status::Triggered);
    update(id, json!({"threshold": 210})).await.unwrap();
}

async fn reminders_with_different_notes_are_different_alerts(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 100.0).await;
    let body = |note: Value| json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-03-11", "note": note}});
    let create = async |note: Value| world.create(&ann, body(note)).await.stored.alert.id;
    let sell = create(json!("sell half")).await;
    let buy = create(json!("buy more")).await;
    assert_ne!(sell, buy);
    assert_ne!(create(Value::Null).await, sell);
    let again = world
        .service
        .alerts
        .create_alert(&ann, &body(json!("sell half")))
        .await
        .unwrap();
    assert!(matches!(again, service::alerts::Created::Existing(detail) if detail.stored.alert.id == sell));
    let same = json!({"parameters": {"date": "2024-03-11", "note": "sell half"}});
    assert!(world.service.alerts.update_alert(&ann, buy, &same).await.is_err());
}
