use acceptance::clock::new_york_today;
use acceptance::tools;
use serde_json::json;

use super::harness::{TestCluster, shifted_clock, wait_until};
use super::node::TestNode;

const SYMBOL: &str = "SPLT";

#[tokio::test]
async fn split_that_is_delivered_while_its_evaluator_is_stopped_adjusts_each_alert_once() {
    let Some(libfaketime) = tools::find_libfaketime() else {
        return;
    };
    let mut cluster = TestCluster::without_nodes(&[]).await;
    // A split adjusts what was set before its day, so the alerts and the price are of yesterday.
    let yesterday = shifted_clock(libfaketime, "-1d");
    for (name, roles) in [("node-0", "api,jobs"), ("node-1", "evaluator")] {
        cluster.add_with(name, roles, &[], &yesterday).await;
    }
    cluster.wait_until_shared().await;
    let api = cluster.first();
    api.add_stocks(&[SYMBOL.to_owned()]).await;
    let rise = create_alert(api, "price_above", 110).await;
    let fall = create_alert(api, "price_below", 90).await;
    for name in ["node-0", "node-1"] {
        cluster.upgrade(name).await;
    }
    cluster.add("node-2", "evaluator").await;
    cluster.wait_until_each_owns_its_share().await;

    let owner = cluster.owner_of(SYMBOL).await;
    let stopped = cluster.take(&owner);
    stopped.signal("STOP");
    let api = cluster.first();
    let split = json!({"splits": [{"symbol": SYMBOL, "date": new_york_today().to_string(), "ratio": 4}]});
    api.ingest_until_accepted(&split).await;
    // 100 in old shares is above the new threshold, and 25 in new shares is below the old one.
    push_price(api, 25.0).await;
    assert_adjusted_once_and_active(api, &rise, 27.5).await;
    assert_adjusted_once_and_active(api, &fall, 22.5).await;

    stopped.signal("CONT");
    cluster.nodes.push(stopped);
    cluster.wait_until_each_owns_its_share().await;
    let api = cluster.first();
    push_price(api, 25.1).await;
    assert_adjusted_once_and_active(api, &rise, 27.5).await;
    assert_adjusted_once_and_active(api, &fall, 22.5).await;
    push_price(api, 28.0).await;
    push_price(api, 22.0).await;
    for alert in [&rise, &fall] {
        wait_until("the alert has fired", || async { api.firings_of(alert).await == 1 }).await;
    }
}

async fn create_alert(api: &TestNode, condition: &str, threshold: i32) -> String {
    let body = json!({"symbol": SYMBOL, "condition": condition, "threshold": threshold});
    api.operator.post("/alerts", &body).await.expect_ok(201).id()
}

async fn push_price(api: &TestNode, price: f64) {
    api.ingest_until_accepted(&json!({"quotes": [{"symbol": SYMBOL, "price": price}]}))
        .await;
}

async fn assert_adjusted_once_and_active(api: &TestNode, id: &str, threshold: f64) {
    let alert = api.operator.get(&format!("/alerts/{id}")).await.expect_ok(200);
    assert_eq!(
        (alert.text_of("status"), alert.data()["threshold"].as_f64()),
        ("active", Some(threshold))
    );
    let history = api.operator.get(&format!("/alerts/{id}/history")).await.expect_ok(200);
    let actions: Vec<&str> = history
        .items()
        .iter()
        .filter_map(|entry| entry["action_type"].as_str())
        .collect();
    assert_eq!(actions, ["adjusted", "created"]);
}
