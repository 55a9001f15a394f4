//! Nodes whose clocks differ by five seconds: each node stamps and classifies quotes by its own clock.

use alerts::{HistoryAction, Status};
use clock::Clock;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::fixture::{NodeSetup, STANDBY_DELAY, TestCluster};
use crate::support::above;

/// The node that receives the data. The other one owns the alerts.
const PUSHER: usize = 0;
const OWNER: usize = 1;

/// Starts a cluster whose second node is ahead by some seconds, and returns it with a stock that it owns.
async fn cluster_with_owner_ahead_by(seconds: i64) -> (TestCluster, &'static str) {
    let nodes = [NodeSetup::ALL_ROLES, NodeSetup::ALL_ROLES.ahead_by(seconds)];
    let cluster = TestCluster::start(&nodes).await;
    let stock = cluster.stock_owned_by(OWNER).await;
    (cluster, stock)
}

/// Pushes a quote with a time. Returns whether it was accepted.
async fn push_at(cluster: &TestCluster, (stock, price): (&str, f64), time: Timestamp) -> bool {
    let quote = json!({"symbol": stock, "price": price, "time": time.to_string()});
    let rejected = cluster.push(PUSHER, json!({"quotes": [quote]})).await;
    assert!(
        rejected.iter().all(|row| (row.kind, row.index) == ("quotes", 0)),
        "{rejected:?}"
    );
    rejected.is_empty()
}

async fn alert_fires_once(seconds: i64, has_time: bool) {
    let (cluster, stock) = cluster_with_owner_ahead_by(seconds).await;
    cluster.push_price(PUSHER, stock, 198.0).await;
    let id = cluster.create(PUSHER, above(stock, 199.0)).await;
    if has_time {
        // All clocks have passed it since, and the last quote is older by each of them.
        cluster.clocks.pass(SignedDuration::from_secs(20)).await;
        let time = cluster.nodes[PUSHER]
            .clock
            .now()
            .saturating_sub(SignedDuration::from_secs(5))
            .unwrap();
        assert!(push_at(&cluster, (stock, 200.0), time).await);
    } else {
        cluster.push_price(PUSHER, stock, 200.0).await;
    }
    assert_eq!(
        cluster.status(id).await,
        Status::Triggered,
        "an accepted quote has been judged"
    );
    cluster.clocks.pass(STANDBY_DELAY * 3).await;
    cluster.push_price(PUSHER, stock, 201.0).await;
    let node = &cluster.nodes[PUSHER];
    assert_eq!(node.events(&cluster.ann).await.len(), 1);
    assert_eq!(
        node.actions(&cluster.ann, id).await,
        [HistoryAction::Created, HistoryAction::Triggered]
    );
    cluster.stop().await;
}

/// The quote with a time follows one without, and is as old by the clock of the node that receives them, or `older_by` more.
async fn timed_quote_is_judged_or_rejected(owner_ahead_by: i64, older_by: i64) {
    let (cluster, stock) = cluster_with_owner_ahead_by(owner_ahead_by).await;
    cluster.push_price(PUSHER, stock, 198.0).await;
    let id = cluster.create(PUSHER, above(stock, 199.0)).await;
    let now = cluster.nodes[PUSHER].clock.now();
    let time = now.saturating_sub(SignedDuration::from_secs(older_by)).unwrap();
    let is_accepted = push_at(&cluster, (stock, 200.0), time).await;
    let has_fired = cluster.status(id).await == Status::Triggered;
    assert_eq!(
        has_fired, is_accepted,
        "an accepted quote fires the alert, and a rejected one does not"
    );
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn untimed_quote_fires_an_alert_once_if_the_clock_of_its_owner_is_ahead() {
    alert_fires_once(5, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn untimed_quote_fires_an_alert_once_if_the_clock_of_its_owner_is_behind() {
    alert_fires_once(-5, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn timed_quote_fires_an_alert_once_if_the_clock_of_its_owner_is_ahead() {
    alert_fires_once(5, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn timed_quote_fires_an_alert_once_if_the_clock_of_its_owner_is_behind() {
    alert_fires_once(-5, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn timed_quote_after_an_untimed_one_is_judged_or_rejected_if_the_owner_is_ahead() {
    timed_quote_is_judged_or_rejected(5, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn timed_quote_after_an_untimed_one_is_judged_or_rejected_if_the_owner_is_behind() {
    timed_quote_is_judged_or_rejected(-5, 0).await;
}

/// By the clock of the node that receives it, the quote is older than the last one; by that of the owner it is not.
#[tokio::test(flavor = "multi_thread")]
async fn quote_that_is_old_only_by_the_clock_of_the_receiving_node_is_judged_or_rejected() {
    timed_quote_is_judged_or_rejected(-5, 4).await;
}
