//! Messages: mails and text messages on their way.

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::AccountId;

/// Which message. It is the same for every attempt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MessageId(pub Uuid);

/// How a message goes to somebody.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MessageChannel {
    /// By mail.
    Email,
    /// As a text message.
    Sms,
}

impl MessageChannel {
    /// Its name in its column and in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Sms => "sms",
        }
    }

    /// The channel of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Email, Self::Sms]
            .into_iter()
            .find(|channel| channel.name() == name)
    }
}

/// A message to be sent that is not about a firing; those are made with their firings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewMessage {
    /// Which one.
    pub id: MessageId,
    /// How it goes.
    pub channel: MessageChannel,
    /// What it is, in a word: `confirm_address`.
    pub kind: &'static str,
    /// The address or number it goes to.
    pub recipient: String,
    /// Whose account it is about.
    pub account: Option<AccountId>,
    /// What it says, sealed by the service for `messages.content` of this id.
    pub content: Vec<u8>,
    /// When it was written.
    pub created_at: Timestamp,
}

/// The lane of all messages to somebody: whom many things happen to does not hold up others. It is made of an account's id
/// or an address.
#[must_use]
pub(crate) fn lane(recipient: &[u8]) -> i64 {
    let digest: [u8; 32] = Sha256::digest(recipient).into();
    let (first, _) = digest.split_at(8);
    i64::from_le_bytes(first.try_into().unwrap_or_default())
}
