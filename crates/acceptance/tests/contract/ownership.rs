//! What belongs to others is not there.

use acceptance::{Setup, on_both_databases};
use serde_json::json;

on_both_databases![
    an_alert_of_another_account_is_not_found_on_any_route,
    a_list_shows_only_ones_own,
];

async fn an_alert_of_another_account_is_not_found_on_any_route(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200});
    let id = world.me.post("/alerts", &body).await.ok(201).id();
    let other = world.account("premium").await;
    let path = format!("/alerts/{id}");
    let _ = other.get(&path).await.refused(404, "NOT_FOUND");
    let _ = other
        .put(&path, &json!({"threshold": 1}))
        .await
        .refused(404, "NOT_FOUND");
    let _ = other.delete(&path).await.refused(404, "NOT_FOUND");
    let _ = other
        .post_empty(&format!("{path}/pause"))
        .await
        .refused(404, "NOT_FOUND");
    let _ = other
        .post_empty(&format!("{path}/activate"))
        .await
        .refused(404, "NOT_FOUND");
    let _ = other.get(&format!("{path}/history")).await.refused(404, "NOT_FOUND");
    let mine = world.me.get(&path).await.ok(200);
    assert_eq!(
        (&mine.data()["status"], &mine.data()["threshold"]),
        (&json!("active"), &json!(200))
    );
    let _ = world.me.delete(&path).await.ok(200);
    let _ = other.get(&format!("{path}/history")).await.refused(404, "NOT_FOUND");
}

async fn a_list_shows_only_ones_own(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200});
    let _ = world.me.post("/alerts", &body).await.ok(201);
    let other = world.account("basic").await;
    let list = other.get("/alerts?search=AAPL").await.ok(200);
    assert_eq!(list.items().len(), 0);
    assert_eq!(list.body["meta"]["pagination"]["total"], 0);
}
