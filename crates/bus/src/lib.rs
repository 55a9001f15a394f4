//! # Bus: messages between the nodes of a cluster
//!
//! A message has a subject and a payload, and goes to every subscription of every node that matches the subject, also to those of the
//! node that has published it. Messages may be lost: while a node is not connected, and when a subscriber is too slow. So they carry only
//! data that can be fetched again, and receivers must notice that they have missed some.
//!
//! * [`Bus::in_process`]: for a single process. [`InProcessBroker`] joins several buses in one process, for tests.
//! * [`Bus::connect_nats`]: core NATS, without `JetStream`.
//!
//! Messages of one publisher arrive in the order in which it has published them, also over several subjects of one subscription. There is
//! no order between publishers.
//!
//! ```
//! # tokio_test(async {
//! let bus = bus::Bus::in_process();
//! let mut bars = bus.subscribe("market.bars.*").await?;
//! bus.publish("market.bars.AAPL", "2026-03-02".into()).await?;
//! let message = bars.next().await.ok_or("closed")?;
//! assert_eq!((message.subject.as_str(), &message.payload[..]), ("market.bars.AAPL", &b"2026-03-02"[..]));
//! # Ok(())
//! # });
//! # fn tokio_test(test: impl Future<Output = Result<(), Box<dyn std::error::Error>>>) {
//! #     tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test).unwrap();
//! # }
//! ```

mod error;
mod in_process;
mod nats;
mod subject;

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::watch;

pub use error::BusError;
pub use in_process::InProcessBroker;
pub use nats::{check_server_url, check_server_urls};

use in_process::{InProcessNode, InProcessSubscription};
use nats::{NatsNode, NatsSubscription};
use subject::{SubjectPattern, check_subject};

/// The maximum number of messages that wait for a slow subscriber. Further ones are lost.
const SUBSCRIPTION_CAPACITY: usize = 65_536;

/// A message that a subscription has received.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// The subject, without wildcards and without the name of a group.
    pub subject: String,
    /// The payload.
    pub payload: Bytes,
}

/// A node's access to the bus. Clones are the same node.
#[derive(Clone, Debug)]
pub struct Bus {
    node: Node,
    /// The beginning of all subjects.
    prefix: Arc<str>,
}

#[derive(Clone, Debug)]
enum Node {
    InProcess(InProcessNode),
    Nats(NatsNode),
}

impl Bus {
    /// Creates a bus for this process alone. It is always connected.
    #[must_use]
    pub fn in_process() -> Self {
        InProcessBroker::default().node()
    }

    /// Creates a bus over the NATS servers with these `urls`, for example `nats://user:password@10.0.0.7:4222`. The servers list
    /// the connection under `name`. Requires a Tokio runtime.
    ///
    /// Connects in the background, without a limit of attempts, and again whenever the connection is lost. Then it tries the other
    /// servers first. Subscriptions are kept.
    ///
    /// # Errors
    /// [`BusError::NoServers`], [`BusError::InvalidServerUrl`] or [`BusError::DifferentCredentials`]. Servers that cannot be reached are
    /// no error, see [`connection`](Self::connection).
    pub async fn connect_nats(urls: &[String], name: &str) -> Result<Self, BusError> {
        Ok(Self::of(Node::Nats(NatsNode::connect(urls, name).await?)))
    }

    fn of(node: Node) -> Self {
        Self {
            node,
            prefix: Arc::default(),
        }
    }

    /// Returns the bus of one of several groups of nodes that use the same servers. The nodes of a group have the same name for it, one
    /// word, and get no messages of the others.
    ///
    /// # Errors
    /// [`BusError::InvalidSubject`] if the name cannot be a word of a subject.
    pub fn of_group(self, name: &str) -> Result<Self, BusError> {
        check_subject(name)?;
        Ok(Self {
            prefix: format!("{}{name}.", self.prefix).into(),
            ..self
        })
    }

    /// Sends a message. Success does not mean that a subscriber gets it.
    ///
    /// # Errors
    /// [`BusError::Disconnected`] at once while the node is not connected: nothing is queued. [`BusError::PayloadTooLarge`] and
    /// [`BusError::InvalidSubject`] for messages that cannot be sent at all.
    pub async fn publish(&self, subject: &str, payload: Bytes) -> Result<(), BusError> {
        let subject = &format!("{}{subject}", self.prefix);
        check_subject(subject)?;
        let (size, max) = (payload.len(), self.max_payload());
        if size > max {
            return Err(BusError::PayloadTooLarge { size, max });
        }
        match &self.node {
            Node::InProcess(node) => node.publish(subject, &payload),
            Node::Nats(node) => node.publish(subject, payload).await,
        }
    }

    /// Subscribes to a subject, which may have wildcards: `*` for one word, `>` at the end for one or more.
    ///
    /// When it returns and the node is connected, the subscription is in force at the node's server; other servers of a cluster learn of
    /// it shortly afterwards. Otherwise it is in force as soon as [`connection`](Self::connection) says so.
    ///
    /// # Errors
    /// [`BusError::InvalidSubject`].
    pub async fn subscribe(&self, subject: &str) -> Result<BusSubscription, BusError> {
        let pattern = SubjectPattern::new(&format!("{}{subject}", self.prefix))?;
        let subscription = match &self.node {
            Node::InProcess(node) => NodeSubscription::InProcess(node.subscribe(pattern)),
            Node::Nats(node) => NodeSubscription::Nats(node.subscribe(&pattern).await?),
        };
        Ok(BusSubscription {
            subscription,
            prefix: Arc::clone(&self.prefix),
        })
    }

    /// Returns whether the node is connected and its subscriptions are in force, as a value to watch. Each loss of the connection is a
    /// change, however short. A dead connection is noticed within two seconds.
    #[must_use]
    pub fn connection(&self) -> watch::Receiver<bool> {
        match &self.node {
            Node::InProcess(node) => node.connection(),
            Node::Nats(node) => node.connection(),
        }
    }

    /// Returns the maximum size of a payload in bytes. With NATS it is that of the current server, 1 MiB by default.
    #[must_use]
    pub fn max_payload(&self) -> usize {
        match &self.node {
            Node::InProcess(_) => in_process::MAX_PAYLOAD_BYTES,
            Node::Nats(node) => node.max_payload(),
        }
    }
}

/// A subscription, until it is dropped.
///
/// It holds a limited number of messages that are not yet taken. If it is full, further ones are lost, and the metric
/// `bellwether_bus_lost_total` counts them.
#[derive(Debug)]
pub struct BusSubscription {
    subscription: NodeSubscription,
    prefix: Arc<str>,
}

#[derive(Debug)]
enum NodeSubscription {
    InProcess(InProcessSubscription),
    Nats(NatsSubscription),
}

impl BusSubscription {
    /// Waits for the next message. Loses none if it is cancelled. Returns `None` if the bus is closed, when the runtime shuts down.
    pub async fn next(&mut self) -> Option<Message> {
        let mut message = match &mut self.subscription {
            NodeSubscription::InProcess(subscription) => subscription.next().await,
            NodeSubscription::Nats(subscription) => subscription.next().await,
        }?;
        message.subject.drain(..self.prefix.len());
        Some(message)
    }
}

/// Counts a message that a slow subscriber has lost.
fn count_lost_message() {
    metrics::counter!("bellwether_bus_lost_total").increment(1);
    tracing::warn!("a subscriber of the message bus is too slow and has lost a message");
}
