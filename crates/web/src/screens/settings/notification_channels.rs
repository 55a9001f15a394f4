//! The notification channels of an account: where each one sends to, its state, and what a form about one answers.

use delivery::notification_channels::{
    ChannelDetail, ChannelTestResult, LinkCode, MaskedConfig, NotificationChannel, NotificationChannelType,
};
use delivery::webhooks::Webhook;
use jiff::Timestamp;

use super::channel_limits::ChannelLimits;
use crate::texts::text;
use crate::wording;

/// The state of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelState {
    /// The owner has disabled it.
    Disabled,
    /// It gets nothing until its address or chat is verified.
    Unverified,
    /// The service did not accept the last message.
    Failing,
    /// No message was sent to it yet.
    Untested,
    /// It reaches its owner.
    Verified,
}

impl ChannelState {
    fn of(channel: &NotificationChannel) -> Self {
        let needs_verification = needs_verification(channel.channel_type);
        match channel.verified_at {
            _ if !channel.is_enabled => Self::Disabled,
            None if needs_verification => Self::Unverified,
            _ if channel.last_error.is_some() => Self::Failing,
            None => Self::Untested,
            Some(_) => Self::Verified,
        }
    }

    /// Returns the id of its text.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Disabled => "channel-disabled",
            Self::Unverified => "channel-unverified",
            Self::Failing => "channel-failing",
            Self::Untested => "channel-untested",
            Self::Verified => "channel-verified",
        }
    }

    /// Returns a symbol, so that color alone never tells states apart.
    pub(crate) const fn mark(self) -> &'static str {
        match self {
            Self::Disabled => "⊘",
            Self::Unverified | Self::Untested => "◌",
            Self::Failing => "✕",
            Self::Verified => "●",
        }
    }

    /// Returns the name of the style that it shares with a state of alerts.
    pub(crate) const fn style(self) -> &'static str {
        match self {
            Self::Disabled | Self::Failing => "blind",
            Self::Unverified | Self::Untested => "waiting",
            Self::Verified => "active",
        }
    }
}

/// Returns whether a channel gets nothing until its owner has opened a link or sent a code.
const fn needs_verification(channel_type: NotificationChannelType) -> bool {
    matches!(
        channel_type,
        NotificationChannelType::Email | NotificationChannelType::Telegram
    )
}

/// Returns the id of a type's text.
#[must_use]
pub const fn type_text(channel_type: NotificationChannelType) -> &'static str {
    match channel_type {
        NotificationChannelType::Email => "channel-type-email",
        NotificationChannelType::Sms => "channel-type-sms",
        NotificationChannelType::Webhook => "channel-type-webhook",
        NotificationChannelType::Slack => "channel-type-slack",
        NotificationChannelType::Discord => "channel-type-discord",
        NotificationChannelType::Telegram => "channel-type-telegram",
        NotificationChannelType::Ntfy => "channel-type-ntfy",
        NotificationChannelType::Pushover => "channel-type-pushover",
        NotificationChannelType::Teams => "channel-type-teams",
        NotificationChannelType::Apprise => "channel-type-apprise",
        NotificationChannelType::WebPush => "channel-type-web-push",
    }
}

/// Returns the text of the type with this name. An unknown name is that of a later version.
pub(crate) fn type_name_text(name: &str) -> String {
    let channel_type = NotificationChannelType::from_name(name);
    channel_type.map_or_else(|| name.to_owned(), |channel_type| text(type_text(channel_type)))
}

/// The account's own destinations, which channels name.
#[derive(Clone, Copy, Debug)]
pub struct OwnDestinations<'a> {
    /// The verified phone number.
    pub phone: Option<&'a str>,
    /// The webhooks.
    pub webhooks: &'a [Webhook],
}

/// A notification channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelLine {
    /// The id.
    pub id: String,
    /// The name.
    pub name: String,
    /// The id of the type's text.
    pub kind: &'static str,
    /// Where messages go, without secrets.
    pub destination: String,
    /// The state.
    pub state: ChannelState,
    /// Whether firings are sent to it.
    pub is_enabled: bool,
    /// Why the last message was not accepted.
    pub error: Option<String>,
    /// When the last message was accepted.
    pub last_success_at: Option<Timestamp>,
    /// The id of the text of the button that requests another link or code; `None` if none is needed.
    pub request_link: Option<&'static str>,
    /// How many messages it gets; `None` for a webhook.
    pub limits: Option<ChannelLimits>,
}

