//! Reads the updates of Telegram bots: codes that link chats, and buttons that were pressed.
//!
//! The Bot API returns each update until a later request confirms it by its offset. An update is confirmed after it was handled, so
//! none is lost if the process is stopped in between.
//!
//! A bot is read while a channel waits for its chat, and as long as a channel has one. Then the request waits at Telegram for the next
//! update, so that a button acts at once and an idle bot costs three requests a minute. Of several processes on one database, one
//! reads the bots: the Bot API refuses a second reader. Channels that another process has created are found with the next search.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use foundation::{JobLease, ServiceError};
use jiff::{SignedDuration, Timestamp};
use notify::channels::ChannelSecret;
use notify::channels::ChannelTarget;
use notify::channels::telegram::{TelegramConfig, TelegramError, TelegramEvent, TelegramUpdate};
use notify::message_attempt::MessageOutcome;
use store::StoreError;
use store::model::NotificationChannel;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::telegram_buttons::{ButtonActions, PressedButton};
use super::{NotificationChannelConfig, NotificationChannels};

/// The pause between two requests for the updates of a bot.
const POLL_INTERVAL: SignedDuration = SignedDuration::from_secs(1);
/// The time for which a request waits for an update of a bot with a linked chat.
const UPDATE_WAIT: Duration = Duration::from_secs(20);
/// The pause after a failed request.
const RETRY_INTERVAL: SignedDuration = SignedDuration::from_secs(5);
/// The pause after a request of a bot whose token is wrong, or whose updates another program reads.
const REFUSED_INTERVAL: SignedDuration = SignedDuration::from_mins(1);
/// The pause between two searches for bots, whose channels another process may have created.
const SEARCH_INTERVAL: SignedDuration = SignedDuration::from_secs(15);

/// Lease of the reading of bots.
const READING_LEASE: SignedDuration = SignedDuration::from_secs(30);

/// The token of a user's bot; `None` for that of the operator.
pub(super) type BotToken = Option<String>;

/// A channel that waits for its chat.
pub(super) struct WaitingChannel {
    pub(super) channel: NotificationChannel,
    pub(super) config: TelegramConfig,
}

/// The channels of a bot.
#[derive(Default)]
struct BotChannels {
    waiting: Vec<WaitingChannel>,
    /// Whether a channel has a chat, whose buttons may be pressed.
    is_linked: bool,
}

/// Reason why the updates of a bot were not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum UpdateError {
    #[error(transparent)]
    Telegram(#[from] TelegramError),
    #[error(transparent)]
    Service(#[from] ServiceError),
}

impl UpdateError {
    /// Returns whether the token is wrong, or another program reads the updates.
    const fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Telegram(TelegramError {
                outcome: MessageOutcome::NotAuthenticated | MessageOutcome::Deferred { code: 409, .. },
                ..
            })
        )
    }
}

impl NotificationChannels {
    /// Reads the updates of bots now. The service does this every second while a channel waits for its chat; call it to avoid the wait.
    pub fn read_telegram_updates(&self) {
        self.link_requested.notify_one();
    }

    /// Links chats to Telegram channels, and performs the actions of buttons, until `stop`.
    pub async fn run_telegram_updates(self, actions: impl ButtonActions, stop: CancellationToken) {
        // Bots that refused to be read, each with the time until which they are left alone.
        let mut refused: HashMap<BotToken, Timestamp> = HashMap::new();
        let lease = JobLease::new(&self.ports, "telegram_updates", READING_LEASE);
        while !stop.is_cancelled() {
            let round = stop.child_token();
            let end = async {
                tokio::select! {
                    () = self.link_requested.notified() => {}
                    () = self.ports.network.time.sleep(SEARCH_INTERVAL.unsigned_abs()) => {}
                    () = round.cancelled() => {}
                }
                round.cancel();
            };
            tokio::join!(self.read_bots(&actions, &round, &lease, &mut refused), end);
        }
        lease.release().await;
    }

