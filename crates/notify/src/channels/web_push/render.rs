//! The push message of a channel message.

use bytes::Bytes;

use super::encrypt::MAX_CONTENT_BYTES;
use super::models::{PushAction, PushContent};
use crate::channels::exchange::json;
use crate::channels::message::ChannelMessage;
use crate::channels::text::{TextLimit, plain_lines};
use crate::templates::plain;

/// The limit of the whole message. Title and links reduce it.
pub(in crate::channels) const TEXT_LIMIT: TextLimit = TextLimit::json_bytes(MAX_CONTENT_BYTES);
/// Maximum length of a title, in characters.
const MAX_TITLE_LENGTH: usize = 200;
/// Number of buttons that browsers show (`Notification.maxActions`).
const MAX_ACTIONS: usize = 2;
/// Maximum length of a URL in bytes, so that three leave space for the text.
const MAX_URL_LENGTH: usize = 768;

/// Returns the content of a message.
pub(super) fn content(message: &ChannelMessage) -> Bytes {
    let is_short = |url: &&str| url.len() <= MAX_URL_LENGTH;
    let actions = message.actions.iter().map(|action| PushAction {
        title: action.kind.label(),
        url: action.url.as_str(),
    });
    let mut content = PushContent {
        title: plain(&message.title, MAX_TITLE_LENGTH),
        body: String::new(),
        url: message.link.as_ref().map(url::Url::as_str).filter(is_short),
        tag: message.id,
        urgent: message.urgent,
        actions: actions
            .filter(|action| is_short(&action.url))
            .take(MAX_ACTIONS)
            .collect(),
    };
    let left = TextLimit::json_bytes(MAX_CONTENT_BYTES.saturating_sub(json(&content).len()));
    content.body = left.cut(&plain_lines(message.text_or_title()));
    json(&content)
}
