use serde_json::json;

use super::harness::{SHARDS, TestCluster, quotes, symbols, wait_until};

#[tokio::test]
async fn two_evaluators_share_the_shards_and_each_alert_fires_once() {
    let cluster = TestCluster::steady(&["api,jobs,dispatcher", "evaluator", "evaluator"]).await;
    cluster.wait_until_each_owns_its_share().await;
    let mut owned = Vec::new();
    for node in &cluster.nodes {
        owned.push(node.metric("bellwether_shard_owner").await);
    }
    assert_eq!(owned[0], 0.0, "a node without the role evaluates nothing");
    assert_eq!(owned.iter().sum::<f64>(), SHARDS);
    let symbols = symbols(40);
    let api = cluster.first();
    let alerts = api.add_stocks_with_alerts(&symbols).await;
    api.ingest_until_accepted(&json!({"quotes": quotes(&symbols, 111.0)}))
        .await;
    for id in &alerts {
        assert_eq!(
            api.status_of(id).await,
            "triggered",
            "the push is answered after the firing"
        );
        assert_eq!(api.firings_of(id).await, 1);
    }
}

#[tokio::test]
async fn data_that_is_pushed_to_one_node_is_known_on_the_others() {
    let cluster = TestCluster::steady(&["api,evaluator", "api,evaluator"]).await;
    let (one, other) = (&cluster.nodes[0], &cluster.nodes[1]);
    one.add_stocks(&symbols(2)).await;
    wait_until("the other node knows the stock", || async {
        other.operator.get("/stocks/S001").await.status == 200
    })
    .await;
    one.ingest_until_accepted(&json!({"quotes": [{"symbol": "S001", "price": 104.5}]}))
        .await;
    wait_until("the other node knows the price", || async {
        let stock = other.operator.get("/stocks/S001").await.expect_ok(200);
        stock.data()["last_price"] == json!(104.5)
    })
    .await;
}

#[tokio::test]
async fn alert_that_holds_already_fires_when_it_is_created_on_any_node() {
    let cluster = TestCluster::steady(&["api", "evaluator", "evaluator"]).await;
    let symbols = symbols(4);
    let api = cluster.first();
    api.add_stocks(&symbols).await;
    api.ingest_until_accepted(&json!({"quotes": quotes(&symbols, 120.0)}))
        .await;
    let mut alerts = Vec::new();
    for symbol in &symbols {
        alerts.push(api.create_alert(symbol).await);
    }
    api.assert_fired_once(&alerts).await;
}

#[tokio::test]
async fn node_without_the_alert_shows_how_it_is_evaluated() {
    let cluster = TestCluster::steady(&["api", "evaluator"]).await;
    let api = cluster.first();
    api.add_stocks(&symbols(1)).await;
    let id = api.create_alert("S000").await;
    let alert = api.operator.get(&format!("/alerts/{id}")).await.expect_ok(200);
    assert_eq!(alert.data()["evaluation"]["state"], "ok", "{alert}");
    let explained = api.operator.get(&format!("/alerts/{id}/explain")).await.expect_ok(200);
    assert_eq!(explained.data()["terms"][0]["distance_pct"], 10, "{explained}");
}
