//! The Slack message of a channel message.
//!
//! Texts may contain user input. Slack interprets `<!channel>` and `<https://…|text>`, so `&`, `<` and `>` are escaped as in
//! <https://docs.slack.dev/messaging/formatting-message-text#escaping>.

use super::models::{SlackBlock, SlackButton, SlackMessage, SlackText};
use crate::channels::message::ChannelMessage;
use crate::channels::text::{TextLimit, plain_lines};
use crate::templates::plain;

/// "Maximum length for the `text` in this field is 150 characters": <https://docs.slack.dev/reference/block-kit/blocks/header-block>.
const TITLE_LIMIT: TextLimit = TextLimit::characters(150);
/// Maximum length of the text of a section:
/// <https://docs.slack.dev/reference/block-kit/blocks/section-block>. Escape sequences count as they are sent.
pub(in crate::channels) const TEXT_LIMIT: TextLimit = TextLimit::characters(3_000);
/// Maximum length of the URL of a button: <https://docs.slack.dev/reference/block-kit/block-elements/button-element>.
const MAX_BUTTON_URL_LENGTH: usize = 3_000;

/// Returns the request body of a message.
pub(super) fn body(message: &ChannelMessage) -> SlackMessage {
    let title = plain(&message.title, TITLE_LIMIT.max);
    let text = plain_lines(message.text_or_title());
    let mut blocks = vec![
        SlackBlock::Header {
            text: plain_text(&title, TITLE_LIMIT),
        },
        SlackBlock::Section {
            text: plain_text(&text, TEXT_LIMIT),
        },
    ];
    let elements: Vec<SlackButton> = message
        .links()
        .filter(|(_, url)| url.as_str().len() <= MAX_BUTTON_URL_LENGTH)
        .map(|(label, url)| SlackButton {
            text: plain_text(label, TITLE_LIMIT),
            url: url.to_string(),
        })
        .collect();
    if !elements.is_empty() {
        blocks.push(SlackBlock::Actions { elements });
    }
    SlackMessage {
        text: TEXT_LIMIT.cut_escaped(&format!("{title}\n{text}"), escape),
        mrkdwn: false,
        unfurl_links: false,
        unfurl_media: false,
        blocks,
    }
}

fn plain_text(text: &str, limit: TextLimit) -> SlackText {
    SlackText {
        text: limit.cut_escaped(text, escape),
        emoji: false,
    }
}

fn escape(c: char) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        _ => None,
    }
}