    /// Reads all bots until the end of a round, unless another process reads them.
    async fn read_bots(
        &self,
        actions: &impl ButtonActions,
        round: &CancellationToken,
        lease: &JobLease,
        refused: &mut HashMap<BotToken, Timestamp>,
    ) {
        let bots = match self.bots().await {
            Ok(bots) if bots.is_empty() => return,
            Ok(bots) => bots,
            Err(error) => {
                tracing::warn!(%error, "the Telegram channels cannot be read");
                return;
            }
        };
        let reading = async {
            self.run_readers(bots, actions, round, refused).await;
            Ok::<_, StoreError>(())
        };
        if let Err(error) = lease.run(reading).await {
            tracing::warn!(%error, "the updates of Telegram bots cannot be read");
        }
    }

    /// Reads each bot on its own: one that does not respond does not delay the others.
    async fn run_readers(
        &self,
        bots: HashMap<BotToken, BotChannels>,
        actions: &impl ButtonActions,
        round: &CancellationToken,
        refused: &mut HashMap<BotToken, Timestamp>,
    ) {
        let now = self.ports.network.time.now();
        refused.retain(|_, until| *until > now);
        let mut readers = JoinSet::new();
        for (token, channels) in bots {
            if channels.waiting.is_empty() && refused.contains_key(&token) {
                continue;
            }
            let reader = BotReader {
                service: self.clone(),
                actions: actions.clone(),
                token,
                channels,
                round: round.clone(),
            };
            readers.spawn(reader.run());
        }
        while let Some(ended) = readers.join_next().await {
            match ended {
                Ok(Some(token)) => {
                    let until = self.ports.network.time.now().saturating_add(REFUSED_INTERVAL);
                    refused.insert(token, until.unwrap_or(Timestamp::MAX));
                }
                Ok(None) => {}
                Err(error) => tracing::error!(%error, "the reader of a Telegram bot has failed"),
            }
        }
    }

    async fn bots(&self) -> Result<HashMap<BotToken, BotChannels>, ServiceError> {
        let mut bots: HashMap<BotToken, BotChannels> = HashMap::new();
        for (token, waiting) in self.waiting_channels().await? {
            bots.entry(token).or_default().waiting = waiting;
        }
        for channel in self.ports.store.linked_telegram_channels().await? {
            if let Some(config) = self.telegram_config(&channel) {
                bots.entry(token_of(&config)).or_default().is_linked |= config.chat_id.is_some();
            }
        }
        Ok(bots)
    }

    /// Returns the channels that wait for their chats, by bot.
    pub(super) async fn waiting_channels(&self) -> Result<HashMap<BotToken, Vec<WaitingChannel>>, ServiceError> {
        let channels = self.ports.store.channels_awaiting_link(self.ports.clock.now()).await?;
        let mut waiting: HashMap<BotToken, Vec<WaitingChannel>> = HashMap::new();
        for channel in channels {
            if let Some(config) = self.telegram_config(&channel) {
                let of_bot = waiting.entry(token_of(&config)).or_default();
                of_bot.push(WaitingChannel { channel, config });
            }
        }
        Ok(waiting)
    }

    /// Returns the configuration of a Telegram channel; `None` if it cannot be read.
    pub(super) fn telegram_config(&self, channel: &NotificationChannel) -> Option<TelegramConfig> {
        match self.open(channel) {
            Ok(Some(NotificationChannelConfig::Service(ChannelTarget::Telegram(config)))) => Some(config),
            Ok(_) => None,
            Err(error) => {
                tracing::error!(%error, channel = %channel.id.0, "the configuration of a notification channel cannot be read");
                None
            }
        }
    }
}

pub(super) fn token_of(config: &TelegramConfig) -> BotToken {
    config.bot_token.as_ref().map(|token| token.expose().to_owned())
}

/// Reads the updates of one bot.
struct BotReader<A> {
    service: NotificationChannels,
    actions: A,
    token: BotToken,
    channels: BotChannels,
    round: CancellationToken,
}

