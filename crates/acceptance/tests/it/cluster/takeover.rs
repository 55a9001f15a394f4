use serde_json::json;

use super::harness::{SHARDS, TestCluster, quotes, symbols, wait_until};

#[tokio::test]
async fn alerts_of_a_node_that_is_killed_fire_once_on_its_standby() {
    let mut cluster = TestCluster::start(&["api", "evaluator", "evaluator"]).await;
    let symbols = symbols(40);
    let alerts = cluster.first().add_stocks_with_alerts(&symbols).await;
    cluster.take("node-1").kill().await;
    let api = cluster.first();
    api.ingest_until_accepted(&json!({"quotes": quotes(&symbols, 111.0)}))
        .await;
    api.assert_fired_once(&alerts).await;
    wait_until("the other node owns all shards", || async {
        cluster.nodes[1].metric("bellwether_shard_owner").await == SHARDS
    })
    .await;
}

#[tokio::test]
async fn stopped_node_that_wakes_up_with_a_backlog_fires_no_alert_again() {
    let mut cluster = TestCluster::start(&["api", "evaluator", "evaluator"]).await;
    let symbols = symbols(40);
    let alerts = cluster.first().add_stocks_with_alerts(&symbols).await;
    let stopped = cluster.take("node-1");
    stopped.signal("STOP");
    let api = cluster.first();
    api.ingest_until_accepted(&json!({"quotes": quotes(&symbols, 111.0)}))
        .await;
    api.assert_fired_once(&alerts).await;
    // The price falls, and each alert waits for the next rise.
    api.ingest_until_accepted(&json!({"quotes": quotes(&symbols, 100.0)}))
        .await;
    for id in &alerts {
        let activated = api.operator.post_empty(&format!("/alerts/{id}/activate")).await;
        assert_eq!(activated.status, 200, "{activated}");
    }
    stopped.signal("CONT");
    cluster.nodes.push(stopped);
    cluster.wait_until_shared().await;
    let api = cluster.first();
    for id in &alerts {
        assert_eq!(
            (api.status_of(id).await.as_str(), api.firings_of(id).await),
            ("active", 1)
        );
    }
    api.ingest_until_accepted(&json!({"quotes": quotes(&symbols, 112.0)}))
        .await;
    for id in &alerts {
        wait_until("the alert has fired again", || async { api.firings_of(id).await == 2 }).await;
    }
}

#[tokio::test]
async fn node_that_shuts_down_hands_its_shards_over_without_a_gap() {
    let mut cluster =
        TestCluster::with_settings(&["api", "evaluator", "evaluator"], &[("cluster.lease_ttl", "1m")]).await;
    let symbols = symbols(40);
    let alerts = cluster.first().add_stocks_with_alerts(&symbols).await;
    cluster.take("node-2").shut_down().await;
    // With a lease of a minute, only a handover can be in time.
    cluster
        .first()
        .ingest_until_accepted(&json!({"quotes": quotes(&symbols, 111.0)}))
        .await;
    cluster.first().assert_fired_once(&alerts).await;
}

#[tokio::test]
async fn node_that_joins_gets_its_share_and_a_push_meanwhile_fires_each_alert_once() {
    let mut cluster = TestCluster::start(&["api", "evaluator"]).await;
    let symbols = symbols(40);
    let alerts = cluster.first().add_stocks_with_alerts(&symbols).await;
    cluster.add("node-2", "evaluator").await;
    cluster
        .first()
        .ingest_until_accepted(&json!({"quotes": quotes(&symbols, 111.0)}))
        .await;
    cluster.first().assert_fired_once(&alerts).await;
    wait_until("the new node owns shards", || async {
        cluster.nodes[2].metric("bellwether_shard_owner").await > 60.0
    })
    .await;
}

#[tokio::test]
async fn push_is_refused_while_nobody_evaluates_and_accepted_afterwards() {
    let mut cluster = TestCluster::start(&["api", "evaluator"]).await;
    let symbols = symbols(3);
    cluster.first().add_stocks(&symbols).await;
    let id = cluster.first().create_alert("S001").await;
    cluster.take("node-1").kill().await;
    let rise = json!({"quotes": quotes(&symbols, 111.0)});
    let refused = cluster.first().operator.post("/market/ingest", &rise).await;
    assert_eq!(refused.status, 503, "{refused}");
    cluster.add("node-3", "evaluator").await;
    cluster.first().ingest_until_accepted(&rise).await;
    cluster.first().assert_fired_once(&[id]).await;
}

#[tokio::test]
async fn pushes_are_refused_while_nats_is_gone_and_accepted_when_it_is_back() {
    let mut cluster = TestCluster::start(&["api", "evaluator", "evaluator"]).await;
    let symbols = symbols(10);
    cluster.first().add_stocks(&symbols).await;
    let id = cluster.first().create_alert("S001").await;
    cluster.nats.kill();
    let rise = json!({"quotes": quotes(&symbols, 111.0)});
    let refused = cluster.first().operator.post("/market/ingest", &rise).await;
    assert_eq!(refused.status, 503, "{refused}");
    wait_until("the node is not ready", || async {
        cluster.first().is_ready().await == Some(false)
    })
    .await;
    cluster.nats.restart().await;
    cluster.first().ingest_until_accepted(&rise).await;
    cluster.first().assert_fired_once(&[id]).await;
}
