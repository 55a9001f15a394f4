//! Servers that require a user or a token.

use bus::{Bus, BusError};
use testkit::nats::NatsServer;

use crate::support::{next_text, until_connected};

async fn connect(server: &NatsServer, user_info: &str) -> Bus {
    let url = server.url().replace("nats://", &format!("nats://{user_info}"));
    Bus::connect_nats(&[url], "node").await.unwrap()
}

async fn assert_works(bus: &Bus) {
    until_connected(bus).await;
    let mut subscription = bus.subscribe("a").await.unwrap();
    bus.publish("a", "1".into()).await.unwrap();
    assert_eq!(next_text(&mut subscription).await, "a 1");
}

#[tokio::test]
async fn user_and_password_of_the_url_are_sent() {
    let server = NatsServer::start_with(&["--user", "bw", "--pass", "open@sesame"]).await;
    assert_works(&connect(&server, "bw:open%40sesame@").await).await;
}

#[tokio::test]
async fn token_of_the_url_is_sent() {
    let server = NatsServer::start_with(&["--auth", "sesame"]).await;
    assert_works(&connect(&server, "sesame@").await).await;
}

#[tokio::test]
async fn wrong_password_does_not_connect() {
    let server = NatsServer::start_with(&["--user", "bw", "--pass", "sesame"]).await;
    let [wrong, right] = [
        connect(&server, "bw:wrong@").await,
        connect(&server, "bw:sesame@").await,
    ];
    until_connected(&right).await;
    assert!(!*wrong.connection().borrow());
    assert_eq!(wrong.publish("a", "1".into()).await, Err(BusError::Disconnected));
}
