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

/// Starts two evaluators: node-1, whose lease lasts for a minute after it has ended, and node-2 as its standby.
async fn with_an_owner_whose_lease_is_long() -> TestCluster {
    let mut cluster = TestCluster::without_nodes(&[]).await;
    cluster.add("node-0", "api").await;
    let long_lease = [("cluster.lease_ttl", "1m")];
    cluster.add_with("node-1", "evaluator", &long_lease, &[]).await;
    cluster.add("node-2", "evaluator").await;
    // Not by the metrics, which a node with such a lease updates every ten seconds.
    cluster.wait_until_standbys_are_ready().await;
    cluster
}

#[tokio::test]
async fn standby_fires_the_alerts_of_a_killed_owner_long_before_its_lease_ends() {
    let mut cluster = with_an_owner_whose_lease_is_long().await;
    let symbols = symbols(40);
    let alerts = cluster.first().add_stocks_with_alerts(&symbols).await;
    cluster.take("node-1").kill().await;
    let mut owned = 0.0;
    for symbol in &symbols {
        if cluster.owner_of(symbol).await == "node-1" {
            owned += 1.0;
        }
    }
    assert!(owned > 0.0);
    let rise = json!({"quotes": quotes(&symbols, 111.0)});
    // Only owners acknowledge a push, so this one is not accepted before the lease ends.
    let _ = cluster.first().operator.post("/market/ingest", &rise).await;
    cluster.first().assert_fired_once(&alerts).await;
    let standby = cluster.node("node-2");
    assert_eq!(standby.metric("bellwether_standby_commits_total").await, owned);
    assert!(
        standby.metric("bellwether_shard_owner").await < SHARDS,
        "the lease of the killed node lasts"
    );
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
    api.activate(&alerts).await;
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
    let mut cluster = with_an_owner_whose_lease_is_long().await;
    let symbols = symbols(40);
    let alerts = cluster.first().add_stocks_with_alerts(&symbols).await;
    cluster.take("node-1").shut_down().await;
    let owned = "SELECT COUNT(*) FROM shards JOIN nodes ON nodes.id = shards.owner_id WHERE nodes.name = 'node-2'";
    assert_eq!(cluster.count(owned).await as f64, SHARDS);
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
    cluster.first().wait_until_not_ready().await;
    cluster.nats.restart().await;
    cluster.first().ingest_until_accepted(&rise).await;
    cluster.first().assert_fired_once(&[id]).await;
}
