//! What an account's owner is given of what is kept, where nobody else asks for it.

use jiff::Timestamp;

use super::{MessageChannel, StoredAlert};

/// An alert that is kept, be it deleted.
#[derive(Clone, PartialEq, Debug)]
pub struct KeptAlert {
    /// Its place in the order of creation.
    pub place: i64,
    /// The alert.
    pub stored: StoredAlert,
    /// When it was deleted.
    pub deleted_at: Option<Timestamp>,
}

/// A message that was sent, or tried. What it said is not kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SentMessage {
    /// How it went.
    pub channel: MessageChannel,
    /// What it was, in a word.
    pub kind: String,
    /// The address or number it went to.
    pub recipient: Option<String>,
    /// What became of it, in a word.
    pub status: String,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was sent, or given up.
    pub finished_at: Option<Timestamp>,
}
