//! The message of a Slack incoming webhook, in Block Kit: <https://docs.slack.dev/reference/block-kit/blocks>.

use serde::Serialize;

/// The body of a request.
#[derive(Serialize)]
pub(super) struct SlackMessage {
    /// The text of notifications.
    pub(super) text: String,
    /// Whether Slack interprets markup in `text`.
    pub(super) mrkdwn: bool,
    pub(super) unfurl_links: bool,
    pub(super) unfurl_media: bool,
    pub(super) blocks: Vec<SlackBlock>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum SlackBlock {
    Header { text: SlackText },
    Section { text: SlackText },
    Actions { elements: Vec<SlackButton> },
}

/// A text without markup.
#[derive(Serialize)]
#[serde(tag = "type", rename = "plain_text")]
pub(super) struct SlackText {
    pub(super) text: String,
    /// Whether Slack replaces `:name:` with an emoji.
    pub(super) emoji: bool,
}

/// A button that opens a URL in the browser.
#[derive(Serialize)]
#[serde(tag = "type", rename = "button")]
pub(super) struct SlackButton {
    pub(super) text: SlackText,
    pub(super) url: String,
}
