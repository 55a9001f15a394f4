//! The Telegram message of a channel message.

use url::{Host, Url};

use super::models::{InlineButton, InlineKeyboard, LinkPreviewOptions, MessageEntity, SendMessage};
use crate::channels::message::{ChannelMessage, OPEN_LABEL};
use crate::channels::text::{TextLimit, plain_lines};
use crate::templates::plain;

/// "Text of the message to be sent, 1-4096 characters after entities parsing": <https://core.telegram.org/bots/api#sendmessage>.
/// Telegram measures texts in UTF-16 code units: <https://core.telegram.org/api/entities#entity-length>.
pub(in crate::channels) const TEXT_LIMIT: TextLimit = TextLimit::utf16_units(4_096);
/// Maximum length of a title, in characters, so that it leaves space for the text.
const MAX_TITLE_LENGTH: usize = 250;
/// "Data to be sent in a callback query to the bot when the button is pressed, 1-64 bytes":
/// <https://core.telegram.org/bots/api#inlinekeyboardbutton>.
const MAX_CALLBACK_DATA_BYTES: usize = 64;
/// Maximum number of buttons in a row, so that labels are readable on a phone.
const BUTTONS_PER_ROW: usize = 2;

/// Returns the request body of a message to a chat.
pub(super) fn body(chat_id: i64, message: &ChannelMessage) -> SendMessage {
    let title = plain(&message.title, MAX_TITLE_LENGTH);
    let heading = format!("{title}\n");
    let page = message.link.as_ref();
    // A page that cannot be a button is a line of the text.
    let footer = page.filter(|url| !is_button_url(url)).map(Url::as_str);
    let text = plain_lines(&message.text);
    let text = TEXT_LIMIT
        .after(&heading)
        .cut_with_footer(&text, footer.unwrap_or_default());
    let mut buttons: Vec<InlineButton> = Vec::new();
    buttons.extend(page.and_then(|url| url_button(OPEN_LABEL, url)));
    for action in &message.actions {
        let data = action.callback_data.as_ref();
        let data = data.filter(|data| (1..=MAX_CALLBACK_DATA_BYTES).contains(&data.len()));
        buttons.extend(match data {
            Some(data) => Some(InlineButton {
                text: action.kind.label(),
                url: None,
                callback_data: Some(data.clone()),
            }),
            None => url_button(action.kind.label(), &action.url),
        });
    }
    SendMessage {
        chat_id,
        entities: vec![MessageEntity {
            kind: "bold",
            offset: 0,
            length: TEXT_LIMIT.length(&title),
        }],
        text: (heading + &text).trim_end().to_owned(),
        link_preview_options: LinkPreviewOptions { is_disabled: true },
        reply_markup: keyboard(buttons),
    }
}

/// Returns the request body of a text without a title and buttons.
pub(super) fn reply(chat_id: i64, text: &str) -> SendMessage {
    SendMessage {
        chat_id,
        text: TEXT_LIMIT.cut(&plain_lines(text)),
        entities: Vec::new(),
        link_preview_options: LinkPreviewOptions { is_disabled: true },
        reply_markup: None,
    }
}

fn keyboard(buttons: Vec<InlineButton>) -> Option<InlineKeyboard> {
    let mut rows: Vec<Vec<InlineButton>> = Vec::new();
    for button in buttons {
        match rows.last_mut() {
            Some(row) if row.len() < BUTTONS_PER_ROW => row.push(button),
            _ => rows.push(vec![button]),
        }
    }
    (!rows.is_empty()).then_some(InlineKeyboard { inline_keyboard: rows })
}

fn url_button(text: &'static str, url: &Url) -> Option<InlineButton> {
    is_button_url(url).then(|| InlineButton {
        text,
        url: Some(url.to_string()),
        callback_data: None,
    })
}

/// Returns whether Telegram accepts a URL of a button. It rejects the whole message for a host without a dot, like `localhost`.
fn is_button_url(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.contains('.'),
        Some(_) => true,
        None => false,
    }
}
