//! Updates that a bot receives: <https://core.telegram.org/bots/api#update>.

use serde::Deserialize;
use serde_json::Value;

use crate::templates::plain;

/// Maximum length of the parameter of `/start`, in characters: <https://core.telegram.org/bots/features#deep-linking>.
const MAX_CODE_LENGTH: usize = 64;
/// Maximum length of the name of a person, in characters.
const MAX_SENDER_LENGTH: usize = 64;

/// An update that a bot has received.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TelegramUpdate {
    /// The id. The offset of the next request is the largest id plus one; it confirms the updates before it.
    pub id: i64,
    /// The content.
    pub event: TelegramEvent,
}

/// The content of an update.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TelegramEvent {
    /// A member of a chat has sent `/start CODE`.
    Start {
        /// The code: letters, digits, hyphens and underscores.
        code: String,
        /// The chat.
        chat_id: i64,
    },
    /// A button of a message was pressed.
    Button {
        /// The id of the query, for [`TelegramBot::answer`](super::TelegramBot::answer).
        query_id: String,
        /// The data of the button, which a modified client may have changed.
        data: String,
        /// The chat of the message.
        chat_id: i64,
        /// The person who pressed the button: `@name`, or else the first name.
        sender: Option<String>,
    },
    /// Anything else.
    Other,
}

#[derive(Deserialize)]
struct UpdateModel {
    #[serde(default)]
    message: Option<MessageModel>,
    #[serde(default)]
    callback_query: Option<CallbackQueryModel>,
}

#[derive(Deserialize)]
struct MessageModel {
    chat: ChatModel,
    #[serde(default)]
    text: Option<String>,
}

#[derive(Deserialize)]
struct ChatModel {
    id: i64,
}

#[derive(Deserialize)]
struct CallbackQueryModel {
    id: String,
    #[serde(default)]
    message: Option<MessageModel>,
    #[serde(default)]
    data: Option<String>,
    #[serde(default)]
    from: Option<UserModel>,
}

#[derive(Deserialize)]
struct UserModel {
    first_name: String,
    #[serde(default)]
    username: Option<String>,
}

/// Parses the result of `getUpdates`. An update that is not of the documented form is [`TelegramEvent::Other`]; `None` if the list is
/// not one.
pub(super) fn parse(result: Value) -> Option<Vec<TelegramUpdate>> {
    let Value::Array(updates) = result else { return None };
    let updates = updates.into_iter().filter_map(|update| {
        let id = update.get("update_id")?.as_i64()?;
        let event = serde_json::from_value(update).ok().and_then(event);
        Some(TelegramUpdate {
            id,
            event: event.unwrap_or(TelegramEvent::Other),
        })
    });
    Some(updates.collect())
}

fn event(update: UpdateModel) -> Option<TelegramEvent> {
    if let Some(query) = update.callback_query {
        return Some(TelegramEvent::Button {
            query_id: query.id,
            data: query.data?,
            chat_id: query.message?.chat.id,
            sender: query.from.and_then(sender),
        });
    }
    let message = update.message?;
    Some(TelegramEvent::Start {
        code: start_code(&message.text?)?.to_owned(),
        chat_id: message.chat.id,
    })
}

fn sender(user: UserModel) -> Option<String> {
    let name = user.username.map_or(user.first_name, |name| format!("@{name}"));
    Some(plain(&name, MAX_SENDER_LENGTH)).filter(|name| !name.is_empty())
}

/// Returns the parameter of `/start CODE`. In groups, the command is `/start@NameOfTheBot`.
fn start_code(text: &str) -> Option<&str> {
    let mut words = text.split_whitespace();
    let command = words.next()?;
    let is_start = command == "/start" || command.starts_with("/start@");
    let code = words.next().filter(|_| is_start)?;
    let is_code = code.len() <= MAX_CODE_LENGTH
        && code
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    (is_code && words.next().is_none()).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_command_has_one_code() {
        let longest = format!("/start {}", "a".repeat(64));
        for (text, expected) in [
            ("/start AB-12_x", Some("AB-12_x")),
            (" /start  AB12 ", Some("AB12")),
            ("/start@bellwether_bot AB12", Some("AB12")),
            (&longest, Some(&longest[7..])),
            (&format!("{longest}a"), None),
            ("/start", None),
            ("/start AB 12", None),
            ("/start A!", None),
            ("/started AB12", None),
            ("AB12", None),
            ("", None),
        ] {
            assert_eq!(start_code(text), expected, "{text}");
        }
    }
}
