use std::time::Duration;

use acceptance::{Behaviour, Cut, ScriptedServer};
use serde_json::json;

use super::harness::{TestCluster, quotes, symbols, wait_until};

const SYMBOLS: usize = 5;

/// The machine of the primary vanishes while firings are sent, and another server is reached at its address afterwards.
#[tokio::test]
async fn node_goes_on_with_the_next_primary_although_its_connections_never_end() {
    let receiver = ScriptedServer::with_script(vec![Behaviour::RespondAfter(Duration::from_millis(500))]).await;
    let settings = [
        ("webhooks.allow_private_cidrs", "127.0.0.0/8"),
        ("webhooks.timeout", "2s"),
    ];
    let mut cluster = TestCluster::without_nodes(&settings).await;
    let relays = cluster.add_behind_relays("node-1", "api,evaluator,dispatcher").await;
    cluster.wait_until_shared().await;
    let (node, symbols) = (cluster.first(), symbols(SYMBOLS));
    let alerts = node.add_stocks_with_alerts(&symbols).await;
    let webhook = json!({"url": receiver.url(), "events": ["alert.triggered"]});
    let created = node.operator.post("/webhooks", &webhook).await;
    assert_eq!(created.status, 201, "{created}");
    node.ingest_until_accepted(&json!({"quotes": quotes(&symbols, 111.0)}))
        .await;
    receiver.wait_for_requests(1).await;

    relays.to_database.set_cut(Some(Cut::BothWays));
    node.wait_until_not_ready().await;
    relays.to_database.lose_connections();
    relays.to_database.set_cut(None);

    node.wait_until_ready().await;
    node.assert_fired_once(&alerts).await;
    node.ingest_until_accepted(&json!({"quotes": quotes(&symbols, 100.0)}))
        .await;
    node.activate(&alerts).await;
    node.ingest_until_accepted(&json!({"quotes": quotes(&symbols, 112.0)}))
        .await;
    wait_until("both firings of each alert have arrived", || async {
        let arrived = receiver.received();
        let mut ids: Vec<_> = arrived.iter().map(|request| request.id()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.len() == 2 * SYMBOLS
    })
    .await;
}
