//! The Pushover message of a channel message.
//!
//! A message has one link, so that is the first action, and the page of the alert is a line of the text, which Pushover makes
//! clickable.

use super::models::PushoverMessage;
use crate::channels::message::{ChannelMessage, OPEN_LABEL};
use crate::channels::text::{TextLimit, plain_lines};
use crate::templates::plain;

/// "Messages are currently limited to 1024 4-byte UTF-8 characters": <https://pushover.net/api#limits>.
pub(in crate::channels) const TEXT_LIMIT: TextLimit = TextLimit::characters(1_024);
/// "With a title of up to 250 characters".
const MAX_TITLE_LENGTH: usize = 250;
/// "Supplementary URLs are limited to 512 characters".
const MAX_URL_LENGTH: usize = 512;

/// Returns the request body of a message.
pub(super) fn body(message: &ChannelMessage) -> PushoverMessage {
    let action = message
        .actions
        .iter()
        .map(|action| (action.url.as_str(), action.kind.label()));
    let action = action.take(1).find(|(url, _)| url.len() <= MAX_URL_LENGTH);
    let page = message.link.as_ref().map(url::Url::as_str);
    let (link, footer) = match (action, page) {
        (Some(action), page) => (Some(action), page),
        (None, Some(page)) if page.len() <= MAX_URL_LENGTH => (Some((page, OPEN_LABEL)), None),
        (None, page) => (None, page),
    };
    let text = plain_lines(message.text_or_title());
    PushoverMessage {
        title: plain(&message.title, MAX_TITLE_LENGTH),
        message: TEXT_LIMIT.cut_with_footer(&text, footer.unwrap_or_default()),
        priority: if message.urgent { "1" } else { "0" },
        link: link.map(|(url, title)| (url.to_owned(), title)),
    }
}
