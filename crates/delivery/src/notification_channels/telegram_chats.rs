//! Links Telegram chats to the channels that wait for them.

use std::sync::Arc;

use foundation::ServiceError;
use notify::channels::telegram::TelegramConfig;
use notify::channels::{ChannelSecret, ChannelTarget};
use store::model::NotificationChannel;

use super::telegram_link::code_hash;
use super::telegram_updates::{BotToken, UpdateError, WaitingChannel};
use super::{NotificationChannelConfig, NotificationChannels};

const LINKED: &str = "This chat is linked: messages about your alerts reach you here.";
const UNKNOWN_CODE: &str =
    "This code is unknown or has expired. Request a new one: change the configuration of the channel.";

impl NotificationChannels {
    /// Links a chat to the channel that waits for a code, and answers in the chat.
    pub(super) async fn link_by_code(
        &self,
        token: &BotToken,
        channels: &mut Vec<WaitingChannel>,
        code: &str,
        chat_id: i64,
    ) -> Result<(), ServiceError> {
        let (hash, now) = (code_hash(code), self.ports.clock.now());
        let is_meant = |waiting: &WaitingChannel| {
            let link = waiting.channel.link;
            link.is_some_and(|link| link.hash == hash && now < link.expires_at)
        };
        if !channels.iter().any(is_meant) {
            // The code may have been created since the channels were read.
            *channels = self.waiting_channels().await?.remove(token).unwrap_or_default();
        }
        let found = channels
            .iter()
            .position(is_meant)
            .map(|index| channels.swap_remove(index));
        let is_linked = match found {
            Some(waiting) => self.link_chat(waiting, chat_id).await?,
            None => false,
        };
        let text = if is_linked { LINKED } else { UNKNOWN_CODE };
        let (client, token) = (Arc::clone(&self.client), token.as_ref().map(ChannelSecret::new));
        let reply = async move { client.telegram().reply(token.as_ref(), chat_id, text).await };
        if let Err(error) = self.ports.network.run(reply).await {
            // The answer of the API shows that the chat is linked.
            tracing::info!(%error, "a reply in a Telegram chat was not accepted");
        }
        Ok(())
    }

    /// Shows the owners of channels why their own bot cannot be read. It is not asked again until the owner requests another code.
    pub(super) async fn end_links(&self, waiting: &[WaitingChannel], error: &UpdateError) -> Result<(), ServiceError> {
        let channels: Vec<NotificationChannel> = waiting.iter().map(|waiting| waiting.channel.clone()).collect();
        let error = format!(
            "the bot cannot be read: {error}; fix its token or stop its other reader, then set `config` to {{}} for another code"
        );
        let transaction = self.ports.transaction((channels, error), |(channels, error), unit| {
            Box::pin(async move {
                for found in channels {
                    let locked = unit.lock_notification_channel(found.account, found.id).await?;
                    let is_same =
                        |channel: &NotificationChannel| channel.link == found.link && channel.config == found.config;
                    if let Some(mut channel) = locked.filter(is_same) {
                        channel.link = None;
                        channel.last_error = Some(error.clone());
                        unit.update_notification_channel(&channel).await?;
                    }
                }
                Ok(())
            })
        });
        transaction.await
    }

    /// Links a chat to a channel. Returns `false` if the channel has got another code or was deleted.
    async fn link_chat(&self, waiting: WaitingChannel, chat_id: i64) -> Result<bool, ServiceError> {
        let ports = &self.ports;
        let config = NotificationChannelConfig::Service(ChannelTarget::Telegram(TelegramConfig {
            chat_id: Some(chat_id),
            ..waiting.config
        }));
        let sealed = config.seal(&ports.vault, &ports.random, waiting.channel.id);
        let inputs = (waiting.channel, sealed, ports.clock.now());
        let transaction = ports.transaction(inputs, |&(ref found, ref sealed, now), unit| {
            Box::pin(async move {
                let locked = unit.lock_notification_channel(found.account, found.id).await?;
                let is_same =
                    |channel: &NotificationChannel| channel.link == found.link && channel.config == found.config;
                let Some(mut channel) = locked.filter(is_same) else {
                    return Ok(false);
                };
                channel.config = Some(sealed.clone());
                channel.verified_at = Some(now);
                channel.last_error = None;
                channel.link = None;
                unit.update_notification_channel(&channel).await?;
                Ok(true)
            })
        });
        transaction.await
    }
}