impl ChannelLine {
    /// Formats a channel.
    #[must_use]
    pub fn of(detail: &ChannelDetail, own: OwnDestinations<'_>) -> Self {
        let channel = &detail.channel;
        let request_link = match channel.channel_type {
            NotificationChannelType::Email => Some("request-email-link"),
            NotificationChannelType::Telegram => Some("request-telegram-code"),
            _ => None,
        };
        Self {
            id: channel.id.0.to_string(),
            name: channel.name.clone(),
            kind: type_text(channel.channel_type),
            destination: destination(channel.channel_type, &detail.config, own),
            state: ChannelState::of(channel),
            is_enabled: channel.is_enabled,
            error: channel.last_error.as_deref().map(wording::message),
            last_success_at: channel.last_success_at,
            request_link: request_link.filter(|_| channel.verified_at.is_none()),
            limits: channel
                .channel_type
                .message_channel()
                .map(|_| ChannelLimits::of(channel.throttle)),
        }
    }
}

/// Returns where a channel sends to. Secrets are named, not shown.
fn destination(channel_type: NotificationChannelType, config: &MaskedConfig, own: OwnDestinations<'_>) -> String {
    match channel_type {
        NotificationChannelType::Email => config.address.clone().unwrap_or_else(|| text("channel-incomplete")),
        NotificationChannelType::Sms => own.phone.map_or_else(|| text("channel-no-number"), str::to_owned),
        NotificationChannelType::Webhook => {
            let of_channel = |webhook: &&Webhook| Some(webhook.id.0) == config.webhook;
            let found = own.webhooks.iter().find(of_channel);
            found.map_or_else(|| text("channel-no-webhook"), |webhook| webhook.url.clone())
        }
        NotificationChannelType::Ntfy => match (&config.url, &config.topic) {
            (Some(url), Some(topic)) => format!("{}/{topic}", url.trim_end_matches('/')),
            _ => text("channel-incomplete"),
        },
        NotificationChannelType::Telegram if config.bot_token.is_some() => text("channel-own-bot"),
        NotificationChannelType::Telegram => text("channel-service-bot"),
        NotificationChannelType::Pushover if config.user.is_some() => text("channel-secret-user"),
        NotificationChannelType::WebPush if config.subscription.is_some() => text("channel-browser"),
        NotificationChannelType::Slack
        | NotificationChannelType::Discord
        | NotificationChannelType::Teams
        | NotificationChannelType::Apprise
            if config.url.is_some() =>
        {
            text("channel-secret-url")
        }
        _ => text("channel-incomplete"),
    }
}

/// The result of a test message, with the fix of an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelTestLine {
    /// The name of the channel.
    pub name: String,
    /// Whether the message was accepted.
    pub is_accepted: bool,
    /// HTTP status of the response.
    pub http_status: Option<u16>,
    /// Why it was not accepted.
    pub error: Option<String>,
    /// The id of the text of the fix; `None` if the error names it.
    pub fix: Option<&'static str>,
}

impl ChannelTestLine {
    /// Formats a result.
    #[must_use]
    pub fn of(channel: &NotificationChannel, result: &ChannelTestResult) -> Self {
        Self {
            name: channel.name.clone(),
            is_accepted: result.is_accepted,
            http_status: result.http_status,
            error: result.error.as_deref().map(wording::message),
            fix: fix_text(channel.channel_type, result).filter(|_| !result.is_accepted),
        }
    }

    pub(crate) const fn text(&self) -> &'static str {
        match self.is_accepted {
            true => "accepted",
            false => "channel-test-failed",
        }
    }

    pub(crate) const fn mark(&self) -> &'static str {
        match self.is_accepted {
            true => "✓",
            false => "✕",
        }
    }

    pub(crate) const fn style(&self) -> &'static str {
        match self.is_accepted {
            true => "active",
            false => "blind",
        }
    }
}

