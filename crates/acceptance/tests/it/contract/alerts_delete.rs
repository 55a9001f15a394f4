//! `DELETE /alerts/{id}`

use acceptance::{ServiceSetup, on_both_databases};
use serde_json::json;

on_both_databases![
    deleted_alert_is_404_and_keeps_its_history,
    alert_in_every_status_can_be_deleted,
    deleted_alert_does_not_fire,
];

async fn deleted_alert_is_404_and_keeps_its_history(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200});
    let id = env.operator.post("/alerts", &body).await.expect_ok(201).id();
    let path = format!("/alerts/{id}");
    let deleted = env.operator.delete(&path).await.expect_ok(200);
    assert_eq!(
        deleted.data(),
        &json!({"alert_id": id, "alertId": id, "status": "deleted"})
    );
    let _ = env.operator.get(&path).await.expect_error(404, "NOT_FOUND");
    let _ = env.operator.delete(&path).await.expect_error(404, "NOT_FOUND");
    let _ = env
        .operator
        .put(&path, &json!({"threshold": 1}))
        .await
        .expect_error(404, "NOT_FOUND");
    for verb in ["pause", "activate"] {
        let _ = env
            .operator
            .post_empty(&format!("{path}/{verb}"))
            .await
            .expect_error(404, "NOT_FOUND");
    }
    assert_eq!(env.operator.get("/alerts").await.expect_ok(200).items().len(), 0);
    let history = env.operator.get(&format!("{path}/history")).await.expect_ok(200);
    let last = &history.items()[0];
    assert_eq!(last["action_type"], "deleted");
    assert_eq!(
        (&last["previous_status"], &last["new_status"]),
        (&json!("active"), &json!("deleted"))
    );
}

async fn alert_in_every_status_can_be_deleted(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let mut ids = Vec::new();
    for threshold in [110, 120, 130] {
        let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold});
        ids.push(env.operator.post("/alerts", &body).await.expect_ok(201).id());
    }
    let _ = env
        .operator
        .post_empty(&format!("/alerts/{}/pause", ids[1]))
        .await
        .expect_ok(200);
    env.quote("AAPL", 110.0).await;
    for (id, status) in ids.iter().zip(["triggered", "paused", "active"]) {
        assert_eq!(env.status_of(id).await, status);
        let _ = env.operator.delete(&format!("/alerts/{id}")).await.expect_ok(200);
        let history = env.operator.get(&format!("/alerts/{id}/history")).await.expect_ok(200);
        let entries = history.items();
        let entry = entries.iter().find(|entry| entry["action_type"] == "deleted").unwrap();
        assert_eq!(entry["previous_status"], status);
    }
}

async fn deleted_alert_does_not_fire(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 110});
    let id = env.operator.post("/alerts", &body).await.expect_ok(201).id();
    let _ = env.operator.delete(&format!("/alerts/{id}")).await.expect_ok(200);
    env.quote("AAPL", 110.0).await;
    assert_eq!(env.firings_of(&id).await.len(), 0);
}
