//! The state of the connection.

use std::slice;
use std::time::Duration;

use bus::{Bus, BusError, InProcessBroker};
use testkit::nats::NatsServer;
use testkit::{HANG_LIMIT, RefusingPort};
use tokio::time::{Instant, timeout};

use crate::stub_server::StubServer;
use crate::support::{connect, next_text, until_connected, until_disconnected};

/// The time within which a node must know that it has lost its server.
const NOTICE_LIMIT: Duration = Duration::from_secs(2);

#[tokio::test]
async fn node_connects_once_the_server_starts() {
    let mut server = NatsServer::start().await;
    server.kill();
    let bus = connect(&[&server], "node").await;
    let mut subscription = bus.subscribe("a").await.unwrap();
    assert!(!*bus.connection().borrow());
    assert_eq!(bus.publish("a", "1".into()).await, Err(BusError::Disconnected));
    server.restart().await;
    until_connected(&bus).await;
    bus.publish("a", "2".into()).await.unwrap();
    assert_eq!(next_text(&mut subscription).await, "a 2");
}

#[tokio::test]
async fn killed_server_is_noticed_within_two_seconds() {
    let mut server = NatsServer::start().await;
    let bus = connect(&[&server], "node").await;
    until_connected(&bus).await;
    let start = Instant::now();
    server.kill();
    until_disconnected(&bus).await;
    let (noticed, restarting) = (start.elapsed(), Instant::now());
    assert!(noticed < NOTICE_LIMIT, "noticed after {noticed:?}");
    server.restart().await;
    until_connected(&bus).await;
    let connected = restarting.elapsed();
    assert!(connected < NOTICE_LIMIT, "connected again after {connected:?}");
}

#[tokio::test]
async fn silent_server_is_noticed_within_two_seconds() {
    let server = NatsServer::start().await;
    let bus = connect(&[&server], "node").await;
    until_connected(&bus).await;
    let start = Instant::now();
    server.pause();
    // A publisher that fills all buffers meanwhile is not stuck.
    let publishing = async { while bus.publish("a", vec![7; 100_000].into()).await.is_ok() {} };
    timeout(HANG_LIMIT, publishing).await.unwrap();
    let noticed = start.elapsed();
    assert!(noticed < NOTICE_LIMIT, "noticed after {noticed:?}");
    assert!(!*bus.connection().borrow());
    server.resume();
    until_connected(&bus).await;
}

#[tokio::test]
async fn idle_connection_stays_while_the_server_answers_pings() {
    let mut server = StubServer::start().await;
    let bus = Bus::connect_nats(slice::from_ref(&server.url), "node").await.unwrap();
    until_connected(&bus).await;
    let mut connection = bus.connection();
    connection.mark_unchanged();
    // More pings than the client sends to a silent server, and the one of the handshake.
    let pings = server.answered.wait_for(|count| *count > 5);
    timeout(HANG_LIMIT, pings).await.unwrap().unwrap();
    assert!(!connection.has_changed().unwrap() && *connection.borrow());
}

#[tokio::test]
async fn server_that_sends_but_reads_nothing_is_noticed_within_two_seconds() {
    let server = StubServer::start().await;
    let bus = Bus::connect_nats(slice::from_ref(&server.url), "node").await.unwrap();
    until_connected(&bus).await;
    let start = Instant::now();
    server.stop_reading();
    until_disconnected(&bus).await;
    let noticed = start.elapsed();
    assert!(noticed < NOTICE_LIMIT, "noticed after {noticed:?}");
    until_connected(&bus).await;
}

#[tokio::test]
async fn each_loss_is_a_change_of_the_connection() {
    let mut server = NatsServer::start().await;
    let bus = connect(&[&server], "node").await;
    until_connected(&bus).await;
    let mut connection = bus.connection();
    connection.mark_unchanged();
    server.restart().await;
    timeout(HANG_LIMIT, connection.changed()).await.unwrap().unwrap();
    until_connected(&bus).await;
}

#[tokio::test]
async fn last_handle_closes_the_connection() {
    let server = NatsServer::start().await;
    let (bus, other) = (connect(&[&server], "node").await, connect(&[&server], "other").await);
    until_connected(&bus).await;
    let mut subscription = bus.subscribe("a").await.unwrap();
    let mut connection = bus.connection();
    drop(bus);
    // A subscription is a handle too.
    until_connected(&other).await;
    other.publish("a", "1".into()).await.unwrap();
    assert_eq!(next_text(&mut subscription).await, "a 1");
    drop(subscription);
    let closed = async { while connection.changed().await.is_ok() {} };
    timeout(HANG_LIMIT, closed).await.unwrap();
}

#[tokio::test]
async fn malformed_and_missing_urls_are_refused() {
    let connect = async |urls: &[&str]| {
        let urls: Vec<_> = urls.iter().map(|&url| url.to_owned()).collect();
        Bus::connect_nats(&urls, "node").await.unwrap_err()
    };
    assert_eq!(connect(&["http://127.0.0.1:4222"]).await, BusError::InvalidServerUrl);
    assert_eq!(connect(&[]).await, BusError::NoServers);
    let secret = connect(&["nats://u:hunter2@"]).await.to_string();
    assert!(!secret.contains("hunter2"), "{secret}");
}

#[tokio::test]
async fn server_that_refuses_connections_is_no_error() {
    let port = RefusingPort::bind();
    let urls = [format!("nats://{}", port.address())];
    let bus = Bus::connect_nats(&urls, "node").await.unwrap();
    assert_eq!(bus.publish("a", "1".into()).await, Err(BusError::Disconnected));
}

#[tokio::test]
async fn cut_node_neither_publishes_nor_receives() {
    let broker = InProcessBroker::default();
    let [cut, other] = [broker.node(), broker.node()];
    let mut of_cut = cut.subscribe("a").await.unwrap();
    let mut of_other = other.subscribe("a").await.unwrap();
    broker.cut(&cut);
    assert!(!*cut.connection().borrow() && *other.connection().borrow());
    assert_eq!(cut.publish("a", "1".into()).await, Err(BusError::Disconnected));
    other.publish("a", "2".into()).await.unwrap();
    assert_eq!(next_text(&mut of_other).await, "a 2");
    broker.restore(&cut);
    other.publish("a", "3".into()).await.unwrap();
    assert_eq!(next_text(&mut of_cut).await, "a 3");
}
