use std::collections::BTreeSet;
use std::time::Duration;

use acceptance::{ApiClient, Behaviour, ScriptedServer};
use serde_json::json;

use super::harness::{TestCluster, quotes, symbols, wait_until};

/// The bounds of one dispatcher: concurrent attempts at a host and at an endpoint.
const MAX_PER_HOST: usize = 32;
const MAX_PER_ENDPOINT: usize = 8;
/// The maximum number of webhooks of an account.
const WEBHOOKS: usize = 5;
const SYMBOLS: usize = 20;
const ACCOUNTS: [&str; 2] = ["one@example.com", "two@example.com"];
/// Each alert of each account fires once, to each webhook of its account.
const DELIVERIES: usize = ACCOUNTS.len() * WEBHOOKS * SYMBOLS;

/// Starts a node for everything else and two dispatchers.
async fn start_cluster(settings: &[(&str, &str)]) -> TestCluster {
    let common = [("webhooks.allow_private_cidrs", "127.0.0.0/8")];
    let settings = [&common, settings].concat();
    let cluster = TestCluster::with_settings(&["api,evaluator", "dispatcher", "dispatcher"], &settings).await;
    cluster.wait_until_dispatched_by(&["node-1", "node-2"]).await;
    cluster
}

/// Starts a receiver that takes a moment for each request.
async fn start_receiver() -> ScriptedServer {
    ScriptedServer::with_script(vec![Behaviour::RespondAfter(Duration::from_millis(100))]).await
}

/// Creates webhooks of all accounts to one receiver, and fires their alerts.
async fn fire_alerts(cluster: &TestCluster, receiver: &ScriptedServer) {
    let symbols = symbols(SYMBOLS);
    cluster.first().add_stocks(&symbols).await;
    for (number, account) in ACCOUNTS.iter().enumerate() {
        let client = cluster.add_account(account).await;
        create_webhooks(&client, receiver, number).await;
        for symbol in &symbols {
            let body = json!({"symbol": symbol, "condition": "price_above", "threshold": 110});
            let created = client.post("/alerts", &body).await;
            assert_eq!(created.status, 201, "{created}");
        }
    }
    let rise = json!({"quotes": quotes(&symbols, 111.0)});
    cluster.first().ingest_until_accepted(&rise).await;
}

async fn create_webhooks(client: &ApiClient, receiver: &ScriptedServer, account: usize) {
    for webhook in 0..WEBHOOKS {
        let url = format!("{}/{account}/{webhook}", receiver.url());
        let body = json!({"url": url, "events": ["alert.triggered"]});
        let created = client.post("/webhooks", &body).await;
        assert_eq!(created.status, 201, "{created}");
    }
}

/// Returns the ids of the received deliveries.
fn ids(receiver: &ScriptedServer) -> BTreeSet<String> {
    receiver.received().iter().map(|request| request.id()).collect()
}

#[tokio::test]
async fn two_dispatchers_send_each_delivery_once_within_the_bounds_of_one() {
    let settings = [("cluster.lease_ttl", "10s"), ("webhooks.timeout", "30s")];
    let (cluster, receiver) = (start_cluster(&settings).await, start_receiver().await);
    fire_alerts(&cluster, &receiver).await;
    let delivered = "bellwether_delivery_attempts_total{outcome=\"delivered\"}";
    let (one, other) = (&cluster.nodes[1], &cluster.nodes[2]);
    wait_until("all deliveries are settled", || async {
        one.metric(delivered).await + other.metric(delivered).await >= DELIVERIES as f64
    })
    .await;
    assert_eq!(
        (receiver.received().len(), ids(&receiver).len()),
        (DELIVERIES, DELIVERIES)
    );
    assert!(one.metric(delivered).await > 0.0 && other.metric(delivered).await > 0.0);
    let (at_host, at_endpoint) = receiver.max_in_progress();
    assert!(at_host <= MAX_PER_HOST, "{at_host} attempts at the host");
    assert!(at_endpoint <= MAX_PER_ENDPOINT, "{at_endpoint} attempts at an endpoint");
}

#[tokio::test]
async fn deliveries_of_a_dispatcher_that_is_killed_are_sent_by_the_other_one() {
    // Deliveries that it has claimed wait for three times the duration of an attempt, which is the timeout and five seconds.
    let settings = [("webhooks.timeout", "2s"), ("webhooks.retry_delays", "1s,2s,4s,8s")];
    let (mut cluster, receiver) = (start_cluster(&settings).await, start_receiver().await);
    fire_alerts(&cluster, &receiver).await;
    receiver.wait_for_requests(1).await;
    cluster.take("node-2").kill().await;
    wait_until("all deliveries have arrived", || async {
        ids(&receiver).len() == DELIVERIES
    })
    .await;
    cluster.wait_until_dispatched_by(&["node-1"]).await;
}
