//! Messages to chat and push services, such as Slack and Telegram.

use std::sync::Arc;

use notify::address::LookupOwner;
use notify::channels::telegram::TelegramConfig;
use notify::channels::{ChannelActionKind, ChannelMessage, ChannelTarget};
use notify::dispatcher::{DispatcherLimits, Transport};
use notify::message_attempt::MessageAttempt;
use notify::schedule::RetrySchedule;
use notify::templates::render::{CustomTexts, FiredAlert};
use store::model::{ClaimedMessage, MessageChannel, MessageContent, MessageDestination, NotificationChannel};
use url::Url;
use uuid::Uuid;

use super::channel::{ChannelSetup, OutgoingMessage};
use super::compose::{Composer, RenderError};
use super::config::DailyMessageLimits;
use super::recipient::Recipient;
use super::transport::RenderedMessage;
use crate::notification_channels::NotificationChannels;

/// A message to a chat or push service.
pub(crate) struct ServiceMessage {
    channel: Arc<NotificationChannel>,
    /// The id of the channel, for which messages are counted.
    recipient: String,
    target: ChannelTarget,
    message: ChannelMessage,
}

/// Sends messages to chat and push services.
pub(crate) struct ServiceSender {
    channels: NotificationChannels,
}

/// Returns the sender and the settings of messages to services, which have no daily limits: their owners pay for them.
pub(crate) fn setup(channels: NotificationChannels, retry_delays: RetrySchedule) -> ChannelSetup<ServiceSender> {
    let timeout = channels.timeout;
    ChannelSetup {
        provider: Some((ServiceSender { channels }, "service", timeout)),
        daily_limits: DailyMessageLimits {
            max_total: u32::MAX,
            max_account_messages: u32::MAX,
            max_account_messages_per_recipient: u32::MAX,
            max_alert_messages_per_recipient: u32::MAX,
        },
        retry_delays,
        limits: DispatcherLimits::default(),
    }
}

impl OutgoingMessage for ServiceMessage {
    const CHANNEL: MessageChannel = MessageChannel::Service;
    type Provider = ServiceSender;

    fn render(
        composer: &Composer,
        message: &ClaimedMessage,
        recipient: Recipient,
        texts: CustomTexts,
    ) -> Result<Self, RenderError> {
        let (MessageDestination::Channel(channel), Some(target)) = (&message.destination, recipient.target) else {
            return Err(RenderError::NoDestination);
        };
        let (text, link, kinds) = match &message.content {
            MessageContent::Sealed(_) => return Err(RenderError::NoDestination),
            MessageContent::Firing(data) => {
                let alert = FiredAlert::from_event_data(data).with_custom_texts(texts);
                let link = message.alert.map(|alert| composer.alert_link(alert));
                let text = alert.to_channel_text(&recipient.time_zone);
                (text, link, ChannelActionKind::OF_FIRING)
            }
            MessageContent::Firings(firings) => {
                let alerts = composer.fired_alerts(message, firings, channel.channel_type);
                let text = alerts.to_channel_text(&recipient.time_zone);
                (text, alerts.link, &[ChannelActionKind::AcknowledgeAll][..])
            }
        };
        let actions = composer.actions(message, kinds, channel.channel_type);
        Ok(Self {
            channel: Arc::clone(channel),
            recipient: recipient.to,
            target,
            message: ChannelMessage {
                id: message.id.0,
                title: text.title,
                text: text.text,
                link: link.and_then(|link| Url::parse(&link).ok()),
                actions,
                urgent: message.is_urgent,
            },
        })
    }

    fn recipient(&self) -> &str {
        &self.recipient
    }

    fn content(&self) -> RenderedMessage {
        RenderedMessage {
            subject: Some(self.message.title.clone()),
            text: self.message.text.clone(),
            html: None,
        }
    }

    fn host(&self) -> Option<Arc<str>> {
        Some(self.target.host().into())
    }
}

impl Transport for ServiceSender {
    type Job = ServiceMessage;
    type Report = MessageAttempt;

    async fn attempt(&self, _: Uuid, job: &ServiceMessage) -> MessageAttempt {
        let owner = LookupOwner::Account(job.channel.account.0);
        let attempt = self.channels.client.send(owner, &job.target, &job.message).await;
        if let (Some(chat_id), ChannelTarget::Telegram(config)) = (attempt.migrated_chat_id, &job.target) {
            self.follow_chat(&job.channel, config.clone(), chat_id).await;
        }
        attempt.attempt
    }
}

impl ServiceSender {
    async fn follow_chat(&self, channel: &Arc<NotificationChannel>, config: TelegramConfig, chat_id: i64) {
        let (channels, channel) = (self.channels.clone(), Arc::clone(channel));
        let runtime = self.channels.ports.network.database_runtime();
        let followed = runtime.run(async move { channels.follow_chat(&channel, config, chat_id).await });
        if let Err(error) = followed.await {
            // The next message is sent to the former id, which reports the new one again.
            tracing::warn!(%error, "the new id of a Telegram chat cannot be stored");
        }
    }
}
