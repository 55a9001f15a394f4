//! Methods of the Bot API: sending messages, and reading updates.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use url::Url;

use super::error::{self, ErrorResponse};
use super::models::{AnswerCallbackQuery, GetUpdates, SendMessage, TelegramResponse};
use super::updates::{self, TelegramUpdate};
use super::{TelegramSettings, method_url, render};
use crate::channels::exchange::{Exchange, json};
use crate::channels::outcome::{AcceptedMessage, SendFailure};
use crate::channels::secret::{ChannelSecret, mask};
use crate::channels::text::TextLimit;
use crate::message_attempt::MessageOutcome;
use crate::provider::parse_base_url;
use crate::templates::plain;

/// Maximum length of the answer to a button: <https://core.telegram.org/bots/api#answercallbackquery>.
const ANSWER_LIMIT: TextLimit = TextLimit::utf16_units(200);
/// Maximum number of updates in one response.
const MAX_UPDATES: u8 = 20;
/// Maximum size of a response in bytes. Anyone can send messages of 4,096 characters to a bot, with up to 12 bytes for a character.
const MAX_RESPONSE_BYTES: usize = 2 * 1024 * 1024;
/// Maximum length of the detail of an error, in characters.
const MAX_DETAIL_LENGTH: usize = 300;

/// The Bot API, for the bot of the operator and those of users.
pub struct TelegramBot {
    exchange: Arc<Exchange>,
    base_url: Url,
    /// The token of the operator's bot.
    operator_token: Option<ChannelSecret>,
}

/// The failure of a request to the Bot API. It contains no token.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{outcome}{}", detail.as_ref().map(|detail| format!(" {detail}")).unwrap_or_default())]
pub struct TelegramError {
    /// The kind of failure, with the delay that Telegram requests.
    pub outcome: MessageOutcome,
    /// The description of Telegram.
    pub detail: Option<String>,
}

impl TelegramError {
    fn of(failure: SendFailure, secrets: &[&str]) -> Self {
        let detail = failure
            .detail
            .map(|detail| plain(&mask(&detail, secrets), MAX_DETAIL_LENGTH));
        Self {
            outcome: failure.outcome,
            detail,
        }
    }
}

impl fmt::Debug for TelegramBot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TelegramBot").finish_non_exhaustive()
    }
}

impl TelegramBot {
    /// Creates a client; `None` if the base URL is neither https nor http to this machine, or has a query.
    pub(in crate::channels) fn new(exchange: Arc<Exchange>, settings: TelegramSettings) -> Option<Self> {
        Some(Self {
            exchange,
            base_url: parse_base_url(&settings.base_url)?,
            operator_token: settings.bot_token,
        })
    }

    /// Returns whether the operator has a bot.
    #[must_use]
    pub fn has_operator_token(&self) -> bool {
        self.operator_token.is_some()
    }

    /// Reads the updates from `offset` on, and waits up to `wait` for the first one. `token` is that of a user's bot, `None` for the
    /// operator's. One program at a time may read the updates of a bot; another one gets 409, which is deferred.
    ///
    /// # Errors
    /// [`TelegramError`] if there is no list of updates.
    pub async fn updates(
        &self,
        token: Option<&ChannelSecret>,
        offset: Option<i64>,
        wait: Duration,
    ) -> Result<Vec<TelegramUpdate>, TelegramError> {
        let body = GetUpdates {
            offset,
            limit: MAX_UPDATES,
            timeout: wait.as_secs(),
            allowed_updates: ["message", "callback_query"],
        };
        let timeout = self.exchange.timeout.saturating_add(wait);
        let response = self.public_call(token, "getUpdates", &body, timeout).await?;
        updates::parse(response.result).ok_or(TelegramError {
            outcome: MessageOutcome::InvalidResponse,
            detail: None,
        })
    }

    /// Answers a button, which ends its progress indicator and shows a text of at most 200 characters.
    ///
    /// # Errors
    /// [`TelegramError`] if the answer was not accepted, for example because the query is older than a few minutes.
    pub async fn answer(&self, token: Option<&ChannelSecret>, query_id: &str, text: &str) -> Result<(), TelegramError> {
        let body = AnswerCallbackQuery {
            callback_query_id: query_id,
            text: ANSWER_LIMIT.cut(text),
        };
        let call = self.public_call(token, "answerCallbackQuery", &body, self.exchange.timeout);
        call.await.map(drop)
    }

    /// Sends a text to a chat, such as the confirmation that it is linked.
    ///
    /// # Errors
    /// [`TelegramError`] if the text was not accepted.
    pub async fn reply(&self, token: Option<&ChannelSecret>, chat_id: i64, text: &str) -> Result<(), TelegramError> {
        let body = render::reply(chat_id, text);
        let call = self.public_call(token, "sendMessage", &body, self.exchange.timeout);
        call.await.map(drop)
    }

    /// Returns the token of a channel, or else that of the operator.
    pub(super) fn token<'a>(&'a self, token: Option<&'a ChannelSecret>) -> Result<&'a ChannelSecret, SendFailure> {
        let token = token.or(self.operator_token.as_ref());
        token.ok_or_else(|| SendFailure::unsendable("set `config.bot_token`; the operator has configured none"))
    }

    /// Returns the token of the operator's bot.
    pub(in crate::channels) fn operator_token(&self) -> Option<&ChannelSecret> {
        self.operator_token.as_ref()
    }

    /// Sends a message to a chat. Returns its id at Telegram.
    pub(super) async fn send_message(
        &self,
        token: &ChannelSecret,
        body: &SendMessage,
    ) -> Result<AcceptedMessage, ErrorResponse> {
        let call = self.call(token, "sendMessage", body, self.exchange.timeout);
        let (http_status, response) = call.await?;
        let id = response.result.get("message_id").and_then(Value::as_i64);
        Ok(AcceptedMessage {
            http_status,
            provider_id: id.map(|id| id.to_string()),
            migrated_chat_id: None,
        })
    }

    /// Calls a method for another module, with an error without secrets.
    async fn public_call(
        &self,
        token: Option<&ChannelSecret>,
        method: &str,
        body: &impl Serialize,
        timeout: Duration,
    ) -> Result<TelegramResponse, TelegramError> {
        let token = self.token(token).map_err(|failure| TelegramError::of(failure, &[]))?;
        let called = self.call(token, method, body, timeout).await;
        let called = called.map_err(|error| TelegramError::of(error.failure, &[token.expose()]));
        called.map(|(_, response)| response)
    }

    /// Calls a method. Returns the HTTP status and the body.
    async fn call(
        &self,
        token: &ChannelSecret,
        method: &str,
        body: &impl Serialize,
        timeout: Duration,
    ) -> Result<(u16, TelegramResponse), ErrorResponse> {
        let url = method_url(&self.base_url, token, method);
        let url = url.ok_or_else(|| SendFailure::unsendable("`config.bot_token` has characters that no token has"))?;
        let exchange = &self.exchange;
        let response = exchange.post_to_operator_url(url, "application/json", json(body), timeout, MAX_RESPONSE_BYTES);
        let response = response.await?;
        let body = error::result(&response, exchange.now())?;
        Ok((response.status().as_u16(), body))
    }
}
