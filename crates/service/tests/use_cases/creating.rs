//! Creating alerts: symbols, prices, faults, equivalence.

use alerts::transition::HistoryStatus;
use alerts::{HistoryAction, Plan, Status};
use market::Price;
use serde_json::{Value, json};

use crate::support::{OPEN, World, above, at, kind, on_each_database};

on_each_database! {
    an_alert_is_active_with_the_last_price_and_one_entry_of_history
    a_symbol_is_taken_in_any_case_and_an_unknown_one_is_not_found
    without_a_price_an_alert_has_no_initial_price_unless_it_is_a_percentage
    every_fault_of_a_body_is_told_at_once
    an_equivalent_alert_is_given_back_unchanged
    an_alert_that_differs_or_has_fired_is_no_equivalent
    the_same_onboarding_id_is_the_same_alert_whatever_has_become_of_it
    what_is_equivalent_of_somebody_else_is_another_alert
    fifty_equal_requests_at_once_make_one_alert
}

async fn an_alert_is_active_with_the_last_price_and_one_entry_of_history(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 189.20).await;
    let detail = world.create(&ann, above("AAPL", 200.0)).await;
    let alert = &detail.stored.alert;
    assert_eq!(alert.status, Status::Active);
    assert_eq!(alert.initial_price.map(Price::micros), Some(189_200_000));
    assert_eq!((alert.created_at, alert.armed_at), (at(OPEN), at(OPEN)));
    assert_eq!(detail.stored.created_by.as_deref(), Some("key:key of ann@example.com"));
    assert_eq!(detail.stock.last_price, alert.initial_price);
    assert_eq!(alert.id.0.get_version_num(), 4);

    assert_eq!(world.service.alerts.alert(&ann, alert.id).await.unwrap(), detail);
    let history = world.history(&ann, alert.id).await;
    assert_eq!(history.len(), 1);
    assert_eq!(history[0].entry.action, HistoryAction::Created);
    assert_eq!(history[0].entry.previous_status, None);
    assert_eq!(history[0].entry.new_status, HistoryStatus::Of(Status::Active));
    assert_eq!(history[0].at, at(OPEN));
}

async fn a_symbol_is_taken_in_any_case_and_an_unknown_one_is_not_found(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world
        .deliver(json!({"stocks": [{"symbol": "BRK.B", "name": "Berkshire Hathaway"}]}))
        .await;
    let detail = world.create(&ann, above("brk.b", 500.0)).await;
    assert_eq!(detail.stored.alert.symbol.as_str(), "BRK.B");
    assert_eq!(detail.stock.row.name, "Berkshire Hathaway");
    assert_eq!(kind(&world.refused(&ann, above("NOPE", 1.0)).await), "no stock");
    // A price is enough to be known.
    world.quote("NOPE", 2.0).await;
    let detail = world.create(&ann, above("NOPE", 5.0)).await;
    assert_eq!(detail.stock.row.name, "NOPE");
}

async fn without_a_price_an_alert_has_no_initial_price_unless_it_is_a_percentage(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world
        .deliver(json!({"stocks": [{"symbol": "ACME", "name": "Acme"}]}))
        .await;
    let detail = world.create(&ann, above("ACME", 10.0)).await;
    assert_eq!(detail.stored.alert.initial_price, None);
    let percent = json!({"symbol": "ACME", "condition": "price_change_up", "threshold": 5});
    assert_eq!(kind(&world.refused(&ann, percent.clone()).await), "unavailable");
    world.quote("ACME", 8.0).await;
    let detail = world.create(&ann, percent).await;
    assert_eq!(detail.stored.alert.initial_price.map(Price::micros), Some(8_000_000));
}

