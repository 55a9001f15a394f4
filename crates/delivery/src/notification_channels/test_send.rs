//! A test message to a channel, sent at once. Emails and text messages are queued like any other.

use std::sync::Arc;

use alerts::Channel;
use foundation::account::{load_account, require_active};
use foundation::{Actor, ServiceError};
use notify::address::LookupOwner;
use notify::channels::telegram::TelegramConfig;
use notify::channels::{ChannelAttempt, ChannelMessage, ChannelTarget};
use notify::client::WebhookOutcome;
use notify::message_attempt::{MessageAttempt, MessageOutcome};
use store::model::{ChannelResult, NotificationChannel, NotificationChannelId, WebhookId};
use url::Url;

use super::{NotificationChannelConfig, NotificationChannels};

/// The result of a test message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelTestResult {
    /// Whether the service accepted the message; for email and text messages, whether it was queued.
    pub is_accepted: bool,
    /// HTTP status of the service's response, if any.
    pub http_status: Option<u16>,
    /// Why the message was not accepted.
    pub error: Option<String>,
}

impl ChannelTestResult {
    const fn accepted(http_status: Option<u16>) -> Self {
        Self {
            is_accepted: true,
            http_status,
            error: None,
        }
    }

    fn failed(http_status: Option<u16>, error: impl Into<String>) -> Self {
        Self {
            is_accepted: false,
            http_status,
            error: Some(error.into()),
        }
    }

    fn of(attempt: &ChannelAttempt) -> Self {
        match attempt_error(&attempt.attempt) {
            None => Self::accepted(attempt.http_status),
            Some(error) => Self::failed(attempt.http_status, error),
        }
    }
}

/// Returns the error of an attempt for the owner of the channel: the outcome, and the service's own words. `None` if the message was
/// accepted.
#[must_use]
pub fn attempt_error(attempt: &MessageAttempt) -> Option<String> {
    let detail = attempt.detail.as_deref().unwrap_or_default();
    match attempt.outcome {
        MessageOutcome::Delivered => None,
        // The detail is the problem and its fix.
        MessageOutcome::Unsendable if !detail.is_empty() => Some(detail.to_owned()),
        outcome => Some(format!("{outcome} {detail}").trim().to_owned()),
    }
}

/// Returns the result of an attempt for its channel.
pub(crate) fn attempt_result(attempt: &MessageAttempt) -> ChannelResult {
    match (attempt.outcome, attempt_error(attempt)) {
        (MessageOutcome::Gone { .. }, _) => ChannelResult::Gone(attempt.at),
        (_, None) => ChannelResult::Accepted(attempt.at),
        (_, Some(error)) => ChannelResult::Failed(error),
    }
}

impl NotificationChannels {
    /// Sends a test message to a channel, also a disabled one, and records the result. A browser that has ended its
    /// subscription loses its channel.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Forbidden`] while the account is deactivated; [`ServiceError::RateLimited`] after
    /// another test of an email address or phone number in the same minute.
    pub async fn test(&self, actor: &Actor, id: NotificationChannelId) -> Result<ChannelTestResult, ServiceError> {
        let channel = self.find(actor, id).await?;
        require_active(&load_account(&self.ports.store, actor).await?)?;
        let mut attempted = None;
        let result = match self.open(&channel)? {
            None => ChannelTestResult::failed(None, "the configuration is incomplete; set `config` again"),
            Some(NotificationChannelConfig::Email(address)) => self.test_email(actor, &channel, &address).await?,
            Some(NotificationChannelConfig::Sms) => self.test_sms(actor).await?,
            Some(NotificationChannelConfig::Webhook(webhook)) => self.test_webhook(actor, webhook).await?,
            Some(NotificationChannelConfig::Service(target)) => match self.attempt(&channel, target.clone()).await {
                Ok(attempt) => {
                    let result = ChannelTestResult::of(&attempt);
                    attempted = Some((attempt, target));
                    result
                }
                Err(result) => result,
            },
        };
        let recorded = match (&attempted, &result.error) {
            (Some((attempt, _)), _) => attempt_result(&attempt.attempt),
            (None, None) => ChannelResult::Accepted(self.ports.clock.now()),
            (None, Some(error)) => ChannelResult::Failed(error.clone()),
        };
        let inputs = (channel.clone(), recorded);
        let record = self.ports.transaction(inputs, |(channel, result), unit| {
            Box::pin(async move { Ok(unit.record_channel_result(channel, result).await?) })
        });
        record.await?;
        if let Some((attempt, ChannelTarget::Telegram(config))) = attempted
            && let Some(chat_id) = attempt.migrated_chat_id
        {
            self.follow_chat(&channel, config, chat_id).await?;
        }
        Ok(result)
    }

