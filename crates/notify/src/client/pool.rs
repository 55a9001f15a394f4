//! A pool of idle connections.
//!
//! The IP address is checked when a connection is made, and the connection keeps that address. The key of the pool is scheme, host and
//! port, because the certificate was verified for that host.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::SendRequest;
use jiff::{SignedDuration, Timestamp};
use tokio::task::AbortHandle;

use super::read_budget::ReadBudget;
use crate::address::{Host, TargetUrl};

/// Maximum idle time. Servers close idle connections, some without notice.
const IDLE_TIMEOUT: SignedDuration = SignedDuration::from_secs(30);
/// Maximum number of idle connections per receiver: as many as the dispatcher makes concurrent attempts at one host.
const MAX_IDLE_PER_PEER: usize = 32;
/// Maximum number of idle connections in total.
const MAX_IDLE_CONNECTIONS: usize = 256;

/// The receiver at the other end of a connection.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Peer {
    host: Host,
    port: u16,
    https: bool,
}

impl Peer {
    pub(super) fn of(target: &TargetUrl) -> Self {
        Self {
            host: target.host().clone(),
            port: target.port(),
            https: target.is_https(),
        }
    }
}

/// A connection. It is closed on drop, even during a request.
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

/// The pool.
#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<IdleConnections>);

#[derive(Debug, Default)]
struct IdleConnections {
    idle: HashMap<Peer, VecDeque<(Timestamp, Connection)>>,
    count: usize,
    swept_at: Timestamp,
}

impl Pool {
    /// Takes the most recently used connection to a receiver.
    pub(super) fn take(&self, peer: &Peer, now: Timestamp) -> Option<Connection> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = &mut *kept;
        let idle = kept.idle.get_mut(peer)?;
        let mut found = None;
        while let Some((since, connection)) = idle.pop_back() {
            kept.count -= 1;
            if !connection.sender.is_closed() && now.duration_since(since) < IDLE_TIMEOUT {
                found = Some(connection);
                break;
            }
        }
        if idle.is_empty() {
            kept.idle.remove(peer);
        }
        found
    }

    /// Keeps a connection whose response was read completely, unless the pool is full.
    pub(super) fn keep(&self, peer: Peer, connection: Connection, now: Timestamp) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = &mut *kept;
        if kept.count >= MAX_IDLE_CONNECTIONS || now.duration_since(kept.swept_at) >= IDLE_TIMEOUT {
            kept.sweep(now);
        }
        if kept.count >= MAX_IDLE_CONNECTIONS || connection.sender.is_closed() {
            return;
        }
        let idle = kept.idle.entry(peer).or_default();
        if idle.len() < MAX_IDLE_PER_PEER {
            idle.push_back((now, connection));
            kept.count += 1;
        }
    }
}

impl IdleConnections {
    fn sweep(&mut self, now: Timestamp) {
        self.idle.retain(|_, idle| {
            idle.retain(|(since, connection)| {
                !connection.sender.is_closed() && now.duration_since(*since) < IDLE_TIMEOUT
            });
            !idle.is_empty()
        });
        self.count = self.idle.values().map(VecDeque::len).sum();
        self.swept_at = now;
    }
}
