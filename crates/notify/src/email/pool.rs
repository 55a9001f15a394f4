//! A pool of idle SMTP connections.
//!
//! Only connections without a pending command are kept. A connection is closed on drop, even during a command: a server discards a
//! message without its last line.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use lettre::transport::smtp::client::AsyncSmtpConnection;

/// Maximum idle time. Most servers close idle connections after some minutes.
const IDLE_TIMEOUT: SignedDuration = SignedDuration::from_secs(60);
/// Maximum number of idle connections.
const MAX_IDLE_CONNECTIONS: usize = 8;
/// Maximum number of messages per connection. Many servers close a connection after a hundred messages.
const MAX_MESSAGES_PER_CONNECTION: u32 = 100;

/// A connection to the server, ready for a message.
pub(super) struct Connection {
    pub(super) smtp: AsyncSmtpConnection,
    /// Number of messages started on it.
    pub(super) messages: u32,
    /// Whether the last message was rejected, so that an RSET command is needed before the next one.
    pub(super) needs_reset: bool,
}

/// The idle connections, the most recently used one at the end.
#[derive(Default)]
pub(super) struct Pool(Mutex<VecDeque<(Timestamp, Connection)>>);

impl Pool {
    pub(super) fn take(&self, now: Timestamp) -> Option<Connection> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(since, _)| now.duration_since(*since) < IDLE_TIMEOUT);
        kept.pop_back().map(|(_, connection)| connection)
    }

    pub(super) fn keep(&self, connection: Connection, now: Timestamp) {
        if connection.messages >= MAX_MESSAGES_PER_CONNECTION || connection.smtp.has_broken() {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back((now, connection));
        if kept.len() > MAX_IDLE_CONNECTIONS {
            kept.pop_front();
        }
    }
}
