//! A transaction that changes alerts and does not end: its process was stopped, or it waits for another one.

use alerts::{AlertId, HistoryAction, Status};
use serde_json::json;
use testkit::eventually;

use super::fixture::{NodeSetup, STANDBY_DELAY, TestCluster};

/// The node that receives the requests. The other one owns the alert.
const API: usize = 0;
const OWNER: usize = 1;

/// Starts a cluster, and returns it with a stock whose last price is 100.
async fn cluster_with_price() -> (TestCluster, &'static str) {
    let cluster = TestCluster::start(&[NodeSetup::ALL_ROLES; 2]).await;
    let stock = cluster.stock_owned_by(OWNER).await;
    cluster.push_price(API, stock, 100.0).await;
    (cluster, stock)
}

/// Creates an alert that fires 2 % below the highest price since its creation.
async fn fall_from_highest(cluster: &TestCluster, stock: &str) -> AlertId {
    let when = "price <= 0.98 * high_since_armed";
    let body = json!({"symbol": stock, "condition": "expression", "parameters": {"when": when}});
    cluster.create(API, body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn price_is_judged_with_an_alert_of_before_while_an_earlier_transaction_is_open() {
    let (cluster, stock) = cluster_with_price().await;
    let open = cluster.open_change().await;
    let id = fall_from_highest(&cluster, stock).await;
    cluster.push_price(API, stock, 97.0).await;
    assert_eq!(
        cluster.status(id).await,
        Status::Triggered,
        "an accepted quote has been judged"
    );
    drop(open);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn alert_keeps_its_highest_price_when_the_earlier_transaction_ends() {
    let (cluster, stock) = cluster_with_price().await;
    let open = cluster.open_change().await;
    let id = fall_from_highest(&cluster, stock).await;
    cluster.push_price(API, stock, 99.0).await;
    drop(open);
    let later = json!({"symbol": stock, "condition": "price_below", "threshold": 99.5});
    let later = cluster.create(API, later).await;
    eventually("the changes after the transaction are followed", async || {
        cluster.status(later).await == Status::Triggered
    })
    .await;
    cluster.push_price(API, stock, 98.0).await;
    assert_eq!(cluster.status(id).await, Status::Triggered);
    cluster.clocks.pass(STANDBY_DELAY * 3).await;
    assert_eq!(
        cluster.nodes[API].actions(&cluster.ann, id).await,
        [HistoryAction::Created, HistoryAction::Triggered]
    );
    cluster.stop().await;
}
