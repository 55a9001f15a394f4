use acceptance::{Cut, Relay};
use serde_json::json;

use super::harness::{NodeRelays, TestCluster, quotes, symbols, wait_until};

#[tokio::test]
async fn alerts_of_an_evaluator_that_is_cut_off_from_the_database_fire_once_and_it_comes_back() {
    cut_an_evaluator_off(|relays| &relays.to_database, Cut::BothWays).await;
}

#[tokio::test]
async fn alerts_of_an_evaluator_that_does_not_reach_the_database_fire_once_and_it_comes_back() {
    cut_an_evaluator_off(|relays| &relays.to_database, Cut::ToServer).await;
}

#[tokio::test]
async fn alerts_of_an_evaluator_that_gets_no_answer_from_the_database_fire_once_and_it_comes_back() {
    cut_an_evaluator_off(|relays| &relays.to_database, Cut::FromServer).await;
}

#[tokio::test]
async fn alerts_of_an_evaluator_that_is_cut_off_from_nats_fire_once_and_it_comes_back() {
    cut_an_evaluator_off(|relays| &relays.to_nats, Cut::BothWays).await;
}

#[tokio::test]
async fn alerts_of_an_evaluator_that_does_not_reach_nats_fire_once_and_it_comes_back() {
    cut_an_evaluator_off(|relays| &relays.to_nats, Cut::ToServer).await;
}

#[tokio::test]
async fn alerts_of_an_evaluator_that_receives_nothing_from_nats_fire_once_and_it_comes_back() {
    cut_an_evaluator_off(|relays| &relays.to_nats, Cut::FromServer).await;
}

/// Cuts one connection of one of two evaluators while a push fires alerts on the stocks of both.
async fn cut_an_evaluator_off(connection: impl FnOnce(&NodeRelays) -> &Relay, cut: Cut) {
    let mut cluster = TestCluster::start(&["api", "evaluator"]).await;
    let relays = cluster.add_behind_relays("node-2", "evaluator").await;
    cluster.wait_until_each_owns_its_share().await;
    let (api, cut_off) = (cluster.first(), cluster.node("node-2"));
    let symbols = symbols(40);
    let alerts = api.add_stocks_with_alerts(&symbols).await;
    let connection = connection(&relays);
    connection.set_cut(Some(cut));
    let rise = json!({"quotes": quotes(&symbols, 111.0)});
    tokio::join!(cut_off.wait_until_not_ready(), api.ingest_until_accepted(&rise));
    api.assert_fired_once(&alerts).await;
    // The alerts are active again when the node returns, so that it would fire them with what it has received before.
    api.ingest_until_accepted(&json!({"quotes": quotes(&symbols, 100.0)}))
        .await;
    api.activate(&alerts).await;
    connection.set_cut(None);
    cut_off.wait_until_ready().await;
    cluster.wait_until_each_owns_its_share().await;
    cluster.assert_all_fired_once(alerts.len()).await;
    api.ingest_until_accepted(&json!({"quotes": quotes(&symbols, 112.0)}))
        .await;
    for id in &alerts {
        wait_until("the alert has fired again", || async { api.firings_of(id).await == 2 }).await;
    }
}
