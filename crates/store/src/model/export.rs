//! Stored data that is read only for an account's export.

use alerts::AlertId;
use jiff::Timestamp;

use super::{FIRING_KIND, MessageChannel, MessageId, NotificationChannelId, NotificationChannelType, StoredAlert};

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

/// The notification channel of a message, as it is now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageRoute {
    /// Id.
    pub id: NotificationChannelId,
    /// Type.
    pub channel_type: NotificationChannelType,
    /// Name.
    pub name: String,
}

/// A message that was sent or tried. Its content is not stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SentMessage {
    /// Unique id.
    pub id: MessageId,
    /// The alert that it is about; the alert over many stocks if it is one of its members.
    pub alert: Option<AlertId>,
    /// Channel.
    pub channel: MessageChannel,
    /// The notification channel that it goes to; `None` for the account's own address or number.
    pub routed_to: Option<MessageRoute>,
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

impl SentMessage {
    /// Returns the type of the channel.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        let routed = self.routed_to.as_ref().map(|route| route.channel_type.name());
        routed.unwrap_or(self.channel.name())
    }

    /// Returns whether it can be sent again. Only a message about a firing can: its content follows from the event. The content of any
    /// other message, such as a code, is deleted once it is sent.
    #[must_use]
    pub fn can_be_resent(&self) -> bool {
        self.kind == FIRING_KIND && self.status != "pending"
    }
}
