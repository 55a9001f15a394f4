//! Hints that a delivery is due on another node.

use std::net::{IpAddr, Ipv4Addr};

use clock::Clock;
use foundation::Role;
use serde_json::json;

use super::fixture::{NodeSetup, TestCluster};

/// The node on which deliveries become due.
const EVALUATOR: usize = 0;
/// The node that sends them.
const DISPATCHER: usize = 1;

/// Starts an evaluator, and a dispatcher whose clock is ahead, so that everything is due by it while it stands still.
async fn evaluator_and_dispatcher() -> TestCluster {
    let evaluator = NodeSetup::with_roles([Role::Api, Role::Evaluator]);
    let dispatcher = NodeSetup::with_roles([Role::Dispatcher]).ahead_by(600);
    TestCluster::start(&[evaluator, dispatcher]).await
}

/// Requests a message with a link for Ann.
async fn request_link(cluster: &TestCluster) {
    let body = json!({"email": cluster.ann.email, "type": "magic_link"});
    let here = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    cluster.nodes[EVALUATOR]
        .service
        .identity
        .sign_in(&body, here)
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn message_about_a_firing_on_one_node_is_sent_by_another_before_it_polls() {
    let cluster = evaluator_and_dispatcher().await;
    let stock = cluster.stock_owned_by(EVALUATOR).await;
    cluster.push_price(EVALUATOR, stock, 198.0).await;
    cluster.clocks.set_still(DISPATCHER, true);
    let still_since = cluster.nodes[DISPATCHER].clock.now();
    let body = json!({"symbol": stock, "condition": "price_above", "threshold": 199, "notification": "email"});
    let id = cluster.create(EVALUATOR, body).await;
    cluster.push_price(EVALUATOR, stock, 200.0).await;
    cluster.fires(id).await;
    let mailed = cluster.nodes[EVALUATOR].mailed_at_least(&cluster.ann.email, 1).await;
    assert!(mailed[0].text.contains(stock), "{}", mailed[0].text);
    assert_eq!(
        cluster.nodes[DISPATCHER].clock.now(),
        still_since,
        "no time for polling has passed"
    );
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_one_after_the_other_are_sent_before_the_other_node_polls() {
    let cluster = evaluator_and_dispatcher().await;
    cluster.clocks.set_still(DISPATCHER, true);
    for count in 1..=5 {
        request_link(&cluster).await;
        let mailed = cluster.nodes[EVALUATOR]
            .mailed_at_least(&cluster.ann.email, count)
            .await;
        assert_eq!(mailed.len(), count);
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn message_whose_hint_is_lost_is_found_by_polling() {
    let cluster = evaluator_and_dispatcher().await;
    cluster.clocks.set_still(DISPATCHER, true);
    cluster.cut(EVALUATOR);
    request_link(&cluster).await;
    cluster.clocks.set_still(DISPATCHER, false);
    let mailed = cluster.nodes[EVALUATOR].mailed_at_least(&cluster.ann.email, 1).await;
    assert_eq!(mailed.len(), 1);
    cluster.stop().await;
}
