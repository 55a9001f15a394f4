//! The bus over core NATS.
//!
//! The client reconnects by itself. This module adds what it lacks:
//!
//! * It says that it is connected before its subscriptions are in force. Here a node is connected once a message has come back from the
//!   server ([`watcher`]), so that a node that reads its state again then misses no change.
//! * It queues messages that are published while it is not connected. Here they are refused. Only messages that were taken just before
//!   the loss was noticed, at most [`COMMAND_CAPACITY`], can be sent after it.
//! * It sends pings only while it receives nothing, so it does not notice that it no longer reaches a server whose messages arrive.
//!   Here it sends a message to itself twice a second, which must come back.
//! * It ignores user and password in URLs, and may try the lost server first ([`servers`]).

mod servers;
mod watcher;

use std::sync::Arc;
use std::time::Duration;

use async_nats::{Client, ConnectOptions, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::subject::{SubjectPattern, is_internal};
use crate::{BusError, Message, SUBSCRIPTION_CAPACITY};

pub use servers::{check_server_url, check_server_urls};

use servers::{Credentials, ServerRotation, Servers};
use watcher::{ConnectionWatcher, round_trip};

/// The time without data from the server after which the client sends a ping. It gives the connection up at the third unanswered one.
const PING_INTERVAL: Duration = Duration::from_millis(400);
/// The maximum time to connect to one address of a server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// The maximum number of messages and subscriptions that the connection has not yet taken.
const COMMAND_CAPACITY: usize = 1_024;

/// A node's connection to the servers. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct NatsNode(Arc<Connection>);

#[derive(Debug)]
struct Connection {
    client: Client,
    is_connected: watch::Receiver<bool>,
    watcher: AbortHandle,
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The watcher holds the client, which ends with its last clone.
        self.watcher.abort();
    }
}

impl NatsNode {
    pub(crate) async fn connect(urls: &[String], name: &str) -> Result<Self, BusError> {
        let servers = Servers::parse(urls)?;
        let rotation = Arc::new(ServerRotation::new(name));
        let (sender, is_connected) = watch::channel(false);
        let watcher = ConnectionWatcher::new(sender, Arc::clone(&rotation));
        let options = with_credentials(ConnectOptions::new(), servers.credentials)
            .name(name)
            .retry_on_initial_connect()
            // The settings name all servers. A server may announce addresses that only its neighbours can reach.
            .ignore_discovered_servers()
            .ping_interval(PING_INTERVAL)
            .connection_timeout(CONNECT_TIMEOUT)
            .client_capacity(COMMAND_CAPACITY)
            .subscription_capacity(SUBSCRIPTION_CAPACITY)
            .reconnect_to_server_callback(move |servers, _| {
                let next = rotation.next(&servers);
                async move { next }
            })
            .event_callback(watcher.on_event());
        // With retries, the client connects in the background, and only malformed addresses are an error.
        let client = options.connect(servers.addresses).await;
        let client = client.map_err(|_| BusError::InvalidServerUrl)?;
        let watcher = tokio::spawn(watcher.run(client.clone())).abort_handle();
        Ok(Self(Arc::new(Connection {
            client,
            is_connected,
            watcher,
        })))
    }

    pub(crate) async fn publish(&self, subject: &str, payload: Bytes) -> Result<(), BusError> {
        let Connection {
            client, is_connected, ..
        } = &*self.0;
        if !*is_connected.borrow() {
            return Err(BusError::Disconnected);
        }
        // A connection that is dead but not yet given up takes no more messages after a while.
        let disconnected = async {
            let _ = is_connected.clone().wait_for(|is_connected| !is_connected).await;
        };
        tokio::select! {
            biased;
            result = client.publish(subject.to_owned(), payload) => result.map_err(|_| BusError::Disconnected),
            () = disconnected => Err(BusError::Disconnected),
        }
    }

    pub(crate) async fn subscribe(&self, pattern: &SubjectPattern) -> Result<NatsSubscription, BusError> {
        let Connection {
            client, is_connected, ..
        } = &*self.0;
        let subscriber = client.subscribe(pattern.as_str().to_owned()).await;
        let subscriber = subscriber.map_err(|_| BusError::Disconnected)?;
        if *is_connected.borrow() {
            // Without an answer the connection is about to be given up. The next one has the subscription from the start.
            round_trip(client).await;
        }
        Ok(NatsSubscription {
            subscriber,
            _connection: self.clone(),
        })
    }

    pub(crate) fn connection(&self) -> watch::Receiver<bool> {
        self.0.is_connected.clone()
    }

    pub(crate) fn max_payload(&self) -> usize {
        self.0.client.max_payload()
    }
}

fn with_credentials(options: ConnectOptions, credentials: Option<Credentials>) -> ConnectOptions {
    match credentials {
        None => options,
        Some(Credentials::Token(token)) => options.token(token),
        Some(Credentials::Password { user, password }) => options.user_and_password(user, password),
    }
}

/// A subscription, which keeps the connection open.
#[derive(Debug)]
pub(crate) struct NatsSubscription {
    subscriber: Subscriber,
    _connection: NatsNode,
}

impl NatsSubscription {
    pub(crate) async fn next(&mut self) -> Option<Message> {
        loop {
            let message = self.subscriber.next().await?;
            // `>` also matches the messages that the watcher sends to itself.
            if !is_internal(&message.subject) {
                return Some(Message {
                    subject: message.subject.into_string(),
                    payload: message.payload,
                });
            }
        }
    }
}
