//! Market data that arrives after later data, as a node sends it when its connection to the bus is back.

use alerts::Status;
use serde_json::json;
use testkit::eventually;

use super::fixture::{NodeSetup, STANDBY_DELAY, TestCluster};
use crate::support::symbol;

/// The node that receives the requests. The other one owns the alert.
const API: usize = 0;
const OWNER: usize = 1;

#[tokio::test(flavor = "multi_thread")]
async fn late_price_hides_no_crossing_from_an_alert_that_was_created_since() {
    let cluster = TestCluster::start(&[NodeSetup::ALL_ROLES; 2]).await;
    let stock = cluster.stock_owned_by(OWNER).await;
    cluster.push_price(API, stock, 103.0).await;
    let before = cluster.position().await;
    let when = "price crosses above 102";
    let crossing = json!({"symbol": stock, "condition": "expression", "parameters": {"when": when}});
    let id = cluster.create(API, crossing).await;
    let owner = &cluster.nodes[OWNER].service.evaluation.evaluator;
    eventually("the owner knows the alert", async || {
        owner.read(|engine| engine.revision(id).is_some())
    })
    .await;
    cluster.send_late((stock, "101"), before).await;
    eventually("the owner knows the late price", async || {
        owner.read(|engine| engine.last_price(symbol(stock))) == Some("101".parse().unwrap())
    })
    .await;
    let holds = json!({"symbol": stock, "condition": "price_below", "threshold": 102});
    let holds = cluster.create(API, holds).await;
    cluster
        .clocks
        .fast_until("the alerts are evaluated again", async || {
            cluster.status(holds).await == Status::Triggered
        })
        .await;
    cluster.push_price(API, stock, 100.0).await;
    assert_eq!(cluster.status(id).await, Status::Active);
    cluster.push_price(API, stock, 103.0).await;
    assert_eq!(cluster.status(id).await, Status::Triggered);
    cluster.clocks.pass(STANDBY_DELAY * 3).await;
    assert_eq!(cluster.nodes[API].events(&cluster.ann).await.len(), 2);
    cluster.stop().await;
}
