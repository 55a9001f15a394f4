//! The outcome of an attempt to send a message to a channel.

use jiff::Timestamp;

use crate::message_attempt::MessageAttempt;
use crate::schedule::{AttemptReport, AttemptResult};

/// An attempt to send a message to a channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelAttempt {
    /// The attempt. Its `code` is the error code of the service, or else the HTTP status.
    pub attempt: MessageAttempt,
    /// The HTTP status of the response, if there was one.
    pub http_status: Option<u16>,
    /// The new id of the Telegram chat, if the group became a supergroup. The message was sent there; later ones must be, too.
    pub migrated_chat_id: Option<i64>,
}

impl AttemptReport for ChannelAttempt {
    fn internal_error(at: Timestamp) -> Self {
        Self {
            attempt: MessageAttempt::internal_error(at),
            http_status: None,
            migrated_chat_id: None,
        }
    }

    fn result(&self) -> AttemptResult {
        self.attempt.result()
    }
}
