//! The client of all services.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use url::Url;
use uuid::Uuid;

use super::attempt::ChannelAttempt;
use super::config::{ChannelConfigError, ChannelConfigProblem};
use super::exchange::Exchange;
use super::message::ChannelMessage;
use super::outcome::SendResult;
use super::pushover::{self, MESSAGES_PATH, PushoverSettings};
use super::secret::{ChannelSecret, mask};
use super::target::ChannelTarget;
use super::telegram::{self, TelegramBot, TelegramSettings};
use super::web_push::{self, VapidKey, WebPushSender};
use super::{RandomBytes, apprise, discord, ntfy, slack, teams};
use crate::address::LookupOwner;
use crate::client::{TlsSetupError, WebhookClient, tls};
use crate::dispatcher::Transport;
use crate::message_attempt::{MessageAttempt, MessageOutcome};
use crate::provider::{self, parse_base_url};

/// The configuration of a [`ChannelClient`].
pub struct ChannelClientConfig {
    /// The client for URLs that users choose. Its URL rules, DNS lookups, clock and timeout apply.
    pub webhooks: Arc<WebhookClient>,
    /// The settings of Telegram.
    pub telegram: TelegramSettings,
    /// The settings of Pushover.
    pub pushover: PushoverSettings,
    /// Push messages.
    pub web_push: WebPushSettings,
    /// Additional certificate authorities that are trusted for URLs of the operator, beside the public ones.
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// Timeout of an attempt at a URL of the operator.
    pub timeout: Duration,
}

/// The settings of push messages.
pub struct WebPushSettings {
    /// The key of this service. Without one no push message is sent.
    pub key: Option<VapidKey>,
    /// The contact of the operator for push services, a URL with `https:` or `mailto:`.
    pub subject: String,
    /// Salts and keys of messages.
    pub random: RandomBytes,
}

/// An error in the setup of a [`ChannelClient`].
#[derive(Debug, thiserror::Error)]
pub enum ChannelSetupError {
    /// A base URL is invalid.
    #[error("`{0}` must be https, or http to this machine, without a query")]
    BadBaseUrl(&'static str),
    /// An additional certificate authority is invalid.
    #[error(transparent)]
    Tls(#[from] TlsSetupError),
    /// The HTTP library cannot be set up.
    #[error("the HTTP client cannot be set up: {0}")]
    Client(#[from] reqwest::Error),
}

/// Sends messages to channels.
pub struct ChannelClient {
    exchange: Arc<Exchange>,
    telegram: TelegramBot,
    pushover_url: Url,
    pushover_token: Option<ChannelSecret>,
    web_push: Option<WebPushSender>,
}

impl fmt::Debug for ChannelClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelClient").finish_non_exhaustive()
    }
}

/// A message to a channel, with all data for an attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelJob {
    /// The account of the channel. DNS lookups count for it.
    pub account: Uuid,
    /// The channel.
    pub target: ChannelTarget,
    /// The message.
    pub message: ChannelMessage,
}

impl ChannelClient {
    /// Creates a client.
    ///
    /// # Errors
    /// [`ChannelSetupError`] if a setting is invalid.
    pub fn new(config: ChannelClientConfig) -> Result<Self, ChannelSetupError> {
        let time = Arc::clone(config.webhooks.time());
        let operator = provider::builder(tls::config(&config.extra_roots, &time)?).build()?;
        let exchange = Arc::new(Exchange {
            webhooks: config.webhooks,
            operator,
            timeout: config.timeout,
            time,
        });
        let telegram = TelegramBot::new(Arc::clone(&exchange), config.telegram);
        let pushover_url = parse_base_url(&config.pushover.base_url).map(|mut url| {
            let path = format!("{}{MESSAGES_PATH}", url.path().trim_end_matches('/'));
            url.set_path(&path);
            url
        });
        let (subject, random) = (config.web_push.subject, config.web_push.random);
        let web_push = config.web_push.key.map(|key| WebPushSender { key, subject, random });
        Ok(Self {
            exchange,
            telegram: telegram.ok_or(ChannelSetupError::BadBaseUrl("telegram.base_url"))?,
            pushover_url: pushover_url.ok_or(ChannelSetupError::BadBaseUrl("pushover.base_url"))?,
            pushover_token: config.pushover.token,
            web_push,
        })
    }

