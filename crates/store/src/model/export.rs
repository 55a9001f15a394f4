//! Stored data that is read only for an account's export.

use jiff::Timestamp;

use super::{MessageChannel, StoredAlert};

/// A stored alert, possibly deleted.
#[derive(Clone, PartialEq, Debug)]
pub struct ExportedAlert {
    /// Position in order of creation.
    pub position: i64,
    /// The alert.
    pub stored: StoredAlert,
    /// Time of deletion.
    pub deleted_at: Option<Timestamp>,
}

/// A message that was sent or tried. Its content is not stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SentMessage {
    /// Channel.
    pub channel: MessageChannel,
    /// Kind of message.
    pub kind: String,
    /// Email address or number of the recipient.
    pub recipient: Option<String>,
    /// Status, as one word.
    pub status: String,
    /// Outcome of the last attempt, or the reason why there was none, as one word.
    pub outcome: Option<String>,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time at which it was sent or given up.
    pub finished_at: Option<Timestamp>,
}
