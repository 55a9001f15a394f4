//! Expressions and options from a request to stored firings.

use alerts::{AlertId, HistoryAction, Plan, Status};
use foundation::{Actor, ServiceError};
use serde_json::{Value, json};

use crate::support::{TestApp, above, on_each_database};

on_each_database! {
    expression_fires_once_with_the_values_of_its_metrics
    expression_fires_at_an_observation_of_another_stock
    repeating_alert_fires_each_time_and_stays_active
    cooldown_is_kept_by_a_restart
    hold_is_continued_by_a_restart
    crossing_is_seen_across_a_restart
    alert_is_triggered_after_its_last_firing
    firings_of_two_processes_are_not_doubled
    changed_options_are_judged_from_then_on
    expired_alert_is_inactive_and_needs_a_later_expiry
    snoozed_alert_is_not_judged_until_then
    rearm_level_must_be_reached_before_the_next_firing
    invalid_expression_names_its_position
    unknown_symbol_in_an_expression_is_named
    equivalent_expression_is_found_in_any_writing
    basic_plan_has_expressions_of_prices_only
    options_are_replaced_as_a_whole_and_taken_away_by_null
}

fn expression(when: &str) -> Value {
    json!({"symbol": "AAPL", "condition": "expression", "parameters": {"when": when}})
}

fn with_options(mut body: Value, options: Value) -> Value {
    body["options"] = options;
    body
}

async fn create(app: &TestApp, actor: &Actor, body: Value) -> AlertId {
    app.create(actor, body).await.stored.alert.id
}

async fn count_firings(app: &TestApp, actor: &Actor) -> usize {
    app.events(actor).await.len()
}

/// Delivers prices of AAPL, one a minute.
async fn prices(app: &TestApp, prices: &[f64]) {
    for price in prices {
        app.advance(1);
        app.quote("AAPL", *price).await;
    }
}

async fn expression_fires_once_with_the_values_of_its_metrics(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = create(&app, &ann, expression("price >= 200 and change_pct(creation) > 1")).await;
    prices(&app, &[199.0, 201.5, 202.0]).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    let events = app.events(&ann).await;
    assert_eq!(events.len(), 1);
    assert_eq!(
        events[0].data["reason"],
        "price >= 200 and change_pct(creation) > 1: price is 201.5, change_pct(creation) is 1.7677"
    );
    assert_eq!(events[0].data["alert"]["status"], "triggered");
    assert_eq!(events[0].data["alert"]["threshold"], Value::Null);
    assert_eq!(
        events[0].data["alert"]["parameters"]["when"],
        "price >= 200 and change_pct(creation) > 1"
    );
}