    /// Returns the Bot API, which links chats and answers buttons.
    #[must_use]
    pub fn telegram(&self) -> &TelegramBot {
        &self.telegram
    }

    /// Returns the public key that browsers subscribe with, in base64url.
    #[must_use]
    pub fn web_push_public_key(&self) -> Option<String> {
        self.web_push.as_ref().map(|sender| sender.key.public_key())
    }

    /// Checks a configuration on save, with a DNS lookup, and returns it as it is stored.
    ///
    /// # Errors
    /// [`ChannelConfigError`] for the first invalid field.
    pub async fn check(&self, owner: LookupOwner, target: ChannelTarget) -> Result<ChannelTarget, ChannelConfigError> {
        let target = target.checked(self.exchange.webhooks.rules())?;
        let missing = match &target {
            ChannelTarget::Telegram(config) if config.bot_token.is_none() && !self.telegram.has_operator_token() => {
                Some("config.bot_token")
            }
            ChannelTarget::Pushover(config) if config.token.is_none() && self.pushover_token.is_none() => {
                Some("config.token")
            }
            _ => None,
        };
        if let Some(field) = missing {
            return Err(ChannelConfigProblem::Required.at(field));
        }
        if let Some(url) = target.user_url() {
            let checked = self.exchange.webhooks.check_resolved(url, owner).await;
            checked.map_err(|error| ChannelConfigProblem::Url(error).at(target.user_url_field()))?;
        }
        Ok(target)
    }

    /// Makes one attempt to send a message. DNS lookups count for `owner`.
    pub async fn send(&self, owner: LookupOwner, target: &ChannelTarget, message: &ChannelMessage) -> ChannelAttempt {
        let at = self.exchange.now();
        let result = self.sent(owner, target, message).await;
        let ended = |outcome, detail: Option<&str>| MessageAttempt::ended(at, self.exchange.now(), outcome, detail);
        match result {
            Ok(accepted) => ChannelAttempt {
                attempt: MessageAttempt {
                    provider_id: accepted.provider_id,
                    ..ended(MessageOutcome::Delivered, None)
                },
                http_status: Some(accepted.http_status),
                migrated_chat_id: accepted.migrated_chat_id,
            },
            Err(failure) => {
                let secrets = self.secrets(target, message);
                let detail = failure.detail.map(|detail| mask(&detail, &secrets));
                ChannelAttempt {
                    attempt: ended(failure.outcome, detail.as_deref()),
                    http_status: failure.http_status,
                    migrated_chat_id: None,
                }
            }
        }
    }

    async fn sent(&self, owner: LookupOwner, target: &ChannelTarget, message: &ChannelMessage) -> SendResult {
        let exchange = &self.exchange;
        match target {
            ChannelTarget::Slack(config) => slack::send(exchange, owner, config, message).await,
            ChannelTarget::Discord(config) => discord::send(exchange, owner, config, message).await,
            ChannelTarget::Teams(config) => teams::send(exchange, owner, config, message).await,
            ChannelTarget::Ntfy(config) => ntfy::send(exchange, owner, config, message).await,
            ChannelTarget::Apprise(config) => apprise::send(exchange, owner, config, message).await,
            ChannelTarget::WebPush(config) => {
                web_push::send(exchange, owner, self.web_push.as_ref(), config, message).await
            }
            ChannelTarget::Telegram(config) => telegram::send(&self.telegram, config, message).await,
            ChannelTarget::Pushover(config) => {
                let operator_token = self.pushover_token.as_ref();
                pushover::send(exchange, &self.pushover_url, operator_token, config, message).await
            }
        }
    }

    /// Returns all secrets that an error response may repeat.
    fn secrets<'a>(&'a self, target: &'a ChannelTarget, message: &'a ChannelMessage) -> Vec<&'a str> {
        let mut secrets = target.secrets();
        let of_operator = [self.telegram.operator_token(), self.pushover_token.as_ref()];
        secrets.extend(of_operator.into_iter().flatten().map(ChannelSecret::expose));
        for action in &message.actions {
            secrets.push(action.url.as_str());
            secrets.extend(action.callback_data.as_deref());
        }
        secrets
    }
}

impl Transport for ChannelClient {
    type Job = ChannelJob;
    type Report = ChannelAttempt;

    async fn attempt(&self, _: Uuid, job: &ChannelJob) -> ChannelAttempt {
        let owner = LookupOwner::Account(job.account);
        self.send(owner, &job.target, &job.message).await
    }
}
