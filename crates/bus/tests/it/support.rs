//! Two nodes on a bus, and waits for their states.

use bus::{Bus, BusSubscription, InProcessBroker, Message};
use testkit::HANG_LIMIT;
use testkit::nats::NatsServer;
use tokio::time::timeout;

/// Two nodes on one bus.
pub(crate) struct TwoNodes {
    pub(crate) first: Bus,
    pub(crate) second: Bus,
    transport: Transport,
}

enum Transport {
    InProcess(InProcessBroker),
    Nats(NatsServer),
}

impl TwoNodes {
    pub(crate) fn in_process() -> Self {
        let broker = InProcessBroker::default();
        Self {
            first: broker.node(),
            second: broker.node(),
            transport: Transport::InProcess(broker),
        }
    }

    pub(crate) async fn nats() -> Self {
        let server = NatsServer::start().await;
        let (first, second) = (connect(&[&server], "first").await, connect(&[&server], "second").await);
        until_connected(&first).await;
        until_connected(&second).await;
        Self {
            first,
            second,
            transport: Transport::Nats(server),
        }
    }

    /// Cuts both nodes off, and waits until they know it.
    pub(crate) async fn cut(&mut self) {
        match &mut self.transport {
            Transport::InProcess(broker) => {
                broker.cut(&self.first);
                broker.cut(&self.second);
            }
            Transport::Nats(server) => server.kill(),
        }
        until_disconnected(&self.first).await;
        until_disconnected(&self.second).await;
    }

    /// Connects both nodes again.
    pub(crate) async fn restore(&mut self) {
        match &mut self.transport {
            Transport::InProcess(broker) => {
                broker.restore(&self.first);
                broker.restore(&self.second);
            }
            Transport::Nats(server) => server.restart().await,
        }
        until_connected(&self.first).await;
        until_connected(&self.second).await;
    }
}

/// Turns each function into one test per transport.
macro_rules! on_both_transports {
    ($(async fn $name:ident($nodes:ident: &mut TwoNodes) $body:block)*) => {$(
        mod $name {
            use super::*;

            async fn test($nodes: &mut TwoNodes) $body

            #[tokio::test]
            async fn in_process() {
                test(&mut TwoNodes::in_process()).await;
            }

            #[tokio::test]
            async fn over_nats() {
                test(&mut TwoNodes::nats().await).await;
            }
        }
    )*};
}

pub(crate) async fn connect(servers: &[&NatsServer], name: &str) -> Bus {
    let urls: Vec<_> = servers.iter().map(|server| server.url()).collect();
    Bus::connect_nats(&urls, name).await.unwrap()
}

pub(crate) async fn until_connected(bus: &Bus) {
    until(bus, true).await;
}

pub(crate) async fn until_disconnected(bus: &Bus) {
    until(bus, false).await;
}

async fn until(bus: &Bus, expected: bool) {
    let mut connection = bus.connection();
    let change = connection.wait_for(|is_connected| *is_connected == expected);
    timeout(HANG_LIMIT, change).await.unwrap().unwrap();
}

pub(crate) async fn next(subscription: &mut BusSubscription) -> Message {
    timeout(HANG_LIMIT, subscription.next()).await.unwrap().unwrap()
}

/// The next message as `subject payload`.
pub(crate) async fn next_text(subscription: &mut BusSubscription) -> String {
    let message = next(subscription).await;
    format!("{} {}", message.subject, String::from_utf8_lossy(&message.payload))
}
