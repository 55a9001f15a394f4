//! Connections that are kept for the next delivery.
//!
//! A connection is judged when it is made, and it goes on to lead to the address that was judged. It is kept by scheme, host
//! and port, as the name on the certificate is.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::SendRequest;
use jiff::{SignedDuration, Timestamp};
use tokio::task::AbortHandle;

use super::read_budget::ReadBudget;
use crate::address::{Host, Target};

/// Servers close what is idle; some do so without a word.
const KEPT_FOR: SignedDuration = SignedDuration::from_secs(30);
/// So many connections are kept to one receiver, as many as the dispatcher makes attempts at one host at once ...
const KEPT_EACH: usize = 32;
/// ... and so many in all.
const KEPT_IN_ALL: usize = 256;

/// Whom a connection leads to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Peer {
    host: Host,
    port: u16,
    https: bool,
}

impl Peer {
    pub(super) fn of(target: &Target) -> Self {
        Self {
            host: target.host().clone(),
            port: target.port(),
            https: target.is_https(),
        }
    }
}

/// A connection. Dropped, it is closed, whatever is still under way on it.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) sender: SendRequest<Full<Bytes>>,
    pub(super) budget: Arc<ReadBudget>,
    task: AbortHandle,
}

impl Connection {
    pub(super) fn new(sender: SendRequest<Full<Bytes>>, task: AbortHandle, budget: Arc<ReadBudget>) -> Self {
        Self { sender, budget, task }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What is kept.
#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    idle: HashMap<Peer, VecDeque<(Timestamp, Connection)>>,
    count: usize,
    swept_at: Timestamp,
}

impl Pool {
    /// A connection to a receiver, the one that was used last.
    pub(super) fn take(&self, peer: &Peer, now: Timestamp) -> Option<Connection> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = &mut *kept;
        let idle = kept.idle.get_mut(peer)?;
        let mut found = None;
        while let Some((since, connection)) = idle.pop_back() {
            kept.count -= 1;
            if !connection.sender.is_closed() && now.duration_since(since) < KEPT_FOR {
                found = Some(connection);
                break;
            }
        }
        if idle.is_empty() {
            kept.idle.remove(peer);
        }
        found
    }

    /// Keeps a connection whose answer was read to its end, unless there are enough.
    pub(super) fn keep(&self, peer: Peer, connection: Connection, now: Timestamp) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = &mut *kept;
        if kept.count >= KEPT_IN_ALL || now.duration_since(kept.swept_at) >= KEPT_FOR {
            kept.sweep(now);
        }
        if kept.count >= KEPT_IN_ALL || connection.sender.is_closed() {
            return;
        }
        let idle = kept.idle.entry(peer).or_default();
        if idle.len() < KEPT_EACH {
            idle.push_back((now, connection));
            kept.count += 1;
        }
    }
}

impl Kept {
    fn sweep(&mut self, now: Timestamp) {
        self.idle.retain(|_, idle| {
            idle.retain(|(since, connection)| !connection.sender.is_closed() && now.duration_since(*since) < KEPT_FOR);
            !idle.is_empty()
        });
        self.count = self.idle.values().map(VecDeque::len).sum();
        self.swept_at = now;
    }
}
