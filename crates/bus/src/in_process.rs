//! The bus within a process.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, watch};

use crate::subject::SubjectPattern;
use crate::{Bus, BusError, Message, Node, SUBSCRIPTION_CAPACITY, count_lost_message};

/// The maximum size of a payload: the default of NATS servers, so that a message that passes here passes there.
pub(crate) const MAX_PAYLOAD_BYTES: usize = 1_048_576;

/// Joins the buses of several nodes in one process. Tests cut nodes off and restore them. Clones are the same broker.
#[derive(Clone, Default, Debug)]
pub struct InProcessBroker(Arc<Subscribers>);

impl InProcessBroker {
    /// Creates the bus of a further node.
    #[must_use]
    pub fn node(&self) -> Bus {
        Bus::of(Node::InProcess(InProcessNode {
            subscribers: Arc::clone(&self.0),
            is_connected: Arc::new(watch::Sender::new(true)),
        }))
    }

    /// Cuts a node off: it can neither publish nor receive. Does nothing with a node of NATS.
    pub fn cut(&self, node: &Bus) {
        set_connected(node, false);
    }

    /// Connects a node again. Messages published in between are lost to it.
    pub fn restore(&self, node: &Bus) {
        set_connected(node, true);
    }
}

fn set_connected(bus: &Bus, is_connected: bool) {
    if let Node::InProcess(node) = &bus.node {
        node.is_connected.send_if_modified(|current| {
            let is_change = *current != is_connected;
            *current = is_connected;
            is_change
        });
    }
}

/// The subscriptions of all nodes.
#[derive(Default)]
struct Subscribers {
    routes: RwLock<Routes>,
    next_id: AtomicU64,
}

impl fmt::Debug for Subscribers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscribers").finish_non_exhaustive()
    }
}

/// Subscriptions by subject. Those with wildcards are compared one by one.
#[derive(Default)]
struct Routes {
    by_subject: HashMap<String, Vec<Subscriber>>,
    by_pattern: Vec<(SubjectPattern, Subscriber)>,
}

struct Subscriber {
    id: u64,
    sender: mpsc::Sender<Message>,
    is_connected: watch::Receiver<bool>,
}

impl Subscriber {
    fn send(&self, subject: &str, payload: &Bytes) {
        if !*self.is_connected.borrow() {
            return;
        }
        let message = Message {
            subject: subject.to_owned(),
            payload: payload.clone(),
        };
        if let Err(TrySendError::Full(_)) = self.sender.try_send(message) {
            count_lost_message();
        }
    }
}

/// A node's access to the broker.
#[derive(Clone, Debug)]
pub(crate) struct InProcessNode {
    subscribers: Arc<Subscribers>,
    is_connected: Arc<watch::Sender<bool>>,
}

impl InProcessNode {
    pub(crate) fn publish(&self, subject: &str, payload: &Bytes) -> Result<(), BusError> {
        if !*self.is_connected.borrow() {
            return Err(BusError::Disconnected);
        }
        let routes = self.subscribers.routes.read().unwrap_or_else(PoisonError::into_inner);
        for subscriber in routes.by_subject.get(subject).into_iter().flatten() {
            subscriber.send(subject, payload);
        }
        for (pattern, subscriber) in &routes.by_pattern {
            if pattern.matches(subject) {
                subscriber.send(subject, payload);
            }
        }
        Ok(())
    }

    pub(crate) fn subscribe(&self, pattern: SubjectPattern) -> InProcessSubscription {
        let (sender, receiver) = mpsc::channel(SUBSCRIPTION_CAPACITY);
        let id = self.subscribers.next_id.fetch_add(1, Ordering::Relaxed);
        let subscriber = Subscriber {
            id,
            sender,
            is_connected: self.is_connected.subscribe(),
        };
        let mut routes = self.subscribers.routes.write().unwrap_or_else(PoisonError::into_inner);
        if pattern.is_literal() {
            let subscribers = routes.by_subject.entry(pattern.as_str().to_owned());
            subscribers.or_default().push(subscriber);
        } else {
            routes.by_pattern.push((pattern.clone(), subscriber));
        }
        drop(routes);
        InProcessSubscription {
            receiver,
            id,
            pattern,
            subscribers: Arc::clone(&self.subscribers),
        }
    }

    pub(crate) fn connection(&self) -> watch::Receiver<bool> {
        self.is_connected.subscribe()
    }
}

/// A subscription, which removes itself from the broker.
#[derive(Debug)]
pub(crate) struct InProcessSubscription {
    receiver: mpsc::Receiver<Message>,
    id: u64,
    pattern: SubjectPattern,
    subscribers: Arc<Subscribers>,
}

impl InProcessSubscription {
    pub(crate) async fn next(&mut self) -> Option<Message> {
        self.receiver.recv().await
    }
}

impl Drop for InProcessSubscription {
    fn drop(&mut self) {
        let mut routes = self.subscribers.routes.write().unwrap_or_else(PoisonError::into_inner);
        routes.by_pattern.retain(|(_, subscriber)| subscriber.id != self.id);
        if let Some(subscribers) = routes.by_subject.get_mut(self.pattern.as_str()) {
            subscribers.retain(|subscriber| subscriber.id != self.id);
            if subscribers.is_empty() {
                routes.by_subject.remove(self.pattern.as_str());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn dropped_subscriptions_leave_nothing_behind() {
        let broker = InProcessBroker::default();
        let node = broker.node();
        let subscriptions = [
            node.subscribe("a").await,
            node.subscribe("a").await,
            node.subscribe("a.>").await,
        ];
        assert_eq!(broker.0.routes.read().unwrap().by_subject["a"].len(), 2);
        drop(subscriptions);
        let routes = broker.0.routes.read().unwrap();
        assert!(routes.by_subject.is_empty() && routes.by_pattern.is_empty());
    }
}
