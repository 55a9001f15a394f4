//! Emails, text messages and messages to chat and push services, in one [queue](crate::queue) per channel.
//!
//! A firing creates one message by email or SMS, or one to each notification channel of its route. Messages about an account are queued with the change of the
//! account ([`queue`]). A row about a firing is minimal: recipient and wording are determined when it is sent, from
//! the event and from the account at that time.
//!
//! A claim ([`claim`]) puts what is too much for a channel into one message ([`folding`]). Between claim and attempt, each message is *admitted* once ([`quota`]). Admission counts it against
//! all limits in one transaction, so that two processes never exceed a limit together.
//!
//! The result of a message about a firing is written to the alert's history with the settlement ([`settle`]). These
//! entries change no alert, so readers of the change feed do not see them (`feed.rs`). Messages that are kept instead
//! of sent are written to the outbox with the settlement ([`outbox`]). Owners see what has happened to a message ([`receipt`]).

mod claim;
mod day_totals;
mod folding;
mod outbox;
mod queue;
mod quota;
mod receipt;
mod settle;
mod unsubscribed;

use uuid::Uuid;

pub(crate) use folding::FoldingClaim;

use crate::StoreError;
use crate::model::{MessageRoute, NotificationChannelId, NotificationChannelType};
use crate::queue::MESSAGES;

/// The alert that a message is about; the alert over many stocks if it is one of its members.
macro_rules! alert_of_message {
    () => {
        "(SELECT COALESCE((SELECT parents.id FROM alerts parents WHERE parents.seq = a.parent_seq), a.id)
          FROM alerts a WHERE a.seq = messages.alert_seq) AS alert_id"
    };
}
pub(crate) use alert_of_message;

/// The notification channel of a message, which may have been deleted.
macro_rules! route_of_message {
    () => {
        "(SELECT c.id FROM notification_channels c WHERE c.seq = messages.notification_channel_seq) AS routed_id,
         (SELECT c.type FROM notification_channels c WHERE c.seq = messages.notification_channel_seq) AS routed_type,
         (SELECT c.name FROM notification_channels c WHERE c.seq = messages.notification_channel_seq) AS routed_name"
    };
}
pub(crate) use route_of_message;

/// Returns the notification channel of a message from the columns of [`route_of_message!`].
pub(crate) fn message_route(
    id: Option<Uuid>,
    channel_type: Option<&str>,
    name: Option<String>,
) -> Result<Option<MessageRoute>, StoreError> {
    let (Some(id), Some(channel_type), Some(name)) = (id, channel_type, name) else {
        return Ok(None);
    };
    Ok(Some(MessageRoute {
        id: NotificationChannelId(id),
        channel_type: TABLE.parse("type", channel_type, NotificationChannelType::from_name)?,
        name,
    }))
}

const TABLE: crate::columns::Table = MESSAGES.table;
