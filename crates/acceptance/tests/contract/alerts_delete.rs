//! `DELETE /alerts/{id}`

use acceptance::{Setup, on_both_databases};
use serde_json::json;

on_both_databases![
    a_deleted_alert_is_gone_and_its_history_stays,
    an_alert_in_any_state_can_be_deleted,
    a_deleted_alert_does_not_fire,
];

async fn a_deleted_alert_is_gone_and_its_history_stays(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200});
    let id = world.me.post("/alerts", &body).await.ok(201).id();
    let path = format!("/alerts/{id}");
    let deleted = world.me.delete(&path).await.ok(200);
    assert_eq!(
        deleted.data(),
        &json!({"alert_id": id, "alertId": id, "status": "deleted"})
    );
    let _ = world.me.get(&path).await.refused(404, "NOT_FOUND");
    let _ = world.me.delete(&path).await.refused(404, "NOT_FOUND");
    let _ = world
        .me
        .put(&path, &json!({"threshold": 1}))
        .await
        .refused(404, "NOT_FOUND");
    for verb in ["pause", "activate"] {
        let _ = world
            .me
            .post_empty(&format!("{path}/{verb}"))
            .await
            .refused(404, "NOT_FOUND");
    }
    assert_eq!(world.me.get("/alerts").await.ok(200).items().len(), 0);
    let history = world.me.get(&format!("{path}/history")).await.ok(200);
    let last = &history.items()[0];
    assert_eq!(last["action_type"], "deleted");
    assert_eq!(
        (&last["previous_status"], &last["new_status"]),
        (&json!("active"), &json!("deleted"))
    );
}

async fn an_alert_in_any_state_can_be_deleted(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let mut ids = Vec::new();
    for threshold in [110, 120, 130] {
        let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold});
        ids.push(world.me.post("/alerts", &body).await.ok(201).id());
    }
    let _ = world.me.post_empty(&format!("/alerts/{}/pause", ids[1])).await.ok(200);
    world.quote("AAPL", 110.0).await;
    for (id, status) in ids.iter().zip(["triggered", "paused", "active"]) {
        assert_eq!(world.status_of(id).await, status);
        let _ = world.me.delete(&format!("/alerts/{id}")).await.ok(200);
        let history = world.me.get(&format!("/alerts/{id}/history")).await.ok(200);
        let entries = history.items();
        let entry = entries.iter().find(|entry| entry["action_type"] == "deleted").unwrap();
        assert_eq!(entry["previous_status"], status);
    }
}

async fn a_deleted_alert_does_not_fire(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 110});
    let id = world.me.post("/alerts", &body).await.ok(201).id();
    let _ = world.me.delete(&format!("/alerts/{id}")).await.ok(200);
    world.quote("AAPL", 110.0).await;
    assert_eq!(world.firings_of(&id).await.len(), 0);
}
