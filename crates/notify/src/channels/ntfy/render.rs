//! The ntfy message of a channel message.

use super::models::{NtfyAction, NtfyMessage};
use crate::channels::exchange::json;
use crate::channels::message::ChannelMessage;
use crate::channels::text::{TextLimit, plain_lines};
use crate::templates::plain;

/// "Each message can be up to 4,096 bytes long. Longer messages are treated as attachments":
/// <https://docs.ntfy.sh/publish/#limitations>. A server also treats a message of exactly 4096 bytes so.
pub(in crate::channels) const TEXT_LIMIT: TextLimit = TextLimit::bytes(4_095);
/// Maximum size of a JSON request in bytes: a server reads twice the length of a message (`transformBodyJSON` in
/// <https://github.com/binwiederhier/ntfy/blob/main/server/server.go>), and rejects a longer one with 41303.
const MAX_REQUEST_BYTES: usize = 8_192;
/// Maximum length of a title, in characters.
const MAX_TITLE_LENGTH: usize = 200;
/// Maximum number of buttons: <https://docs.ntfy.sh/publish/#action-buttons>.
const MAX_ACTIONS: usize = 3;
/// Maximum length of the URL of a button in bytes, so that three leave space for the text.
const MAX_URL_LENGTH: usize = 1_024;

/// Returns the request body of a message.
pub(super) fn body<'a>(topic: &'a str, message: &'a ChannelMessage) -> NtfyMessage<'a> {
    let is_short = |url: &&str| url.len() <= MAX_URL_LENGTH;
    let actions = message
        .actions
        .iter()
        .map(|action| (action.kind.label(), action.url.as_str()));
    let actions = actions.filter(|(_, url)| is_short(url)).take(MAX_ACTIONS);
    let mut body = NtfyMessage {
        topic,
        title: plain(&message.title, MAX_TITLE_LENGTH),
        message: String::new(),
        priority: if message.urgent { 5 } else { 3 },
        click: message.link.as_ref().map(url::Url::as_str).filter(is_short),
        actions: actions
            .map(|(label, url)| NtfyAction {
                label,
                url,
                method: "POST",
                clear: true,
            })
            .collect(),
        sequence_id: message.id,
    };
    let left = TextLimit::json_bytes(MAX_REQUEST_BYTES.saturating_sub(json(&body).len()));
    body.message = left.cut(&TEXT_LIMIT.cut(&plain_lines(message.text_or_title())));
    body
}
