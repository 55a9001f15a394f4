//! `POST /alerts`: requests that are equivalent to an existing alert.

use acceptance::{ServiceSetup, TestEnvironment, on_both_databases};
use serde_json::{Value, json};

on_both_databases![
    equivalent_request_returns_the_existing_alert,
    parameters_are_compared_in_canonical_form,
    paused_alert_is_equivalent,
    triggered_alert_is_not_equivalent,
    deleted_alert_is_not_equivalent,
    different_threshold_is_not_equivalent,
    equal_onboarding_id_is_equivalent,
    accounts_do_not_share_alerts,
    ten_concurrent_equal_requests_create_one_alert,
];

fn above(threshold: f64) -> Value {
    json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold})
}

/// Creates both alerts and asserts whether they are the same alert.
async fn assert_equivalence(env: &TestEnvironment, first: &Value, second: &Value, same: bool) {
    let first = env.operator.post("/alerts", first).await.expect_ok(201);
    let second = env
        .operator
        .post("/alerts", second)
        .await
        .expect_ok(if same { 200 } else { 201 });
    assert_eq!(first.id() == second.id(), same, "{first}\n{second}");
    if same {
        assert_eq!(first.data()["notification"], second.data()["notification"], "unchanged");
    }
}

async fn equivalent_request_returns_the_existing_alert(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let lower = json!({"symbol": "aapl", "condition": "price_above", "threshold": 200.0, "parameters": null});
    assert_equivalence(&env, &above(200.0), &lower, true).await;
    let id = env.operator.post("/alerts", &above(200.0)).await.expect_ok(200).id();
    let history = env.operator.get(&format!("/alerts/{id}/history")).await.expect_ok(200);
    assert_eq!(history.items().len(), 1, "{history}");
}

async fn parameters_are_compared_in_canonical_form(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let first =
        json!({"symbol": "AAPL", "condition": "daily_reminder", "parameters": {"delivery_time": "market_open"}});
    let second =
        json!({"symbol": "AAPL", "condition": "daily_reminder", "parameters": {"deliveryTime": "market_open"}});
    assert_equivalence(&env, &first, &second, true).await;
}

async fn paused_alert_is_equivalent(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let id = env.operator.post("/alerts", &above(200.0)).await.expect_ok(201).id();
    let _ = env
        .operator
        .post_empty(&format!("/alerts/{id}/pause"))
        .await
        .expect_ok(200);
    let again = env.operator.post("/alerts", &above(200.0)).await.expect_ok(200);
    assert_eq!((again.id(), again.text_of("status")), (id, "paused"));
}

async fn triggered_alert_is_not_equivalent(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let id = env.operator.post("/alerts", &above(200.0)).await.expect_ok(201).id();
    env.quote("AAPL", 200.0).await;
    assert_eq!(env.status_of(&id).await, "triggered");
    env.quote("AAPL", 100.0).await;
    assert_ne!(
        env.operator.post("/alerts", &above(200.0)).await.expect_ok(201).id(),
        id
    );
}

async fn deleted_alert_is_not_equivalent(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let id = env.operator.post("/alerts", &above(200.0)).await.expect_ok(201).id();
    let _ = env.operator.delete(&format!("/alerts/{id}")).await.expect_ok(200);
    assert_ne!(
        env.operator.post("/alerts", &above(200.0)).await.expect_ok(201).id(),
        id
    );
}

async fn different_threshold_is_not_equivalent(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    assert_equivalence(&env, &above(200.0), &above(200.000_001), false).await;
}

async fn equal_onboarding_id_is_equivalent(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let with = |threshold: f64| {
        json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold,
            "parameters": {"onboarding_id": "welcome-1"}})
    };
    assert_equivalence(&env, &with(200.0), &with(300.0), true).await;
}

async fn accounts_do_not_share_alerts(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let other = env.account("premium").await;
    let mine = env.operator.post("/alerts", &above(200.0)).await.expect_ok(201).id();
    assert_ne!(other.post("/alerts", &above(200.0)).await.expect_ok(201).id(), mine);
}

async fn ten_concurrent_equal_requests_create_one_alert(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let operator = env.operator.clone();
        tasks.spawn(async move { operator.post("/alerts", &above(200.0)).await });
    }
    let responses = tasks.join_all().await;
    let created = responses.iter().filter(|response| response.status == 201).count();
    let found = responses.iter().filter(|response| response.status == 200).count();
    assert_eq!((created, found), (1, 9), "{responses:#?}");
    assert_eq!(env.operator.get("/alerts").await.expect_ok(200).items().len(), 1);
}