async fn every_fault_of_a_body_is_told_at_once(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 189.20).await;
    assert_eq!(kind(&world.refused(&ann, json!([])).await), "malformed");
    let body = json!({"symbol": "", "condition": "new_high", "threshold": 3, "notification": "fax"});
    let error = world.refused(&ann, body).await;
    assert_eq!(kind(&error), "invalid notification symbol threshold");
    assert!(error.to_string().contains("must be omitted for new_high"), "{error}");
    let past = json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-03-07"}});
    assert!(kind(&world.refused(&ann, past).await).starts_with("invalid"));
}

async fn an_equivalent_alert_is_given_back_unchanged(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 189.20).await;
    let body = json!({"symbol": "AAPL", "condition": "daily_reminder"});
    let made = world.create(&ann, body).await;
    world.quote("AAPL", 190.0).await;
    world.advance(1);
    let same = json!({
        "symbol": "aapl", "condition": "daily_reminder", "parameters": {"delivery_time": "market_open", "label": "x"}
    });
    let found = world.find(&ann, same.clone()).await;
    assert_eq!(found.stored, made.stored);
    world
        .service
        .alerts
        .pause_alert(&ann, made.stored.alert.id)
        .await
        .unwrap();
    let found = world.find(&ann, same).await;
    assert_eq!(
        (found.stored.alert.id, found.stored.alert.status),
        (made.stored.alert.id, Status::Paused)
    );
    let actions = world.actions(&ann, made.stored.alert.id).await;
    assert_eq!(actions, [HistoryAction::Created, HistoryAction::Paused]);
}

async fn an_alert_that_differs_or_has_fired_is_no_equivalent(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 189.20).await;
    world.quote("MSFT", 400.0).await;
    let first = world.create(&ann, above("AAPL", 200.0)).await;
    world.create(&ann, above("AAPL", 200.01)).await;
    world.create(&ann, above("MSFT", 200.0)).await;
    let below = json!({"symbol": "AAPL", "condition": "price_below", "threshold": 200});
    world.create(&ann, below).await;
    world.quote("AAPL", 200.0).await;
    assert_eq!(world.status(&ann, first.stored.alert.id).await, Status::Triggered);
    let second = world.create(&ann, above("AAPL", 200.0)).await;
    assert_ne!(second.stored.alert.id, first.stored.alert.id);
}

async fn the_same_onboarding_id_is_the_same_alert_whatever_has_become_of_it(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 189.20).await;
    let body = |threshold: f64, id: Value| {
        json!({
            "symbol": "AAPL", "condition": "price_above", "threshold": threshold, "parameters": {"onboarding_id": id}
        })
    };
    let made = world.create(&ann, body(195.0, json!("step-1"))).await;
    world.quote("AAPL", 195.0).await;
    let found = world.find(&ann, body(300.0, json!("step-1"))).await;
    assert_eq!(
        (found.stored.alert.id, found.stored.alert.status),
        (made.stored.alert.id, Status::Triggered)
    );
    world.create(&ann, body(300.0, json!("step-2"))).await;
}

async fn what_is_equivalent_of_somebody_else_is_another_alert(world: World) {
    let (ann, bob) = (world.ann(Plan::Basic).await, world.bob(Plan::Basic).await);
    world.quote("AAPL", 189.20).await;
    let of_ann = world.create(&ann, above("AAPL", 200.0)).await;
    let of_bob = world.create(&bob, above("AAPL", 200.0)).await;
    assert_ne!(of_ann.stored.alert.id, of_bob.stored.alert.id);
}

async fn fifty_equal_requests_at_once_make_one_alert(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 189.20).await;
    let body = above("AAPL", 200.0);
    let requests = (0..50).map(|_| world.service.alerts.create_alert(&ann, &body));
    let answers = futures_util::future::join_all(requests).await;
    let new = answers
        .iter()
        .filter(|answer| matches!(answer, Ok(service::alerts::Created::New(_))));
    assert_eq!(new.count(), 1);
    let existing = answers
        .iter()
        .filter(|answer| matches!(answer, Ok(service::alerts::Created::Existing(_))));
    assert_eq!(existing.count(), 49);
}
