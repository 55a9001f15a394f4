use std::path::Path;

use acceptance::clock::{now, wait_for};
use acceptance::tools;
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::harness::{TestCluster, shifted_clock, symbols};
use super::node::TestNode;

/// The node whose clock is ahead, and the one whose clock is behind.
const AHEAD: &str = "node-0";
const BEHIND: &str = "node-1";
/// The time by which each of the clocks is wrong.
const SKEW: SignedDuration = SignedDuration::from_secs(5);

/// Starts two nodes with all roles, whose clocks are wrong in opposite directions. Leases outlast a busy machine unless a node is killed.
async fn start_cluster(libfaketime: &Path, lease_ttl: &str) -> TestCluster {
    let mut cluster = TestCluster::without_nodes(&[("cluster.lease_ttl", lease_ttl)]).await;
    for (name, skew) in [(AHEAD, "+5s"), (BEHIND, "-5s")] {
        let environment = shifted_clock(libfaketime, skew);
        cluster.add_with(name, "api,evaluator,jobs", &[], &environment).await;
    }
    cluster.wait_until_each_owns_its_share().await;
    cluster
}

/// Returns quotes of stocks at one price, with the present time of the machine.
fn quotes_with_time(symbols: &[String], price: f64) -> Value {
    let time = now().to_string();
    let quotes = symbols
        .iter()
        .map(|symbol| json!({"symbol": symbol, "price": price, "time": time}));
    quotes.collect()
}

/// Returns quotes of stocks at one price, which the node dates.
fn quotes_without_time(symbols: &[String], price: f64) -> Value {
    super::harness::quotes(symbols, price)
}

#[tokio::test]
async fn pushes_to_nodes_whose_clocks_are_wrong_fire_each_alert_once() {
    let Some(libfaketime) = tools::find_libfaketime() else {
        return;
    };
    let cluster = start_cluster(libfaketime, "10s").await;
    let mut symbols = symbols(40);
    let with_time = symbols.split_off(20);
    let mut alerts = 0;
    for (round, name) in (1..).zip([AHEAD, BEHIND, AHEAD, BEHIND, BEHIND, AHEAD]) {
        let (node, threshold) = (cluster.node(name), 100 + 10 * round);
        for (symbols, quotes) in [
            (&symbols, quotes_without_time as Quotes),
            (&with_time, quotes_with_time),
        ] {
            if round == 1 {
                add_stocks(node, symbols, quotes).await;
            }
            alerts += create_alerts(node, symbols, threshold).await;
            push_until_none_is_rejected(node, symbols, threshold + 1, quotes).await;
            cluster.assert_all_fired_once(alerts).await;
        }
    }
}

/// An untimed quote has the time of the node that judges it, so a later one with a time may be older. Then the response must say so.
#[tokio::test]
async fn quote_with_a_time_fires_its_alert_although_one_without_a_time_came_before() {
    let Some(libfaketime) = tools::find_libfaketime() else {
        return;
    };
    let cluster = start_cluster(libfaketime, "10s").await;
    let symbols = symbols(20);
    for (round, name) in (1..).zip([AHEAD, BEHIND]) {
        let (node, threshold) = (cluster.node(name), 100 + 10 * round);
        node.add_stocks(&symbols).await;
        let alerts = create_alerts(node, &symbols, threshold).await;
        push_until_none_is_rejected(node, &symbols, threshold + 1, quotes_with_time).await;
        cluster
            .assert_all_fired_once(alerts * usize::try_from(round).unwrap())
            .await;
    }
}

/// Returns quotes of stocks at a price.
type Quotes = fn(&[String], f64) -> Value;

/// Pushes quotes, with the present time again as long as the node has newer ones.
async fn push_until_none_is_rejected(node: &TestNode, symbols: &[String], price: i32, quotes: Quotes) {
    wait_for("the quotes are accepted", || async {
        let batch = json!({"quotes": quotes(symbols, f64::from(price))});
        let response = node.operator.post("/market/ingest", &batch).await;
        (response.status == 200 && response.data()["rejected"] == json!([])).then_some(())
    })
    .await;
}

/// Adds stocks, and quotes each at 100.
async fn add_stocks(node: &TestNode, symbols: &[String], quotes: Quotes) {
    let stocks = symbols.iter().map(|symbol| json!({"symbol": symbol, "name": symbol}));
    let batch = json!({"stocks": stocks.collect::<Value>(), "quotes": quotes(symbols, 100.0)});
    node.ingest_until_accepted(&batch).await;
}

async fn create_alerts(node: &TestNode, symbols: &[String], threshold: i32) -> usize {
    for symbol in symbols {
        let body = json!({"symbol": symbol, "condition": "price_above", "threshold": threshold});
        let created = node.operator.post("/alerts", &body).await;
        assert_eq!(created.status, 201, "{created}");
    }
    symbols.len()
}

#[tokio::test]
async fn reminders_fire_once_by_wrong_clocks_also_when_their_owner_is_killed() {
    let Some(libfaketime) = tools::find_libfaketime() else {
        return;
    };
    let mut cluster = start_cluster(libfaketime, "3s").await;
    let symbols = symbols(20);
    cluster.node(AHEAD).add_stocks(&symbols).await;
    let (of_ahead, of_behind) = (
        symbol_of(&cluster, &symbols, AHEAD).await,
        symbol_of(&cluster, &symbols, BEHIND).await,
    );
    // A second later by the clock that is ahead, eleven seconds later by the one that is behind.
    let due = now() + SKEW + SignedDuration::from_secs(1);
    let early = create_reminder(cluster.node(BEHIND), &of_ahead, due).await;
    let late = create_reminder(cluster.node(BEHIND), &of_behind, due).await;
    wait_for_firing(cluster.node(AHEAD), &early).await;
    // In most runs the other one has not fired yet, because its owner's clock is behind.
    cluster.take(BEHIND).kill().await;
    wait_for_firing(cluster.node(AHEAD), &late).await;
    cluster.wait_until_shared().await;
    cluster.assert_all_fired_once(2).await;
}

/// Returns a stock that a node owns.
async fn symbol_of(cluster: &TestCluster, symbols: &[String], node: &str) -> String {
    for symbol in symbols {
        if cluster.owner_of(symbol).await == node {
            return symbol.clone();
        }
    }
    panic!("{node} owns none of the stocks")
}

async fn create_reminder(node: &TestNode, symbol: &str, due: jiff::Timestamp) -> String {
    let parameters = json!({"date": due.to_string()});
    let body = json!({"symbol": symbol, "condition": "reminder", "threshold": 1, "parameters": parameters});
    node.operator.post("/alerts", &body).await.expect_ok(201).id()
}

async fn wait_for_firing(node: &TestNode, id: &str) {
    wait_for("the reminder has fired", || async {
        (node.firings_of(id).await > 0).then_some(())
    })
    .await;
}
