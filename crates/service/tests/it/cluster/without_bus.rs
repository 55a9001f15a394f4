//! A cluster that has lost its bus: NATS is gone altogether.

use alerts::Status;
use clock::Clock;
use foundation::ServiceError;
use jiff::SignedDuration;
use serde_json::json;
use testkit::eventually;

use super::fixture::{NodeSetup, TestCluster};
use crate::support::above;

const TWO_NODES: [NodeSetup; 2] = [NodeSetup::ALL_ROLES, NodeSetup::ALL_ROLES];

#[tokio::test(flavor = "multi_thread")]
async fn nodes_are_not_ready_until_the_bus_is_back() {
    let cluster = TestCluster::start(&TWO_NODES).await;
    for node in &cluster.nodes {
        eventually("the node is ready", async || node.service.ready().await.is_ok()).await;
    }
    cluster.cut_all();
    for node in &cluster.nodes {
        let error = node.service.ready().await.unwrap_err();
        let ServiceError::Unavailable(reason) = error else {
            panic!("{error}")
        };
        assert_eq!(reason, "no NATS server answers, so this node receives no market data");
    }
    cluster.restore_all();
    for node in &cluster.nodes {
        eventually("the node is ready", async || node.service.ready().await.is_ok()).await;
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reminders_fire_without_the_bus_and_new_alerts_when_it_is_back() {
    let cluster = TestCluster::start(&TWO_NODES).await;
    let mut reminders = Vec::new();
    let mut stocks = Vec::new();
    for owner in 0..2 {
        let stock = cluster.stock_owned_by(owner).await;
        cluster.push_price(0, stock, 198.0).await;
        stocks.push(stock);
        let due = cluster.nodes[0]
            .clock
            .now()
            .saturating_add(SignedDuration::from_mins(2))
            .unwrap();
        let body = json!({"symbol": stock, "condition": "reminder", "parameters": {"date": due.to_string()}});
        reminders.push(cluster.create(0, body).await);
    }
    cluster.cut_all();
    let mut created = Vec::new();
    for stock in &stocks {
        created.push(cluster.create(0, above(stock, 150.0)).await);
    }
    for reminder in &reminders {
        cluster
            .clocks
            .fast_until("the reminder fires without the bus", async || {
                cluster.status(*reminder).await == Status::Triggered
            })
            .await;
    }
    for alert in &created {
        assert_eq!(cluster.status(*alert).await, Status::Active, "prices may be missing");
    }
    cluster.restore_all();
    for alert in &created {
        cluster.fires(*alert).await;
    }
    let events = cluster.nodes[0].events(&cluster.ann).await;
    assert_eq!(events.len(), reminders.len() + created.len());
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn push_is_refused_without_the_bus_and_judged_when_it_is_sent_again() {
    let cluster = TestCluster::start(&TWO_NODES).await;
    let stock = cluster.stock_owned_by(1).await;
    cluster.push_price(0, stock, 198.0).await;
    let id = cluster.create(0, above(stock, 199.0)).await;
    cluster.cut_all();
    let (node, body) = (&cluster.nodes[0], json!({"quotes": [{"symbol": stock, "price": 200}]}));
    let refused = node
        .service
        .market
        .ingest_json(node.operator(), &body)
        .await
        .unwrap_err();
    assert!(matches!(refused, ServiceError::Unavailable(_)), "{refused}");
    assert_eq!(cluster.status(id).await, Status::Active);
    cluster.restore_all();
    cluster.push_price(0, stock, 200.0).await;
    assert_eq!(cluster.status(id).await, Status::Triggered);
    assert_eq!(node.events(&cluster.ann).await.len(), 1);
    cluster.stop().await;
}