    async fn test_email(
        &self,
        actor: &Actor,
        channel: &NotificationChannel,
        address: &str,
    ) -> Result<ChannelTestResult, ServiceError> {
        if channel.verified_at.is_none() {
            let error = "the address is not verified; open the link in the email that was sent to it";
            return Ok(ChannelTestResult::failed(None, error));
        }
        self.channel_tests
            .send_test_to_address(actor, channel.id, address)
            .await?;
        Ok(ChannelTestResult::accepted(None))
    }

    async fn test_sms(&self, actor: &Actor) -> Result<ChannelTestResult, ServiceError> {
        match self.channel_tests.send_test(actor, Channel::Sms).await {
            Ok(_) => Ok(ChannelTestResult::accepted(None)),
            Err(ServiceError::Invalid { .. }) => {
                let error = "the account has no verified phone number; verify one first (POST /user/account/phone)";
                Ok(ChannelTestResult::failed(None, error))
            }
            Err(error) => Err(error),
        }
    }

    async fn test_webhook(&self, actor: &Actor, webhook: WebhookId) -> Result<ChannelTestResult, ServiceError> {
        match self.webhooks.test_own_webhook(actor, webhook).await {
            Ok(result) => {
                let outcome = result.attempt.outcome;
                let http_status = outcome.http_status();
                Ok(match outcome {
                    WebhookOutcome::Delivered { .. } => ChannelTestResult::accepted(http_status),
                    outcome => ChannelTestResult::failed(http_status, outcome.to_string()),
                })
            }
            Err(ServiceError::NotFound(_)) => {
                let error = "the webhook was deleted; set `config.webhook_id` to another one";
                Ok(ChannelTestResult::failed(None, error))
            }
            Err(ServiceError::Invalid { message, .. }) => Ok(ChannelTestResult::failed(None, message)),
            Err(error) => Err(error),
        }
    }

    /// Sends a test message to a service. Without a linked chat, the result says so.
    async fn attempt(
        &self,
        channel: &NotificationChannel,
        target: ChannelTarget,
    ) -> Result<ChannelAttempt, ChannelTestResult> {
        if let ChannelTarget::Telegram(TelegramConfig { chat_id: None, .. }) = &target {
            let error = "the chat is not linked; send /start and the code of the channel to the bot";
            return Err(ChannelTestResult::failed(None, error));
        }
        let message = self.test_message(channel);
        let (client, owner) = (Arc::clone(&self.client), LookupOwner::Account(channel.account.0));
        let send = async move { client.send(owner, &target, &message).await };
        Ok(self.ports.network.run(send).await)
    }

    /// Stores the new id of a Telegram group that became a supergroup, which an attempt reports. A channel that was changed meanwhile
    /// stays as it is.
    ///
    /// # Errors
    /// [`ServiceError`] if the database fails.
    pub async fn follow_chat(
        &self,
        channel: &NotificationChannel,
        config: TelegramConfig,
        chat_id: i64,
    ) -> Result<(), ServiceError> {
        let config = NotificationChannelConfig::Service(ChannelTarget::Telegram(TelegramConfig {
            chat_id: Some(chat_id),
            ..config
        }));
        let sealed = config.seal(&self.ports.vault, &self.ports.random, channel.id);
        let transaction = self
            .ports
            .transaction((channel.clone(), sealed), |(found, sealed), unit| {
                Box::pin(async move {
                    let locked = unit.lock_notification_channel(found.account, found.id).await?;
                    if let Some(mut channel) = locked.filter(|channel| channel.config == found.config) {
                        channel.config = Some(sealed.clone());
                        unit.update_notification_channel(&channel).await?;
                    }
                    Ok(())
                })
            });
        transaction.await
    }

    fn test_message(&self, channel: &NotificationChannel) -> ChannelMessage {
        ChannelMessage {
            id: self.ports.random.uuid(),
            title: "Test message from Bellwether".to_owned(),
            text: format!(
                "Messages about your alerts reach the channel \"{}\" here.",
                channel.name
            ),
            link: Url::parse(&self.writer.link("", &[])).ok(),
            actions: Vec::new(),
            urgent: false,
        }
    }
}
