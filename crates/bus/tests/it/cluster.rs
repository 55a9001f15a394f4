//! Several NATS servers.

use std::time::Duration;

use bus::{Bus, BusSubscription};
use testkit::eventually;
use testkit::nats::NatsServer;
use tokio::time::Instant;

use crate::support::{connect, until_connected, until_disconnected};

/// The maximum time that the loss of a server may cost.
const LOSS_LIMIT: Duration = Duration::from_secs(2);

/// Waits until messages of `from` arrive, wherever the nodes are connected.
async fn until_it_arrives(from: &Bus, to: &mut BusSubscription) {
    eventually("a message arrives", async || {
        let _ = from.publish("a", "1".into()).await;
        tokio::time::timeout(Duration::from_millis(10), to.next()).await.is_ok()
    })
    .await;
}

#[tokio::test]
async fn messages_pass_from_server_to_server() {
    let servers = NatsServer::start_cluster(2).await;
    let [first, second] = [
        connect(&[&servers[0]], "first").await,
        connect(&[&servers[1]], "second").await,
    ];
    let mut subscription = second.subscribe("a").await.unwrap();
    until_it_arrives(&first, &mut subscription).await;
}

#[tokio::test]
async fn node_moves_to_the_other_server_when_its_own_is_killed() {
    let mut servers = NatsServer::start_cluster(2).await;
    let bus = connect(&[&servers[0], &servers[1]], "node").await;
    let mut subscription = bus.subscribe("a").await.unwrap();
    // Whichever server the node uses, it loses it in one of the rounds.
    for lost in [0, 1, 0] {
        until_connected(&bus).await;
        until_it_arrives(&bus, &mut subscription).await;
        let start = Instant::now();
        servers[lost].kill();
        until_it_arrives(&bus, &mut subscription).await;
        let moved = start.elapsed();
        assert!(moved < LOSS_LIMIT, "moved after {moved:?}");
        servers[lost].restart().await;
    }
}

#[tokio::test]
async fn node_moves_to_the_other_server_when_its_own_is_silent() {
    let servers = NatsServer::start_cluster(2).await;
    let bus = connect(&[&servers[0], &servers[1]], "node").await;
    let mut subscription = bus.subscribe("a").await.unwrap();
    for silent in &servers {
        until_connected(&bus).await;
        let start = Instant::now();
        silent.pause();
        // A message that arrives shows that the node uses the other server.
        until_it_arrives(&bus, &mut subscription).await;
        let moved = start.elapsed();
        assert!(moved < LOSS_LIMIT, "moved after {moved:?}");
        silent.resume();
    }
}

#[tokio::test]
async fn node_without_any_server_returns_to_the_first_that_starts() {
    let mut servers = NatsServer::start_cluster(2).await;
    let bus = connect(&[&servers[0], &servers[1]], "node").await;
    let mut subscription = bus.subscribe("a").await.unwrap();
    until_connected(&bus).await;
    for server in &mut servers {
        server.kill();
    }
    until_disconnected(&bus).await;
    servers[1].restart().await;
    let start = Instant::now();
    until_it_arrives(&bus, &mut subscription).await;
    let returned = start.elapsed();
    assert!(returned < LOSS_LIMIT, "returned after {returned:?}");
}
