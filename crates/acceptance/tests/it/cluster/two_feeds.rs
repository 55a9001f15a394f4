use acceptance::clock::wait_for;
use serde_json::{Value, json};
use sqlx::query_scalar;

use super::harness::{TestCluster, wait_until};
use super::node::TestNode;

/// Stocks of every simulated market.
const SYMBOLS: [&str; 2] = ["SPY", "QQQ"];
/// The distance of an alert from the price, in dollars: so little that the price gets there soon, upwards or downwards.
const DISTANCE: f64 = 0.05;
/// The line that a node logs when it starts the source.
const STARTED: &str = "this node runs the source of market data";

#[tokio::test]
async fn one_node_at_a_time_runs_the_source_and_the_other_continues_when_it_is_killed() {
    let settings = [
        // Outlasts a busy machine.
        ("cluster.lease_ttl", "10s"),
        ("market.source", "simulated"),
        ("market.companies", "1"),
        ("market.pace", "200ms"),
        ("market.lively", "true"),
    ];
    let mut cluster = TestCluster::with_settings(&["api,evaluator,feed", "api,evaluator,feed"], &settings).await;
    wait_for_firing_near(cluster.first(), SYMBOLS[0]).await;
    // Not earlier: the source begins with two years of history.
    let price = wait_for_price(cluster.first(), SYMBOLS[0]).await;
    let running: Vec<String> = cluster
        .nodes
        .iter()
        .filter(|node| runs_source(node))
        .map(|node| node.name.clone())
        .collect();
    assert_eq!(running.len(), 1, "{running:?}");

    cluster.take(&running[0]).kill().await;
    let survivor = cluster.first();
    assert!(!runs_source(survivor));
    wait_until("the other node runs the source", || async { runs_source(survivor) }).await;
    wait_for_firing_near(survivor, SYMBOLS[1]).await;
    let continued = wait_for_price(survivor, SYMBOLS[0]).await;
    assert!(
        (continued / price - 1.0).abs() < 0.1,
        "the price went on from {price} at {continued}"
    );
    assert_none_fired_twice(&cluster).await;
}

fn runs_source(node: &TestNode) -> bool {
    node.server.log().contains(STARTED)
}

/// Waits until a node knows the price of a stock, and returns it.
async fn wait_for_price(node: &TestNode, symbol: &str) -> f64 {
    wait_for("the node knows the price", || async {
        let stock = node.operator.get(&format!("/stocks/{symbol}")).await;
        stock.data()["last_price"].as_f64()
    })
    .await
}

/// Creates an alert above and one below the present price, and waits until the source has made the price cross one of them.
async fn wait_for_firing_near(node: &TestNode, symbol: &str) {
    let price = wait_for_price(node, symbol).await;
    let rise = create_alert(node, symbol, "price_above", price + DISTANCE).await;
    let fall = create_alert(node, symbol, "price_below", price - DISTANCE).await;
    wait_until("one of the alerts has fired", || async {
        node.firings_of(&rise).await + node.firings_of(&fall).await > 0
    })
    .await;
}

async fn create_alert(node: &TestNode, symbol: &str, condition: &str, threshold: f64) -> String {
    let threshold = (threshold * 100.0).round() / 100.0;
    let body: Value = json!({"symbol": symbol, "condition": condition, "threshold": threshold});
    node.operator.post("/alerts", &body).await.expect_ok(201).id()
}

async fn assert_none_fired_twice(cluster: &TestCluster) {
    let sql = "SELECT COUNT(*) FROM history WHERE action = 'triggered' GROUP BY alert_seq";
    let firings: Vec<i64> = query_scalar(sql).fetch_all(&mut cluster.connect().await).await.unwrap();
    assert!(firings.iter().all(|count| *count == 1), "{firings:?}");
}
