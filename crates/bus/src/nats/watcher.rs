//! Watches the connection to the servers.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Client, Event};
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::servers::ServerRotation;
use crate::count_lost_message;

/// The interval of reading the client's state. Events are the usual way to notice a change, but the client drops some if there are many.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The interval of the messages to itself by which the client sees that it reaches the server.
const ROUND_TRIP_INTERVAL: Duration = Duration::from_millis(500);
/// The maximum time for a message to come back from the server.
const ROUND_TRIP_TIMEOUT: Duration = Duration::from_secs(1);

/// Keeps the value of [`crate::Bus::connection`].
pub(super) struct ConnectionWatcher {
    is_connected: watch::Sender<bool>,
    rotation: Arc<ServerRotation>,
    wake: Arc<Notify>,
}

/// The future of the client's event callback.
type EventFuture = Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

impl ConnectionWatcher {
    pub(super) fn new(is_connected: watch::Sender<bool>, rotation: Arc<ServerRotation>) -> Self {
        Self {
            is_connected,
            rotation,
            wake: Arc::default(),
        }
    }

    /// Returns the callback for the client's events.
    pub(super) fn on_event(&self) -> impl Fn(Event) -> EventFuture + Send + Sync + 'static {
        let wake = Arc::clone(&self.wake);
        move |event| {
            match event {
                Event::SlowConsumer(_) => count_lost_message(),
                Event::ServerError(error) => tracing::warn!(%error, "a NATS server reports an error"),
                Event::ClientError(error) => tracing::warn!(%error, "cannot connect to a NATS server; trying again"),
                _ => wake.notify_one(),
            }
            Box::pin(std::future::ready(()))
        }
    }

    /// Watches the client; never returns.
    pub(super) async fn run(self, client: Client) {
        let statistics = client.statistics();
        // The number of the connection whose subscriptions are in force.
        let mut confirmed = 0;
        let mut last_round_trip = Instant::now();
        loop {
            let connection = statistics.connects.load(Ordering::Relaxed);
            let is_current = || {
                let is_connected = client.connection_state() == State::Connected;
                is_connected && statistics.connects.load(Ordering::Relaxed) == connection
            };
            let is_new = connection != confirmed;
            if is_new || !is_current() {
                self.set(false);
            }
            if is_current() && (is_new || last_round_trip.elapsed() >= ROUND_TRIP_INTERVAL) {
                // The client subscribes again before it sends anything else.
                let is_returned = tokio::select! {
                    is_returned = round_trip(&client) => is_returned,
                    // The connection may be lost again already, and the message with it.
                    () = self.wake.notified() => continue,
                };
                last_round_trip = Instant::now();
                if !is_returned && is_current() {
                    confirmed = 0;
                    self.set(false);
                    self.give_up(&client).await;
                } else if is_returned && is_new && is_current() {
                    confirmed = connection;
                    self.rotation.found();
                    self.set(true);
                }
            }
            tokio::select! {
                () = self.wake.notified() => {}
                () = tokio::time::sleep(POLL_INTERVAL) => {}
            }
        }
    }

    /// Lets the client connect to another server.
    async fn give_up(&self, client: &Client) {
        tokio::select! {
            // Fails only if the client has ended. While its send buffer is full it takes no command, so it stays unconnected until the
            // buffer empties or the connection ends.
            _ = client.force_reconnect() => {}
            () = self.wake.notified() => {}
            () = tokio::time::sleep(ROUND_TRIP_INTERVAL) => {}
        }
    }

    fn set(&self, is_connected: bool) {
        let is_change = self.is_connected.send_if_modified(|current| {
            let is_change = *current != is_connected;
            *current = is_connected;
            is_change
        });
        match (is_change, is_connected) {
            (true, true) => tracing::info!("connected to NATS"),
            (true, false) => tracing::warn!("lost the connection to NATS"),
            (false, _) => {}
        }
    }
}

/// Waits until the server has processed everything that was sent before, subscriptions for example: a message of the client to itself
/// comes back. Returns `false` if it does not.
pub(super) async fn round_trip(client: &Client) -> bool {
    let exchange = async {
        let subject = client.new_inbox();
        let mut replies = client.subscribe(subject.clone()).await.ok()?;
        client.publish(subject, Bytes::new()).await.ok()?;
        replies.next().await
    };
    let exchange = tokio::time::timeout(ROUND_TRIP_TIMEOUT, exchange).await;
    exchange.is_ok_and(|reply| reply.is_some())
}