impl<A: ButtonActions> BotReader<A> {
    /// Reads until the end of the round. Returns the token of a bot that refuses to be read.
    async fn run(mut self) -> Option<BotToken> {
        loop {
            let pause = match self.handle_updates().await {
                Ok(()) => POLL_INTERVAL,
                Err(error) => {
                    self.report(&error).await;
                    if error.is_refusal() && self.channels.waiting.is_empty() {
                        return Some(self.token);
                    }
                    RETRY_INTERVAL
                }
            };
            let sleep = self.service.ports.network.time.sleep(pause.unsigned_abs());
            self.round.run_until_cancelled(sleep).await?;
            if self.channels.is_linked {
                // Confirms nothing, so that it can be cancelled at any time. Its failure is that of the next request, too.
                let next = self.updates(None, UPDATE_WAIT);
                let _ = self.round.run_until_cancelled(next).await?;
            }
        }
    }

    /// Handles updates until there are no more, which confirms them. It begins without an offset each time: after a quiet week, Telegram
    /// chooses a lower id.
    async fn handle_updates(&mut self) -> Result<(), UpdateError> {
        let first = self.updates(None, Duration::ZERO);
        let Some(first) = self.round.run_until_cancelled(first).await else {
            return Ok(());
        };
        let mut updates = first?;
        while let Some(last) = updates.iter().map(|update| update.id).max() {
            for update in updates {
                self.handle(update).await?;
            }
            let offset = last.saturating_add(1);
            updates = self.updates(Some(offset), Duration::ZERO).await?;
            // A server that does not confirm updates must not be asked without a pause.
            updates.retain(|update| update.id >= offset);
            if self.round.is_cancelled() {
                // The next round reads them.
                return Ok(());
            }
        }
        Ok(())
    }

    async fn updates(&self, offset: Option<i64>, wait: Duration) -> Result<Vec<TelegramUpdate>, TelegramError> {
        let (client, token) = (
            Arc::clone(&self.service.client),
            self.token.as_ref().map(ChannelSecret::new),
        );
        let read = async move { client.telegram().updates(token.as_ref(), offset, wait).await };
        self.service.ports.network.run(read).await
    }

    async fn handle(&mut self, update: TelegramUpdate) -> Result<(), UpdateError> {
        match update.event {
            TelegramEvent::Start { code, chat_id } => {
                let waiting = &mut self.channels.waiting;
                Ok(self.service.link_by_code(&self.token, waiting, &code, chat_id).await?)
            }
            TelegramEvent::Button {
                query_id,
                data,
                chat_id,
                sender,
            } => {
                let button = PressedButton { data, chat_id, sender };
                let text = self.service.press(&self.token, button, &self.actions).await?;
                let (client, token) = (
                    Arc::clone(&self.service.client),
                    self.token.as_ref().map(ChannelSecret::new),
                );
                let answer = async move { client.telegram().answer(token.as_ref(), &query_id, &text).await };
                if let Err(error) = self.service.ports.network.run(answer).await {
                    // The query may be too old for an answer. What the button does was done.
                    tracing::info!(%error, "the answer to a button was not accepted by Telegram");
                }
                Ok(())
            }
            TelegramEvent::Other => Ok(()),
        }
    }

    /// Logs why the bot cannot be read. The owners of channels that wait at a bot of their own see it, and wait no longer.
    async fn report(&mut self, error: &UpdateError) {
        if self.token.is_none() {
            tracing::warn!(%error, "the updates of the operator's Telegram bot cannot be read");
            return;
        }
        tracing::debug!(%error, "the updates of a user's Telegram bot cannot be read");
        // Two processes that read a bot with a chat hinder each other from time to time; one of them reads the updates.
        let is_final = match error {
            UpdateError::Telegram(failure) => {
                error.is_refusal() && (!self.channels.is_linked || failure.outcome == MessageOutcome::NotAuthenticated)
            }
            UpdateError::Service(_) => false,
        };
        if is_final {
            let waiting = std::mem::take(&mut self.channels.waiting);
            if let Err(error) = self.service.end_links(&waiting, error).await {
                tracing::warn!(%error, "the failure of a user's Telegram bot cannot be recorded");
            }
        }
    }
}