/// Returns the id of the text of an error's fix, as docs/notifications.md has it for all services.
const fn fix_text(channel_type: NotificationChannelType, result: &ChannelTestResult) -> Option<&'static str> {
    if matches!(channel_type, NotificationChannelType::WebPush)
        && matches!(result.http_status, Some(400 | 401 | 403 | 404 | 410))
    {
        return Some("channel-fix-subscription");
    }
    match result.http_status {
        None if has_own_url(channel_type) => Some("channel-fix-url"),
        None => None,
        Some(301 | 302 | 307 | 308) => Some("channel-fix-redirect"),
        Some(401 | 403) => Some("channel-fix-credentials"),
        Some(404 | 410) => Some("channel-fix-gone"),
        Some(408 | 409 | 429 | 500..) => Some("channel-fix-wait"),
        Some(_) => None,
    }
}

/// Returns whether the owner chooses the host.
const fn has_own_url(channel_type: NotificationChannelType) -> bool {
    matches!(
        channel_type,
        NotificationChannelType::Slack
            | NotificationChannelType::Discord
            | NotificationChannelType::Teams
            | NotificationChannelType::Ntfy
            | NotificationChannelType::Apprise
    )
}

/// A code that links a Telegram chat. It is shown only once.
#[derive(Clone, PartialEq, Eq)]
pub struct TelegramCode {
    /// The name of the channel.
    pub name: String,
    /// The code.
    pub code: String,
    /// Time from which it is invalid.
    pub expires_at: Timestamp,
}

impl TelegramCode {
    /// Formats the code of a channel.
    #[must_use]
    pub fn of(name: &str, link: LinkCode) -> Self {
        Self {
            name: name.to_owned(),
            code: link.code,
            expires_at: link.expires_at,
        }
    }
}

impl std::fmt::Debug for TelegramCode {
    /// Formats the name without the code.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TelegramCode")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(http_status: Option<u16>) -> ChannelTestResult {
        ChannelTestResult {
            is_accepted: false,
            http_status,
            error: Some("error".to_owned()),
        }
    }

    #[test]
    fn each_status_has_its_fix() {
        let slack = |status| fix_text(NotificationChannelType::Slack, &result(status));
        for (status, fix) in [
            (None, Some("channel-fix-url")),
            (Some(301), Some("channel-fix-redirect")),
            (Some(400), None),
            (Some(401), Some("channel-fix-credentials")),
            (Some(404), Some("channel-fix-gone")),
            (Some(429), Some("channel-fix-wait")),
            (Some(499), None),
            (Some(500), Some("channel-fix-wait")),
        ] {
            assert_eq!(slack(status), fix, "{status:?}");
        }
        let browser = |status| fix_text(NotificationChannelType::WebPush, &result(status));
        for (status, fix) in [
            (None, None),
            (Some(403), Some("channel-fix-subscription")),
            (Some(410), Some("channel-fix-subscription")),
            (Some(429), Some("channel-fix-wait")),
        ] {
            assert_eq!(browser(status), fix, "{status:?}");
        }
        // The error of a chat that is not linked names its fix.
        assert_eq!(fix_text(NotificationChannelType::Telegram, &result(None)), None);
    }

    #[test]
    fn secrets_are_named_and_not_shown() {
        let own = OwnDestinations {
            phone: Some("+14155550123"),
            webhooks: &[],
        };
        let config = |url: Option<&str>, topic: Option<&str>| MaskedConfig {
            url: url.map(str::to_owned),
            topic: topic.map(str::to_owned),
            ..MaskedConfig::default()
        };
        for (channel_type, config, expected) in [
            (NotificationChannelType::Slack, config(Some("***"), None), "Secret URL"),
            (
                NotificationChannelType::Ntfy,
                config(Some("https://ntfy.sh/"), Some("a")),
                "https://ntfy.sh/a",
            ),
            (NotificationChannelType::Sms, config(None, None), "+14155550123"),
            (NotificationChannelType::Webhook, config(None, None), "Deleted webhook"),
            (
                NotificationChannelType::Slack,
                config(None, None),
                "Its configuration is lost; delete the channel and add it again",
            ),
        ] {
            assert_eq!(destination(channel_type, &config, own), expected, "{channel_type:?}");
        }
    }
}
