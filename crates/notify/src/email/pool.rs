//! Connections that are kept for the next mail.
//!
//! Only a connection on which everything was said and answered is kept. Dropped, it is closed, whatever is still under way
//! on it: a message of which the last line was not sent is none.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use lettre::transport::smtp::client::AsyncSmtpConnection;

/// Servers close what is idle, most of them after some minutes.
const KEPT_FOR: SignedDuration = SignedDuration::from_secs(60);
/// So many connections are kept.
const KEPT: usize = 8;
/// Many servers end a connection after a hundred messages, and none expects more.
const MOST_MESSAGES: u32 = 100;

/// A connection to the server, ready for a message.
pub(super) struct Connection {
    pub(super) smtp: AsyncSmtpConnection,
    /// How many messages were begun on it.
    pub(super) messages: u32,
    /// Whether the last message was not taken, so that the server must be told to forget about it.
    pub(super) is_soiled: bool,
}

/// What is kept, the one that was used last at the end.
#[derive(Default)]
pub(super) struct Pool(Mutex<VecDeque<(Timestamp, Connection)>>);

impl Pool {
    pub(super) fn take(&self, now: Timestamp) -> Option<Connection> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(since, _)| now.duration_since(*since) < KEPT_FOR);
        kept.pop_back().map(|(_, connection)| connection)
    }

    pub(super) fn keep(&self, connection: Connection, now: Timestamp) {
        if connection.messages >= MOST_MESSAGES || connection.smtp.has_broken() {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back((now, connection));
        if kept.len() > KEPT {
            kept.pop_front();
        }
    }
}