async fn expression_fires_at_an_observation_of_another_stock(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    app.quote("MSFT", 400.0).await;
    let id = create(&app, &ann, expression("price < 200 and MSFT.price > 410")).await;
    app.advance(1);
    app.quote("MSFT", 411.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    let events = app.events(&ann).await;
    assert_eq!(events[0].data["stock"]["price"], 198.0);
}

async fn repeating_alert_fires_each_time_and_stays_active(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = create(
        &app,
        &ann,
        with_options(above("AAPL", 200.0), json!({"repeat": "each_time"})),
    )
    .await;
    prices(&app, &[201.0, 202.0, 199.0, 198.0, 200.0, 203.0]).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    let events = app.events(&ann).await;
    let fired: Vec<_> = events
        .iter()
        .map(|event| event.data["stock"]["price"].as_f64().unwrap())
        .collect();
    assert_eq!(fired, [201.0, 200.0]);
    assert!(events.iter().all(|event| event.data["alert"]["status"] == "active"));
    use HistoryAction::{Created, Triggered};
    assert_eq!(app.actions(&ann, id).await, [Created, Triggered, Triggered]);
    let alert = app.service.alerts.alert(&ann, id).await.unwrap().stored.alert;
    assert_eq!(alert.lifecycle.map(|state| state.firings), Some(2));
}

async fn cooldown_is_kept_by_a_restart(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let options = json!({"repeat": "each_time", "cooldown": "10m"});
    create(&app, &ann, with_options(above("AAPL", 200.0), options)).await;
    prices(&app, &[201.0, 199.0]).await;
    let app = app.restarted().await;
    prices(&app, &[201.0, 199.0, 201.0]).await;
    assert_eq!(count_firings(&app, &ann).await, 1);
    app.advance(10);
    prices(&app, &[201.5]).await;
    assert_eq!(count_firings(&app, &ann).await, 2);
}

async fn hold_is_continued_by_a_restart(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    create(&app, &ann, with_options(above("AAPL", 200.0), json!({"hold": "5m"}))).await;
    prices(&app, &[201.0, 202.0, 203.0]).await;
    let app = app.restarted().await;
    prices(&app, &[202.0, 201.0]).await;
    assert_eq!(count_firings(&app, &ann).await, 0);
    prices(&app, &[202.0]).await;
    let events = app.events(&ann).await;
    assert_eq!(events.len(), 1);
    let reason = events[0].data["reason"].as_str().unwrap();
    // The hold ends at the scheduled instant or at the quote of the same instant, whichever is evaluated first.
    assert!(reason.ends_with("; true since 2024-03-08T15:01:00Z"), "{reason}");
}

async fn crossing_is_seen_across_a_restart(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = create(&app, &ann, expression("price crosses above 200")).await;
    prices(&app, &[199.0]).await;
    let app = app.restarted().await;
    prices(&app, &[200.0]).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn alert_is_triggered_after_its_last_firing(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let options = json!({"repeat": "each_time", "max_firings": 2});
    let id = create(&app, &ann, with_options(above("AAPL", 200.0), options)).await;
    prices(&app, &[201.0, 199.0, 201.0, 199.0, 201.0]).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    let events = app.events(&ann).await;
    let statuses: Vec<_> = events
        .iter()
        .map(|event| event.data["alert"]["status"].clone())
        .collect();
    assert_eq!(statuses, ["active", "triggered"]);
}

async fn firings_of_two_processes_are_not_doubled(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let options = json!({"repeat": "each_time"});
    create(&app, &ann, with_options(above("AAPL", 200.0), options)).await;
    let other = app.another_process().await;
    for price in [201.0, 199.0, 202.0, 198.0, 203.0] {
        app.advance(1);
        app.quote("AAPL", price).await;
        other.quote("AAPL", price).await;
    }
    assert_eq!(other.service.compare().await.unwrap(), 0);
    assert_eq!(count_firings(&app, &ann).await, 3);
}

async fn changed_options_are_judged_from_then_on(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = create(
        &app,
        &ann,
        with_options(above("AAPL", 200.0), json!({"repeat": "each_time"})),
    )
    .await;
    prices(&app, &[201.0, 199.0]).await;
    let once = json!({"options": null});
    app.service.alerts.update_alert(&ann, id, &once).await.unwrap();
    prices(&app, &[201.0]).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    assert_eq!(count_firings(&app, &ann).await, 2);
}

async fn expired_alert_is_inactive_and_needs_a_later_expiry(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let options = json!({"expires_at": "2024-03-08T15:30:00Z"});
    let id = create(&app, &ann, with_options(above("AAPL", 200.0), options)).await;
    app.advance(60);
    app.service.evaluate().await.unwrap();
    assert_eq!(app.status(&ann, id).await, Status::Inactive);
    assert_eq!(
        app.actions(&ann, id).await,
        [HistoryAction::Created, HistoryAction::Expired]
    );
    prices(&app, &[201.0]).await;
    assert_eq!(count_firings(&app, &ann).await, 0);
    let refused = app.service.alerts.activate_alert(&ann, id).await.unwrap_err();
    assert!(
        refused.to_string().contains("set options.expires_at to a later date"),
        "{refused}"
    );
    let refused = app.service.alerts.pause_alert(&ann, id).await.unwrap_err();
    assert!(refused.to_string().contains("this one has expired"), "{refused}");
    let later = json!({"options": {"expires_at": "2024-03-09"}});
    app.service.alerts.update_alert(&ann, id, &later).await.unwrap();
    app.service.alerts.activate_alert(&ann, id).await.unwrap();
    assert_eq!(app.status(&ann, id).await, Status::Active);
}

async fn snoozed_alert_is_not_judged_until_then(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = create(&app, &ann, above("AAPL", 200.0)).await;
    let snoozed = app
        .service
        .alerts
        .patch_alert(&ann, id, &json!({"snooze": "10m"}))
        .await
        .unwrap();
    assert!(snoozed.stored.alert.options.snoozed_until.is_some());
    prices(&app, &[201.0, 202.0]).await;
    assert_eq!(count_firings(&app, &ann).await, 0);
    assert_eq!(
        app.actions(&ann, id).await,
        [HistoryAction::Created, HistoryAction::Snoozed]
    );
    app.advance(10);
    prices(&app, &[203.0]).await;
    assert_eq!(count_firings(&app, &ann).await, 1);
}

async fn rearm_level_must_be_reached_before_the_next_firing(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let options = json!({"repeat": "each_time", "rearm": {"at": 190}});
    create(&app, &ann, with_options(above("AAPL", 200.0), options)).await;
    prices(&app, &[201.0, 191.0, 202.0]).await;
    assert_eq!(count_firings(&app, &ann).await, 1);
    prices(&app, &[190.0, 200.0]).await;
    assert_eq!(count_firings(&app, &ann).await, 2);
}

async fn invalid_expression_names_its_position(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let refused = app.refused(&ann, expression("price > smaa(200)")).await;
    let ServiceError::Invalid { fields, expression, .. } = refused else {
        panic!("{refused}");
    };
    let [message] = fields["parameters.when"].as_slice() else {
        panic!("{fields:?}");
    };
    assert!(
        message.starts_with("unknown metric `smaa` at 9; did you mean `sma`"),
        "{message}"
    );
    let error = expression.unwrap();
    assert_eq!((error.position, error.suggestions[0].as_str()), (9, "sma"));
}

async fn unknown_symbol_in_an_expression_is_named(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let refused = app.refused(&ann, expression("price > 1 and NOPE.price > 2")).await;
    let ServiceError::Invalid { fields, expression, .. } = refused else {
        panic!("{refused}");
    };
    assert!(fields.contains_key("parameters.when"), "{fields:?}");
    assert_eq!(expression.unwrap().position, 15);
}

async fn equivalent_expression_is_found_in_any_writing(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = create(&app, &ann, expression("price > 200 and RSI < 30")).await;
    let found = app.find(&ann, expression("AAPL.price>200 AND (rsi(14)<30)")).await;
    assert_eq!(found.stored.alert.id, id);
    let other = with_options(expression("price > 200 and rsi < 30"), json!({"repeat": "each_time"}));
    assert_ne!(create(&app, &ann, other).await, id);
}

async fn basic_plan_has_expressions_of_prices_only(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 198.0).await;
    create(&app, &ann, expression("price > 200 and drawdown(20) < 5")).await;
    let refused = app.refused(&ann, expression("price > sma(20)")).await;
    assert!(matches!(refused, ServiceError::Forbidden { .. }), "{refused}");
}

async fn options_are_replaced_as_a_whole_and_taken_away_by_null(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let options = json!({"repeat": "each_time", "cooldown": "10m"});
    let id = create(&app, &ann, with_options(above("AAPL", 200.0), options)).await;
    let change = json!({"options": {"repeat": "once_per_day"}});
    let changed = app.service.alerts.update_alert(&ann, id, &change).await.unwrap();
    assert_eq!(
        Value::from(changed.stored.alert.options.to_json()),
        json!({"repeat": "once_per_day"})
    );
    let kept = app
        .service
        .alerts
        .update_alert(&ann, id, &json!({"threshold": 210}))
        .await
        .unwrap();
    assert_eq!(
        Value::from(kept.stored.alert.options.to_json()),
        json!({"repeat": "once_per_day"})
    );
    let none = app
        .service
        .alerts
        .update_alert(&ann, id, &json!({"options": null}))
        .await
        .unwrap();
    assert_eq!(none.stored.alert.lifecycle, None);
}
