//! The bodies of the Bot API: <https://core.telegram.org/bots/api#making-requests>.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The body of `sendMessage`: <https://core.telegram.org/bots/api#sendmessage>. Without `parse_mode`, the text has no markup.
#[derive(Serialize)]
pub(super) struct SendMessage {
    pub(super) chat_id: i64,
    pub(super) text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) entities: Vec<MessageEntity>,
    pub(super) link_preview_options: LinkPreviewOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reply_markup: Option<InlineKeyboard>,
}

/// A formatted part of a text: <https://core.telegram.org/bots/api#messageentity>.
#[derive(Serialize)]
pub(super) struct MessageEntity {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    /// In UTF-16 code units.
    pub(super) offset: usize,
    /// In UTF-16 code units.
    pub(super) length: usize,
}

#[derive(Serialize)]
pub(super) struct LinkPreviewOptions {
    pub(super) is_disabled: bool,
}

/// Rows of buttons: <https://core.telegram.org/bots/api#inlinekeyboardmarkup>.
#[derive(Serialize)]
pub(super) struct InlineKeyboard {
    pub(super) inline_keyboard: Vec<Vec<InlineButton>>,
}

/// A button that opens a URL or returns data to the bot: <https://core.telegram.org/bots/api#inlinekeyboardbutton>.
#[derive(Serialize)]
pub(super) struct InlineButton {
    pub(super) text: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) callback_data: Option<String>,
}

/// The body of `getUpdates`: <https://core.telegram.org/bots/api#getupdates>.
#[derive(Serialize)]
pub(super) struct GetUpdates {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) offset: Option<i64>,
    /// Maximum number of updates in the response.
    pub(super) limit: u8,
    /// Seconds for which the server waits for an update.
    pub(super) timeout: u64,
    pub(super) allowed_updates: [&'static str; 2],
}

/// The body of `answerCallbackQuery`: <https://core.telegram.org/bots/api#answercallbackquery>.
#[derive(Serialize)]
pub(super) struct AnswerCallbackQuery<'a> {
    pub(super) callback_query_id: &'a str,
    pub(super) text: String,
}

/// A response: `{"ok": true, "result": …}`, or `{"ok": false, "error_code", "description", "parameters"}`.
#[derive(Default, Deserialize)]
pub(super) struct TelegramResponse {
    #[serde(default)]
    pub(super) result: Value,
    /// The HTTP status.
    #[serde(default)]
    pub(super) error_code: Option<u32>,
    #[serde(default)]
    pub(super) description: Option<String>,
    #[serde(default)]
    pub(super) parameters: ResponseParameters,
}

/// Data that help to handle an error: <https://core.telegram.org/bots/api#responseparameters>.
#[derive(Default, Deserialize)]
pub(super) struct ResponseParameters {
    /// The new id of a group that became a supergroup.
    #[serde(default)]
    pub(super) migrate_to_chat_id: Option<i64>,
    /// Seconds until the request can be repeated.
    #[serde(default)]
    pub(super) retry_after: Option<u64>,
}
