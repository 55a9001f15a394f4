//! Notification channels in responses.

use delivery::notification_channels::{ChannelDetail, ChannelWithLink, Digest, LinkCode, MaskedConfig};

use crate::document::names::NotificationChannelTypeName;
use crate::routes::prelude::*;
use crate::routes::templates::view::TemplatesView;

/// A notification channel.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NotificationChannel)]
pub struct NotificationChannelView {
    /// Unique id.
    pub id: Uuid,
    /// Type.
    #[schema(value_type = NotificationChannelTypeName, example = "slack")]
    pub r#type: &'static str,
    /// Name.
    #[schema(example = "Trading room")]
    pub name: String,
    /// Configuration. Its members depend on the type.
    pub config: ChannelConfigView,
    /// Templates of its messages; null if they have the default texts.
    #[schema(required)]
    pub templates: Option<TemplatesView>,
    /// Maximum number of separate messages within a minute; null for that of the service.
    #[schema(required, example = 10)]
    pub burst_limit: Option<u32>,
    /// `hourly` or `daily at HH:MM`, if the alerts that fire are sent in digests.
    #[schema(required, example = "daily at 17:30")]
    pub digest: Option<String>,
    /// Maximum number of messages on a day; null for any number.
    #[schema(required, example = 20)]
    pub daily_budget: Option<u32>,
    /// Time since which the channel is known to reach its owner. `email`: the link in the email was opened. `telegram`: the chat was
    /// linked. All others: the first message was accepted.
    #[schema(required, format = DateTime)]
    pub verified_at: Option<String>,
    /// Time of creation.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
    /// Time of the last accepted message.
    #[schema(required, format = DateTime)]
    pub last_success_at: Option<String>,
    /// Why the last message was not accepted; null if it was.
    #[schema(required)]
    pub last_error: Option<String>,
    /// Whether firings are sent to the channel.
    pub enabled: bool,
}

/// The configuration of a notification channel. Secrets are `***`.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = NotificationChannelConfig)]
pub struct ChannelConfigView {
    /// `email`: the address.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = "email")]
    pub address: Option<String>,
    /// `webhook`: the webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub webhook_id: Option<Uuid>,
    /// `slack`, `discord`, `teams`, `apprise`: `***`. `ntfy`: the URL of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "***")]
    pub url: Option<String>,
    /// `ntfy`: the topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub topic: Option<String>,
    /// `pushover`: `***`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub user: Option<&'static str>,
    /// `ntfy`, `pushover`: `***` if there is a token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub token: Option<&'static str>,
    /// `telegram`: `***` if the channel has its own bot.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub bot_token: Option<&'static str>,
    /// `web_push`: `***`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub endpoint: Option<&'static str>,
    /// `web_push`: `***`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub p256dh: Option<&'static str>,
    /// `web_push`: `***`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub auth: Option<&'static str>,
}

/// A notification channel, with the code that links its Telegram chat.
#[derive(Debug, Serialize, ToSchema)]
pub struct LinkableNotificationChannel {
    /// The channel.
    #[serde(flatten)]
    pub channel: NotificationChannelView,
    /// `telegram`: the code that links the chat, as long as none is linked. It is shown only once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub link: Option<ChannelLinkView>,
}

/// The code that links a Telegram chat: send `/start CODE` to the bot.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NotificationChannelLink)]
pub struct ChannelLinkView {
    /// Code.
    #[schema(example = "K7WQ2M5XJH3RTPAD")]
    pub code: String,
    /// Time from which the code is invalid.
    #[schema(format = DateTime, example = "2026-03-02T15:19:00.000Z")]
    pub expires_at: String,
}

impl NotificationChannelView {
    pub(super) fn of(detail: ChannelDetail) -> Self {
        let channel = detail.channel;
        Self {
            id: channel.id.0,
            r#type: channel.channel_type.name(),
            name: channel.name,
            config: ChannelConfigView::of(detail.config),
            templates: channel.templates.map(TemplatesView::of),
            burst_limit: channel.throttle.burst_limit,
            digest: channel.throttle.digest.map(Digest::name),
            daily_budget: channel.throttle.daily_budget,
            verified_at: channel.verified_at.map(timestamp),
            created_at: timestamp(channel.created_at),
            last_success_at: channel.last_success_at.map(timestamp),
            last_error: channel.last_error,
            enabled: channel.is_enabled,
        }
    }
}

impl ChannelConfigView {
    fn of(config: MaskedConfig) -> Self {
        Self {
            address: config.address,
            webhook_id: config.webhook,
            url: config.url,
            topic: config.topic,
            user: config.user,
            token: config.token,
            bot_token: config.bot_token,
            endpoint: config.subscription.map(|subscription| subscription.endpoint),
            p256dh: config.subscription.map(|subscription| subscription.p256dh),
            auth: config.subscription.map(|subscription| subscription.auth),
        }
    }
}

impl LinkableNotificationChannel {
    pub(super) fn of(channel: ChannelWithLink) -> Self {
        Self {
            channel: NotificationChannelView::of(channel.detail),
            link: channel.link.map(ChannelLinkView::of),
        }
    }
}

impl ChannelLinkView {
    fn of(link: LinkCode) -> Self {
        Self {
            code: link.code,
            expires_at: timestamp(link.expires_at),
        }
    }
}
