//! Creation of alerts: symbols, prices, invalid fields, equivalence.

use alerts::transition::HistoryStatus;
use alerts::{HistoryAction, Plan, Status};
use market::Price;
use serde_json::{Value, json};

use crate::support::{OPEN, TestApp, above, at, kind, on_each_database};

on_each_database! {
    new_alert_is_active_with_the_last_price_and_one_history_entry
    symbol_is_case_insensitive_and_an_unknown_one_is_not_found
    percentage_needs_a_price_and_other_alerts_do_not
    all_invalid_fields_are_reported_at_once
    equivalent_alert_is_returned_unchanged
    different_or_triggered_alert_is_not_equivalent
    same_onboarding_id_is_the_same_alert_in_any_state
    equivalent_alert_of_another_account_is_a_different_alert
    fifty_concurrent_equal_requests_create_one_alert
}

async fn new_alert_is_active_with_the_last_price_and_one_history_entry(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 189.20).await;
    let detail = app.create(&ann, above("AAPL", 200.0)).await;
    let alert = &detail.stored.alert;
    assert_eq!(alert.status, Status::Active);
    assert_eq!(alert.initial_price.map(Price::micros), Some(189_200_000));
    assert_eq!((alert.created_at, alert.armed_at), (at(OPEN), at(OPEN)));
    assert_eq!(detail.stored.created_by.as_deref(), Some("key:key of ann@example.com"));
    assert_eq!(detail.stock.last_price, alert.initial_price);
    assert_eq!(alert.id.0.get_version_num(), 4);

    assert_eq!(app.service.alerts.alert(&ann, alert.id).await.unwrap(), detail);
    let history = app.history(&ann, alert.id).await;
    assert_eq!(history.len(), 1);
    assert_eq!(history[0].entry.action, HistoryAction::Created);
    assert_eq!(history[0].entry.previous_status, None);
    assert_eq!(history[0].entry.new_status, HistoryStatus::Of(Status::Active));
    assert_eq!(history[0].at, at(OPEN));
}

async fn symbol_is_case_insensitive_and_an_unknown_one_is_not_found(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.deliver(json!({"stocks": [{"symbol": "BRK.B", "name": "Berkshire Hathaway"}]}))
        .await;
    let detail = app.create(&ann, above("brk.b", 500.0)).await;
    assert_eq!(detail.stored.alert.symbol.as_str(), "BRK.B");
    assert_eq!(detail.stock.row.name, "Berkshire Hathaway");
    assert_eq!(kind(&app.refused(&ann, above("NOPE", 1.0)).await), "no stock");
    // A stock with a price is known.
    app.quote("NOPE", 2.0).await;
    let detail = app.create(&ann, above("NOPE", 5.0)).await;
    assert_eq!(detail.stock.row.name, "NOPE");
}

async fn percentage_needs_a_price_and_other_alerts_do_not(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.deliver(json!({"stocks": [{"symbol": "ACME", "name": "Acme"}]}))
        .await;
    let detail = app.create(&ann, above("ACME", 10.0)).await;
    assert_eq!(detail.stored.alert.initial_price, None);
    let percent = json!({"symbol": "ACME", "condition": "price_change_up", "threshold": 5});
    assert_eq!(kind(&app.refused(&ann, percent.clone()).await), "unavailable");
    app.quote("ACME", 8.0).await;
    let detail = app.create(&ann, percent).await;
    assert_eq!(detail.stored.alert.initial_price.map(Price::micros), Some(8_000_000));
}

async fn all_invalid_fields_are_reported_at_once(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 189.20).await;
    assert_eq!(kind(&app.refused(&ann, json!([])).await), "malformed");
    let body = json!({"symbol": "", "condition": "new_high", "threshold": 3, "notification": "fax"});
    let error = app.refused(&ann, body).await;
    assert_eq!(kind(&error), "invalid notification symbol threshold");
    assert!(error.to_string().contains("must be omitted for new_high"), "{error}");
    let past = json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-03-07"}});
    assert!(kind(&app.refused(&ann, past).await).starts_with("invalid"));
}

async fn equivalent_alert_is_returned_unchanged(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 189.20).await;
    let body = json!({"symbol": "AAPL", "condition": "daily_reminder"});
    let made = app.create(&ann, body).await;
    app.quote("AAPL", 190.0).await;
    app.advance(1);
    let same = json!({
        "symbol": "aapl", "condition": "daily_reminder", "parameters": {"delivery_time": "market_open", "label": "x"}
    });
    let found = app.find(&ann, same.clone()).await;
    assert_eq!(found.stored, made.stored);
    app.service
        .alerts
        .pause_alert(&ann, made.stored.alert.id)
        .await
        .unwrap();
    let found = app.find(&ann, same).await;
    assert_eq!(
        (found.stored.alert.id, found.stored.alert.status),
        (made.stored.alert.id, Status::Paused)
    );
    let actions = app.actions(&ann, made.stored.alert.id).await;
    assert_eq!(actions, [HistoryAction::Created, HistoryAction::Paused]);
}

async fn different_or_triggered_alert_is_not_equivalent(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 189.20).await;
    app.quote("MSFT", 400.0).await;
    let first = app.create(&ann, above("AAPL", 200.0)).await;
    app.create(&ann, above("AAPL", 200.01)).await;
    app.create(&ann, above("MSFT", 200.0)).await;
    let below = json!({"symbol": "AAPL", "condition": "price_below", "threshold": 200});
    app.create(&ann, below).await;
    app.quote("AAPL", 200.0).await;
    assert_eq!(app.status(&ann, first.stored.alert.id).await, Status::Triggered);
    let second = app.create(&ann, above("AAPL", 200.0)).await;
    assert_ne!(second.stored.alert.id, first.stored.alert.id);
}

async fn same_onboarding_id_is_the_same_alert_in_any_state(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 189.20).await;
    let body = |threshold: f64, id: Value| {
        json!({
            "symbol": "AAPL", "condition": "price_above", "threshold": threshold, "parameters": {"onboarding_id": id}
        })
    };
    let made = app.create(&ann, body(195.0, json!("step-1"))).await;
    app.quote("AAPL", 195.0).await;
    let found = app.find(&ann, body(300.0, json!("step-1"))).await;
    assert_eq!(
        (found.stored.alert.id, found.stored.alert.status),
        (made.stored.alert.id, Status::Triggered)
    );
    app.create(&ann, body(300.0, json!("step-2"))).await;
}

async fn equivalent_alert_of_another_account_is_a_different_alert(app: TestApp) {
    let (ann, bob) = (app.ann(Plan::Basic).await, app.bob(Plan::Basic).await);
    app.quote("AAPL", 189.20).await;
    let of_ann = app.create(&ann, above("AAPL", 200.0)).await;
    let of_bob = app.create(&bob, above("AAPL", 200.0)).await;
    assert_ne!(of_ann.stored.alert.id, of_bob.stored.alert.id);
}

async fn fifty_concurrent_equal_requests_create_one_alert(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 189.20).await;
    let body = above("AAPL", 200.0);
    let requests = (0..50).map(|_| app.service.alerts.create_alert(&ann, &body));
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
