//! `POST /alerts/{id}/pause` and `/activate`

use acceptance::{ServiceSetup, TestEnvironment, on_both_databases};
use serde_json::{Value, json};

on_both_databases![
    paused_alert_does_not_fire,
    pausing_twice_changes_nothing,
    triggered_alert_cannot_be_paused,
    activation_sets_a_new_initial_price,
    activating_an_active_alert_changes_nothing,
    triggered_alert_fires_again_after_activation,
    activation_without_price_is_503,
    alert_with_satisfied_condition_fires_at_the_next_quote,
];

async fn create_alert(env: &TestEnvironment, threshold: i64) -> String {
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold});
    env.operator.post("/alerts", &body).await.expect_ok(201).id()
}

async fn pause(env: &TestEnvironment, id: &str) -> Value {
    let paused = env
        .operator
        .post_empty(&format!("/alerts/{id}/pause"))
        .await
        .expect_ok(200);
    paused.data().clone()
}

async fn activate(env: &TestEnvironment, id: &str) -> Value {
    let active = env
        .operator
        .post_empty(&format!("/alerts/{id}/activate"))
        .await
        .expect_ok(200);
    active.data().clone()
}

/// Returns the number of history entries of an alert, without notification entries, which arrive at any time.
async fn count_entries(env: &TestEnvironment, id: &str) -> usize {
    let history = env.operator.get(&format!("/alerts/{id}/history")).await.expect_ok(200);
    let entries = history.items().iter();
    entries
        .filter(|entry| entry["action_type"] != "notification_sent")
        .count()
}

async fn paused_alert_does_not_fire(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let id = create_alert(&env, 110).await;
    assert_eq!(pause(&env, &id).await, json!({"alert_id": id, "status": "paused"}));
    env.quote("AAPL", 120.0).await;
    assert_eq!(env.status_of(&id).await, "paused");
    assert_eq!(env.firings_of(&id).await.len(), 0);
}

async fn pausing_twice_changes_nothing(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let id = create_alert(&env, 110).await;
    let first = pause(&env, &id).await;
    assert_eq!(pause(&env, &id).await, first);
    assert_eq!(count_entries(&env, &id).await, 2);
}

async fn triggered_alert_cannot_be_paused(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let id = create_alert(&env, 110).await;
    env.quote("AAPL", 110.0).await;
    let refused = env.operator.post_empty(&format!("/alerts/{id}/pause")).await;
    let _ = refused.expect_error(422, "VALIDATION_ERROR");
    assert_eq!(env.status_of(&id).await, "triggered");
}

async fn activation_sets_a_new_initial_price(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let id = create_alert(&env, 110).await;
    let _ = pause(&env, &id).await;
    env.quote("AAPL", 105.5).await;
    let expected = json!({"alert_id": id, "status": "active", "initial_price": 105.5});
    assert_eq!(activate(&env, &id).await, expected);
    env.quote("AAPL", 110.0).await;
    assert_eq!(env.status_of(&id).await, "triggered");
}

async fn activating_an_active_alert_changes_nothing(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let id = create_alert(&env, 110).await;
    env.quote("AAPL", 105.0).await;
    let expected = json!({"alert_id": id, "status": "active", "initial_price": 100});
    assert_eq!(activate(&env, &id).await, expected);
    assert_eq!(count_entries(&env, &id).await, 1);
}

async fn triggered_alert_fires_again_after_activation(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let id = create_alert(&env, 110).await;
    env.quote("AAPL", 111.0).await;
    env.quote("AAPL", 112.0).await;
    assert_eq!(env.firings_of(&id).await.len(), 1, "a triggered alert fires once");
    env.quote("AAPL", 99.0).await;
    assert_eq!(activate(&env, &id).await["initial_price"], 99);
    assert_eq!(env.status_of(&id).await, "active");
    env.quote("AAPL", 113.0).await;
    let firings = env.firings_of(&id).await;
    let prices: Vec<_> = firings.iter().map(|firing| &firing["trigger_price"]).collect();
    assert_eq!(prices, [&json!(113), &json!(111)]);
}

async fn activation_without_price_is_503(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stocks(&["AAPL"]).await;
    let id = create_alert(&env, 110).await;
    let _ = pause(&env, &id).await;
    let refused = env.operator.post_empty(&format!("/alerts/{id}/activate")).await;
    let _ = refused.expect_error(503, "SERVICE_UNAVAILABLE");
    assert_eq!(env.status_of(&id).await, "paused");
}

async fn alert_with_satisfied_condition_fires_at_the_next_quote(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let id = create_alert(&env, 90).await;
    env.quote("AAPL", 100.0).await;
    assert_eq!(env.status_of(&id).await, "triggered");
}
