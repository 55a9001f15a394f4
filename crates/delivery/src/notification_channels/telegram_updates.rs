//! Links Telegram chats: reads the updates of each bot for which a channel waits, until its code is sent or expires.
//!
//! The Bot API returns each update until a later request confirms it by its offset, so a chat is linked also if the process is
//! stopped in between. Buttons are read and ignored.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use foundation::ServiceError;
use jiff::SignedDuration;
use notify::channels::telegram::{TelegramConfig, TelegramError, TelegramEvent, TelegramUpdate};
use notify::channels::{ChannelSecret, ChannelTarget};
use notify::message_attempt::MessageOutcome;
use store::model::NotificationChannel;
use tokio_util::sync::CancellationToken;

use super::telegram_link::code_hash;
use super::{NotificationChannelConfig, NotificationChannels};

/// The pause between two requests for updates while a channel waits for its chat.
const POLL_INTERVAL: SignedDuration = SignedDuration::from_secs(1);
/// The pause after a failed request.
const RETRY_INTERVAL: SignedDuration = SignedDuration::from_secs(5);
/// The pause between two searches for waiting channels, which another process may have created.
const SEARCH_INTERVAL: SignedDuration = SignedDuration::from_secs(15);

const LINKED: &str = "This chat is linked: messages about your alerts reach you here.";
const UNKNOWN_CODE: &str =
    "This code is unknown or has expired. Request a new one: change the configuration of the channel.";

/// The token of a user's bot; `None` for that of the operator.
type BotToken = Option<String>;

/// A channel that waits for its chat.
struct WaitingChannel {
    channel: NotificationChannel,
    config: TelegramConfig,
}

impl NotificationChannels {
    /// Reads the updates of bots now. The service does this every second while a channel waits for its chat; call it to avoid the wait.
    pub fn read_telegram_updates(&self) {
        self.link_requested.notify_one();
    }

    /// Links chats to Telegram channels until `stop`.
    pub async fn run_telegram_links(self, stop: CancellationToken) {
        let round = async || {
            let pause = self.link_chats().await;
            tokio::select! {
                () = self.link_requested.notified() => {}
                () = self.ports.network.time.sleep(pause.unsigned_abs()) => {}
            }
        };
        // An update whose handling was interrupted is read again: it is confirmed afterwards.
        while stop.run_until_cancelled(round()).await.is_some() {}
    }

    /// Reads the updates of all bots for which a channel waits. Returns the pause until the next time.
    async fn link_chats(&self) -> SignedDuration {
        let waiting = match self.waiting_channels().await {
            Ok(waiting) => waiting,
            Err(error) => {
                tracing::warn!(%error, "the channels that wait for a Telegram chat cannot be read");
                return RETRY_INTERVAL;
            }
        };
        if waiting.is_empty() {
            return SEARCH_INTERVAL;
        }
        let mut pause = POLL_INTERVAL;
        for (token, waiting) in waiting {
            let channels: Vec<NotificationChannel> = waiting.iter().map(|waiting| waiting.channel.clone()).collect();
            let Err(error) = self.read_bot(&token, waiting).await else {
                continue;
            };
            pause = RETRY_INTERVAL;
            if token.is_none() {
                tracing::warn!(%error, "the updates of the operator's Telegram bot cannot be read");
            } else if let Err(error) = self.end_links(channels, &error).await {
                tracing::warn!(%error, "the failure of a user's Telegram bot cannot be recorded");
            }
        }
        pause
    }

    async fn waiting_channels(&self) -> Result<HashMap<BotToken, Vec<WaitingChannel>>, ServiceError> {
        let channels = self.ports.store.channels_awaiting_link(self.ports.clock.now()).await?;
        let mut waiting: HashMap<BotToken, Vec<WaitingChannel>> = HashMap::new();
        for channel in channels {
            let Ok(opened) = self.open(&channel) else {
                tracing::error!(channel = %channel.id.0, "the configuration of a notification channel cannot be read");
                continue;
            };
            if let Some(NotificationChannelConfig::Service(ChannelTarget::Telegram(config))) = opened {
                let token = config.bot_token.as_ref().map(|token| token.expose().to_owned());
                waiting
                    .entry(token)
                    .or_default()
                    .push(WaitingChannel { channel, config });
            }
        }
        Ok(waiting)
    }

    /// Shows the owners of channels why their own bot cannot be read. A bot whose token is wrong, or whose updates another program
    /// reads, is not asked again until the owner requests another code.
    async fn end_links(&self, channels: Vec<NotificationChannel>, error: &LinkError) -> Result<(), ServiceError> {
        let LinkError::Telegram(failure) = error else {
            return Ok(());
        };
        let is_final = matches!(
            failure.outcome,
            MessageOutcome::NotAuthenticated | MessageOutcome::Deferred { code: 409, .. }
        );
        if !is_final {
            tracing::debug!(%error, "the updates of a user's Telegram bot cannot be read");
            return Ok(());
        }
        let error = format!(
            "the bot cannot be read: {failure}; fix its token or stop its other reader, then set `config` to {{}} for another code"
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

    /// Reads the updates of a bot until there are no more, which confirms them. It begins without an offset each time: after a quiet
    /// week, Telegram chooses a lower id.
    async fn read_bot(&self, token: &BotToken, mut channels: Vec<WaitingChannel>) -> Result<(), LinkError> {
        let secret = token.as_ref().map(ChannelSecret::new);
        let mut offset: Option<i64> = None;
        loop {
            let (client, bot_token) = (Arc::clone(&self.client), secret.clone());
            let read = async move {
                client
                    .telegram()
                    .updates(bot_token.as_ref(), offset, Duration::ZERO)
                    .await
            };
            let mut updates = self.ports.network.run(read).await?;
            // A server that does not confirm updates must not be asked without a pause.
            updates.retain(|update| offset.is_none_or(|offset| update.id >= offset));
            if updates.is_empty() {
                return Ok(());
            }
            for update in updates {
                let next = update.id.saturating_add(1);
                self.handle(token, &mut channels, update).await?;
                offset = Some(next);
            }
        }
    }

    async fn handle(
        &self,
        token: &BotToken,
        channels: &mut Vec<WaitingChannel>,
        update: TelegramUpdate,
    ) -> Result<(), LinkError> {
        let TelegramEvent::Start { code, chat_id } = update.event else {
            return Ok(());
        };
        let (hash, now) = (code_hash(&code), self.ports.clock.now());
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

/// Reason why the updates of a bot were not read.
#[derive(Debug, thiserror::Error)]
enum LinkError {
    #[error(transparent)]
    Telegram(#[from] TelegramError),
    #[error(transparent)]
    Service(#[from] ServiceError),
}
