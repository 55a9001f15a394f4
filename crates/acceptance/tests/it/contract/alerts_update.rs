//! `PUT /alerts/{id}`

use acceptance::{ServiceSetup, TestEnvironment, on_both_databases};
use serde_json::{Value, json};

on_both_databases![
    update_changes_only_given_fields,
    updated_alert_uses_the_new_threshold,
    update_keeps_the_status,
    update_can_change_the_condition,
    resulting_alert_is_validated,
    invalid_update_changes_nothing,
    update_is_recorded_in_history,
];

async fn create_alert(env: &TestEnvironment) -> String {
    env.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 110});
    env.operator.post("/alerts", &body).await.expect_ok(201).id()
}

async fn update(env: &TestEnvironment, id: &str, body: Value) -> Value {
    let updated = env.operator.put(&format!("/alerts/{id}"), &body).await.expect_ok(200);
    updated.data().clone()
}

async fn update_changes_only_given_fields(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let id = create_alert(&env).await;
    let before = env.operator.get(&format!("/alerts/{id}")).await.expect_ok(200);
    env.quote("AAPL", 101.0).await;
    let after = update(
        &env,
        &id,
        json!({"threshold": 120.5, "symbol": "MSFT", "status": "paused"}),
    )
    .await;
    assert_eq!(after["threshold"], 120.5);
    for field in [
        "id",
        "symbol",
        "condition",
        "notification",
        "status",
        "initial_price",
        "created_at",
        "parameters",
    ] {
        assert_eq!(after[field], before.data()[field], "{field}");
    }
}

async fn updated_alert_uses_the_new_threshold(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let id = create_alert(&env).await;
    let _ = update(&env, &id, json!({"threshold": 130})).await;
    env.quote("AAPL", 129.999_999).await;
    assert_eq!(env.status_of(&id).await, "active");
    env.quote("AAPL", 130.0).await;
    assert_eq!(env.status_of(&id).await, "triggered");
    assert_eq!(env.firings_of(&id).await.len(), 1);
}

async fn update_keeps_the_status(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let id = create_alert(&env).await;
    let _ = env
        .operator
        .post_empty(&format!("/alerts/{id}/pause"))
        .await
        .expect_ok(200);
    assert_eq!(update(&env, &id, json!({"threshold": 105})).await["status"], "paused");
    env.quote("AAPL", 106.0).await;
    assert_eq!(env.status_of(&id).await, "paused");
    let _ = env
        .operator
        .post_empty(&format!("/alerts/{id}/activate"))
        .await
        .expect_ok(200);
    env.quote("AAPL", 107.0).await;
    assert_eq!(env.status_of(&id).await, "triggered");
    assert_eq!(
        update(&env, &id, json!({"threshold": 500})).await["status"],
        "triggered"
    );
    env.quote("AAPL", 600.0).await;
    assert_eq!(env.firings_of(&id).await.len(), 1);
}

async fn update_can_change_the_condition(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let id = create_alert(&env).await;
    let after = update(&env, &id, json!({"condition": "new_high", "threshold": null})).await;
    assert_eq!(
        (&after["condition"], &after["threshold"]),
        (&json!("new_high"), &Value::Null)
    );
    let body = json!({"condition": "rsi_limit", "threshold": 70, "parameters": {"direction": "below"}});
    let after = update(&env, &id, body).await;
    assert_eq!(after["parameters"]["direction"], "below");
    let after = update(&env, &id, json!({"parameters": null})).await;
    assert_ne!(after["parameters"]["direction"], "below");
}

async fn resulting_alert_is_validated(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let id = create_alert(&env).await;
    for (body, field) in [
        (json!({"threshold": null}), "threshold"),
        (json!({"threshold": -1}), "threshold"),
        (json!({"condition": "ma_touch_above", "threshold": 500}), "threshold"),
        (json!({"condition": "new_high", "threshold": 1}), "threshold"),
        (json!({"condition": "moon"}), "condition"),
        (json!({"notification": "pigeon"}), "notification"),
        (json!({"parameters": 7}), "parameters"),
        (
            json!({"condition": "social_buzz", "threshold": null}),
            "parameters.direction",
        ),
    ] {
        let _ = env
            .operator
            .put(&format!("/alerts/{id}"), &body)
            .await
            .expect_field_error(field);
    }
}

async fn invalid_update_changes_nothing(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let id = create_alert(&env).await;
    let path = format!("/alerts/{id}");
    let before = env.operator.get(&path).await.expect_ok(200);
    let body = json!({"threshold": 150, "notification": "pigeon"});
    let _ = env.operator.put(&path, &body).await.expect_field_error("notification");
    assert_eq!(
        env.operator.get(&path).await.expect_ok(200).data()["threshold"],
        before.data()["threshold"]
    );
    env.quote("AAPL", 110.0).await;
    assert_eq!(env.status_of(&id).await, "triggered");
}

async fn update_is_recorded_in_history(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let id = create_alert(&env).await;
    let _ = update(&env, &id, json!({"threshold": 120})).await;
    let history = env.operator.get(&format!("/alerts/{id}/history")).await.expect_ok(200);
    let entry = &history.items()[0];
    assert_eq!(entry["action_type"], "updated");
    assert_eq!(
        (&entry["previous_status"], &entry["new_status"]),
        (&json!("active"), &json!("active"))
    );
}
