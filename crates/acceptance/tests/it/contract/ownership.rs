//! Resources of other accounts are not visible.

use acceptance::{ServiceSetup, on_both_databases};
use serde_json::json;

on_both_databases![
    alert_of_another_account_is_404_on_every_route,
    list_contains_only_own_alerts,
];

async fn alert_of_another_account_is_404_on_every_route(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200});
    let id = env.operator.post("/alerts", &body).await.expect_ok(201).id();
    let other = env.account("premium").await;
    let path = format!("/alerts/{id}");
    let _ = other.get(&path).await.expect_error(404, "NOT_FOUND");
    let _ = other
        .put(&path, &json!({"threshold": 1}))
        .await
        .expect_error(404, "NOT_FOUND");
    let _ = other.delete(&path).await.expect_error(404, "NOT_FOUND");
    let _ = other
        .post_empty(&format!("{path}/pause"))
        .await
        .expect_error(404, "NOT_FOUND");
    let _ = other
        .post_empty(&format!("{path}/activate"))
        .await
        .expect_error(404, "NOT_FOUND");
    let _ = other
        .get(&format!("{path}/history"))
        .await
        .expect_error(404, "NOT_FOUND");
    let mine = env.operator.get(&path).await.expect_ok(200);
    assert_eq!(
        (&mine.data()["status"], &mine.data()["threshold"]),
        (&json!("active"), &json!(200))
    );
    let _ = env.operator.delete(&path).await.expect_ok(200);
    let _ = other
        .get(&format!("{path}/history"))
        .await
        .expect_error(404, "NOT_FOUND");
}

async fn list_contains_only_own_alerts(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200});
    let _ = env.operator.post("/alerts", &body).await.expect_ok(201);
    let other = env.account("basic").await;
    let list = other.get("/alerts?search=AAPL").await.expect_ok(200);
    assert_eq!(list.items().len(), 0);
    assert_eq!(list.body["meta"]["pagination"]["total"], 0);
}
