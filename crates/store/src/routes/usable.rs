//! Channels that can get messages.

use uuid::Uuid;

use crate::StoreError;
use crate::columns::Table;
use crate::model::message::endpoint;
use crate::model::{
    DeliveryId, EventId, MessageChannel, MessageId, NotificationChannelId, NotificationChannelType, WebhookId,
};
use crate::sqlite::row;

const TABLE: Table = Table("notification_channels");

/// Selects channels that are enabled and not deleted, with the webhook of each if it is active. An email address and a Telegram chat
/// must have been verified.
macro_rules! usable_channel {
    ($condition:literal) => {
        concat!(
            "SELECT c.seq, c.id, c.account_id, c.type AS channel_type, w.id AS webhook_id
             FROM notification_channels c
             LEFT JOIN webhooks w ON w.seq = c.webhook_seq AND w.is_active AND w.deleted_at IS NULL
             WHERE c.deleted_at IS NULL AND c.is_enabled AND (c.type NOT IN ('email', 'telegram') OR c.verified_at IS NOT NULL)
             AND (c.type <> 'webhook' OR w.id IS NOT NULL) AND ",
            $condition
        )
    };
}
pub(crate) use usable_channel;

row! {
    pub(crate) struct UsableChannelRow {
        pub(crate) seq: i64,
        pub(crate) id: Uuid,
        pub(crate) account_id: Uuid,
        channel_type: String,
        webhook_id: Option<Uuid>,
    }
}

/// A channel of a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RoutedChannel {
    pub(crate) seq: i64,
    pub(crate) id: NotificationChannelId,
    pub(crate) target: RoutedTarget,
}

/// How a channel gets a firing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RoutedTarget {
    /// By a message to this channel.
    Message(MessageChannel),
    /// By the delivery to this webhook, which exists anyway.
    Webhook(WebhookId),
}

impl RoutedChannel {
    /// Returns the endpoint number of messages to this channel.
    pub(crate) fn endpoint(&self, message_channel: MessageChannel, account: Uuid) -> i64 {
        channel_endpoint(self.id, message_channel, account)
    }

    /// Returns the id of what brings an event to this channel: a message, or the delivery to a webhook.
    pub(crate) fn current_id(&self, event: EventId) -> Uuid {
        match self.target {
            RoutedTarget::Message(_) => MessageId::for_channel(event, self.id).0,
            RoutedTarget::Webhook(webhook) => DeliveryId::for_event(event, webhook).0,
        }
    }
}

/// Returns the endpoint number of messages to a channel. Emails and text messages share that of the account, as its own do.
pub(crate) fn channel_endpoint(id: NotificationChannelId, message_channel: MessageChannel, account: Uuid) -> i64 {
    endpoint(match message_channel {
        MessageChannel::Service => id.0.as_bytes(),
        MessageChannel::Email | MessageChannel::Sms => account.as_bytes(),
    })
}

impl UsableChannelRow {
    pub(crate) fn channel(self) -> Result<RoutedChannel, StoreError> {
        let channel_type = TABLE.parse("type", &self.channel_type, NotificationChannelType::from_name)?;
        let target = match (channel_type.message_channel(), self.webhook_id) {
            (Some(channel), _) => RoutedTarget::Message(channel),
            (None, Some(webhook)) => RoutedTarget::Webhook(WebhookId(webhook)),
            (None, None) => return Err(TABLE.corrupt("a channel has no webhook")),
        };
        Ok(RoutedChannel {
            seq: self.seq,
            id: NotificationChannelId(self.id),
            target,
        })
    }
}
