//! `PUT /alerts/{id}`

use acceptance::{Setup, World, on_both_databases};
use serde_json::{Value, json};

on_both_databases![
    an_update_changes_what_it_names_and_keeps_the_rest,
    an_updated_active_alert_is_judged_anew,
    an_updated_alert_keeps_its_state,
    an_update_can_change_the_condition,
    the_alert_that_would_result_is_validated,
    a_wrong_update_changes_nothing,
    an_update_is_told_in_history,
];

async fn made(world: &World) -> String {
    world.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 110});
    world.me.post("/alerts", &body).await.ok(201).id()
}

async fn update(world: &World, id: &str, body: Value) -> Value {
    let updated = world.me.put(&format!("/alerts/{id}"), &body).await.ok(200);
    updated.data().clone()
}

async fn an_update_changes_what_it_names_and_keeps_the_rest(setup: Setup) {
    let world = setup.world().await;
    let id = made(&world).await;
    let before = world.me.get(&format!("/alerts/{id}")).await.ok(200);
    world.quote("AAPL", 101.0).await;
    let after = update(
        &world,
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

async fn an_updated_active_alert_is_judged_anew(setup: Setup) {
    let world = setup.world().await;
    let id = made(&world).await;
    let _ = update(&world, &id, json!({"threshold": 130})).await;
    world.quote("AAPL", 129.999_999).await;
    assert_eq!(world.status_of(&id).await, "active");
    world.quote("AAPL", 130.0).await;
    assert_eq!(world.status_of(&id).await, "triggered");
    assert_eq!(world.firings_of(&id).await.len(), 1);
}

async fn an_updated_alert_keeps_its_state(setup: Setup) {
    let world = setup.world().await;
    let id = made(&world).await;
    let _ = world.me.post_empty(&format!("/alerts/{id}/pause")).await.ok(200);
    assert_eq!(update(&world, &id, json!({"threshold": 105})).await["status"], "paused");
    world.quote("AAPL", 106.0).await;
    assert_eq!(world.status_of(&id).await, "paused");
    let _ = world.me.post_empty(&format!("/alerts/{id}/activate")).await.ok(200);
    world.quote("AAPL", 107.0).await;
    assert_eq!(world.status_of(&id).await, "triggered");
    assert_eq!(
        update(&world, &id, json!({"threshold": 500})).await["status"],
        "triggered"
    );
    world.quote("AAPL", 600.0).await;
    assert_eq!(world.firings_of(&id).await.len(), 1);
}

async fn an_update_can_change_the_condition(setup: Setup) {
    let world = setup.world().await;
    let id = made(&world).await;
    let after = update(&world, &id, json!({"condition": "new_high", "threshold": null})).await;
    assert_eq!(
        (&after["condition"], &after["threshold"]),
        (&json!("new_high"), &Value::Null)
    );
    let body = json!({"condition": "rsi_limit", "threshold": 70, "parameters": {"direction": "below"}});
    let after = update(&world, &id, body).await;
    assert_eq!(after["parameters"]["direction"], "below");
    let after = update(&world, &id, json!({"parameters": null})).await;
    assert_ne!(after["parameters"]["direction"], "below");
}

async fn the_alert_that_would_result_is_validated(setup: Setup) {
    let world = setup.world().await;
    let id = made(&world).await;
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
        let _ = world.me.put(&format!("/alerts/{id}"), &body).await.wrong_field(field);
    }
}

async fn a_wrong_update_changes_nothing(setup: Setup) {
    let world = setup.world().await;
    let id = made(&world).await;
    let path = format!("/alerts/{id}");
    let before = world.me.get(&path).await.ok(200);
    let body = json!({"threshold": 150, "notification": "pigeon"});
    let _ = world.me.put(&path, &body).await.wrong_field("notification");
    assert_eq!(
        world.me.get(&path).await.ok(200).data()["threshold"],
        before.data()["threshold"]
    );
    world.quote("AAPL", 110.0).await;
    assert_eq!(world.status_of(&id).await, "triggered");
}

async fn an_update_is_told_in_history(setup: Setup) {
    let world = setup.world().await;
    let id = made(&world).await;
    let _ = update(&world, &id, json!({"threshold": 120})).await;
    let history = world.me.get(&format!("/alerts/{id}/history")).await.ok(200);
    let entry = &history.items()[0];
    assert_eq!(entry["action_type"], "updated");
    assert_eq!(
        (&entry["previous_status"], &entry["new_status"]),
        (&json!("active"), &json!("active"))
    );
}
