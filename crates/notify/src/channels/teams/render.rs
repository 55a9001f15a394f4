//! The Teams message of a channel message.

use super::models::{AdaptiveCard, OpenUrlAction, RichTextBlock, TeamsAttachment, TeamsMessage, TeamsOptions, TextRun};
use crate::channels::exchange::json;
use crate::channels::message::ChannelMessage;
use crate::channels::text::{TextLimit, plain_lines};
use crate::templates::plain;

/// Maximum size of a request in bytes.
///
/// "The message size limit is 28 KB":
/// <https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook>. The workflow accepts any
/// request and fails afterwards, which its sender does not see, and senders report failures from 21 KB
/// (<https://www.rubydoc.info/gems/msteams_hermes/MsTeamsHermes/Message>).
pub(super) const MAX_MESSAGE_BYTES: usize = 21_000;
/// The text alone; the rest of the card has up to 5,000 bytes.
pub(in crate::channels) const TEXT_LIMIT: TextLimit = TextLimit::json_bytes(MAX_MESSAGE_BYTES - 5_000);
/// Maximum length of a title, in characters.
const MAX_TITLE_LENGTH: usize = 250;
/// Maximum length of the URL of a button, in bytes.
const MAX_BUTTON_URL_LENGTH: usize = 2_048;

/// Returns the request body of a message.
pub(super) fn body(message: &ChannelMessage) -> TeamsMessage {
    let mut body = envelope(message);
    let paragraph_bytes = |text: &str| json(&paragraph(text, None)).len() + ",".len();
    // A last paragraph with an ellipsis must fit, too.
    let ellipsis = "…";
    let mut left = MAX_MESSAGE_BYTES.saturating_sub(json(&body).len() + paragraph_bytes(ellipsis));
    let text = plain_lines(&message.text);
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, following) = rest.split_once('\n').unwrap_or((rest, ""));
        // A paragraph is a line, so empty lines are not needed between them.
        if line.trim().is_empty() {
            rest = following;
            continue;
        }
        let length = paragraph_bytes(line);
        if length > left {
            let limit = TextLimit::json_bytes(left + ellipsis.len());
            body.attachments[0]
                .content
                .body
                .push(paragraph(&limit.cut(&rest.replace('\n', " ")), None));
            break;
        }
        left -= length;
        body.attachments[0].content.body.push(paragraph(line, None));
        rest = following;
    }
    body
}

/// Returns the message without its text.
fn envelope(message: &ChannelMessage) -> TeamsMessage {
    let actions = message
        .links()
        .filter(|(_, url)| url.as_str().len() <= MAX_BUTTON_URL_LENGTH)
        .map(|(title, url)| OpenUrlAction {
            title,
            url: url.to_string(),
        });
    TeamsMessage {
        attachments: [TeamsAttachment {
            content_type: "application/vnd.microsoft.card.adaptive",
            content: AdaptiveCard {
                schema: "http://adaptivecards.io/schemas/adaptive-card.json",
                // The first version with RichTextBlock.
                version: "1.2",
                body: vec![paragraph(&plain(&message.title, MAX_TITLE_LENGTH), Some("bolder"))],
                actions: actions.collect(),
                msteams: TeamsOptions { width: "Full" },
            },
        }],
    }
}

fn paragraph(text: &str, weight: Option<&'static str>) -> RichTextBlock {
    RichTextBlock {
        inlines: [TextRun {
            text: text.to_owned(),
            weight,
        }],
    }
}
