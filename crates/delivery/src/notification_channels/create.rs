//! Creation of notification channels.

use alerts::routing::MessageTemplates;
use foundation::account::{load_account, lock_active_account, require_active};
use foundation::request::Request;
use foundation::template_check::check_templates;
use foundation::{Actor, ServiceError};
use serde_json::{Map, Value};
use store::Abort;
use store::model::{ChannelThrottle, NotificationChannel, NotificationChannelId, NotificationChannelType};

use super::push_subscription::PushSubscription;
use super::throttle::ThrottleChange;
use super::{ChannelDetail, LinkCode, MAX_CHANNELS_PER_ACCOUNT, NotificationChannelConfig, NotificationChannels};
use super::{CreateNotificationChannelRequest, MaskedConfig};
use super::{config_members, throttle};

/// A notification channel, with the code of a new Telegram channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelWithLink {
    /// The channel.
    pub detail: ChannelDetail,
    /// Whether the request has created the channel. A browser that subscribes again keeps its channel.
    pub is_new: bool,
    /// The code that links the chat. It is available only now.
    pub link: Option<LinkCode>,
}

impl ChannelWithLink {
    pub(super) const fn new(channel: NotificationChannel, config: MaskedConfig, link: Option<LinkCode>) -> Self {
        let detail = ChannelDetail { channel, config };
        Self {
            detail,
            is_new: false,
            link,
        }
    }
}

impl NotificationChannels {
    /// Creates a notification channel from a body `{type, name?, config?, templates?, burst_limit?, digest?, daily_budget?, enabled?}`. An
    /// email address gets a link that verifies it. A Telegram channel gets a code that links its chat. A browser that subscribes again
    /// keeps its channel, which is updated.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for an invalid body, [`ServiceError::Forbidden`] if the account is
    /// deactivated or has the maximum number of channels, [`ServiceError::RateLimited`] if too many links were sent to addresses.
    pub async fn create(&self, actor: &Actor, body: &Value) -> Result<ChannelWithLink, ServiceError> {
        let ports = &self.ports;
        let request = CreateNotificationChannelRequest::read(body)?;
        let channel_type = request.r#type;
        let members = request.config.map_or_else(Map::new, |members| members.0);
        let sent_templates = request.templates.map_or_else(Map::new, |templates| templates.0);
        let mut errors = check_templates(&sent_templates).err().unwrap_or_default();
        let config = match config_members::apply(channel_type, None, &members) {
            Ok(config) if errors.is_empty() => config,
            Ok(_) => return Err(ServiceError::fields(errors)),
            Err(of_config) => {
                errors.extend(of_config);
                return Err(ServiceError::fields(errors));
            }
        };
        let limits = ThrottleChange {
            burst_limit: request.burst_limit.map(Some),
            digest: request.digest.map(Some),
            daily_budget: request.daily_budget.map(Some),
        };
        let throttle = limits.apply(ChannelThrottle::default());
        throttle::check(channel_type, throttle)?;
        // Checked first: only an active account may trigger a name lookup.
        require_active(&load_account(&ports.store, actor).await?)?;
        let config = self.check(actor, config).await?;
        let (id, now) = (NotificationChannelId(ports.random.uuid()), ports.clock.now());
        let link = config.awaits_chat().then(|| LinkCode::new(&ports.random, now));
        let verification = match &config {
            NotificationChannelConfig::Email(address) => {
                Some(self.verification_link(actor.account, id, address, now)?)
            }
            _ => None,
        };
        let subscription = config.push_endpoint().map(|_| PushSubscription {
            channels: self.clone(),
            config: config.clone(),
            name: request.name.as_ref().map(|name| name.0.clone()),
            is_enabled: request.enabled.0,
            templates: sent_templates.clone(),
            throttle: limits,
            now,
        });
        let channel = NotificationChannel {
            seq: 0,
            id,
            account: actor.account,
            channel_type,
            name: request
                .name
                .map_or_else(|| default_name(channel_type).to_owned(), |name| name.0),
            config: Some(config.seal(&ports.vault, &ports.random, id)),
            webhook: config.webhook(),
            templates: MessageTemplates::default().merged(&sent_templates).none_if_empty(),
            throttle,
            created_at: now,
            verified_at: None,
            last_success_at: None,
            last_error: None,
            is_enabled: request.enabled.0,
            link: link.as_ref().map(LinkCode::stored),
        };
        let inputs = (channel, verification, subscription);
        let transaction = ports.transaction(inputs, |(channel, verification, subscription), unit| {
            Box::pin(async move {
                lock_active_account(unit, channel.account).await?;
                if let Some(subscription) = subscription
                    && let Some(renewed) = subscription.renew(unit, channel.account).await?
                {
                    return Ok((renewed, false));
                }
                if unit.count_notification_channels(channel.account).await? >= MAX_CHANNELS_PER_ACCOUNT {
                    return Err(Abort::Refused(ServiceError::Forbidden {
                        reason: "limit",
                        required: None,
                        message: format!(
                            "an account has at most {MAX_CHANNELS_PER_ACCOUNT} notification channels; delete one of them first"
                        ),
                    }));
                }
                unit.insert_notification_channel(channel).await?;
                if let Some(verification) = verification {
                    verification.send(unit, channel.account).await?;
                }
                Ok((channel.clone(), true))
            })
        });
        let (channel, is_new) = transaction.await?;
        if link.is_some() {
            self.read_telegram_updates();
        }
        Ok(ChannelWithLink {
            is_new,
            ..ChannelWithLink::new(channel, config.masked(), link)
        })
    }
}

/// Returns the name of a channel without one.
const fn default_name(channel_type: NotificationChannelType) -> &'static str {
    match channel_type {
        NotificationChannelType::Email => "Email",
        NotificationChannelType::Sms => "SMS",
        NotificationChannelType::Webhook => "Webhook",
        NotificationChannelType::Slack => "Slack",
        NotificationChannelType::Discord => "Discord",
        NotificationChannelType::Telegram => "Telegram",
        NotificationChannelType::Ntfy => "ntfy",
        NotificationChannelType::Pushover => "Pushover",
        NotificationChannelType::Teams => "Microsoft Teams",
        NotificationChannelType::Apprise => "Apprise",
        NotificationChannelType::WebPush => "Browser",
    }
}
