//! The Apprise message of a channel message. Links are lines of the text, as Apprise has no buttons.

use super::models::AppriseMessage;
use crate::channels::message::ChannelMessage;
use crate::channels::text::{TextLimit, plain_lines};
use crate::templates::plain;

/// The default of Apprise's `body_maxlen`, above which it cuts texts itself. Its services have smaller limits:
/// <https://github.com/caronc/apprise/wiki/Development_API#notifybase-class>.
pub(in crate::channels) const TEXT_LIMIT: TextLimit = TextLimit::characters(32_768);
/// The default of Apprise's `title_maxlen`.
const MAX_TITLE_LENGTH: usize = 250;

/// Returns the request body of a message.
pub(super) fn body(message: &ChannelMessage) -> AppriseMessage {
    AppriseMessage {
        title: plain(&message.title, MAX_TITLE_LENGTH),
        body: TEXT_LIMIT.cut_with_footer(&plain_lines(message.text_or_title()), &message.link_lines()),
        kind: if message.urgent { "warning" } else { "info" },
        format: "text",
    }
}
