//! The Discord message of a channel message.
//!
//! Webhooks that no application owns cannot have buttons with actions, so the links are text, in an embed of their own. Discord reads
//! Markdown, so the characters of Markdown are escaped in texts. Mentions like `@everyone` have no effect (`allowed_mentions`).

use super::models::{AllowedMentions, DiscordEmbed, DiscordMessage};
use crate::channels::message::ChannelMessage;
use crate::channels::text::{TextLimit, plain_lines};
use crate::templates::plain;

/// "The message contents (up to 2000 characters)": <https://docs.discord.com/developers/resources/webhook#execute-webhook>. The
/// documentation does not say whether an emoji is one character; UTF-16 is the larger count.
pub(in crate::channels) const TEXT_LIMIT: TextLimit = TextLimit::utf16_units(2_000);
/// Maximum length of the description of an embed: <https://docs.discord.com/developers/resources/message#embed-object-embed-limits>.
const MAX_DESCRIPTION_LENGTH: usize = 4_096;
/// Maximum length of a title, in characters, so that it leaves space for the text.
const MAX_TITLE_LENGTH: usize = 256;

/// Returns the request body of a message.
pub(super) fn body(message: &ChannelMessage) -> DiscordMessage {
    let title = TEXT_LIMIT.cut_escaped(&plain(&message.title, MAX_TITLE_LENGTH), escape);
    let heading = format!("**{title}**\n");
    let text = TEXT_LIMIT
        .after(&heading)
        .cut_escaped(&plain_lines(&message.text), escape);
    let links = links(message);
    DiscordMessage {
        content: (heading + &text).trim_end().to_owned(),
        embeds: if links.is_empty() {
            Vec::new()
        } else {
            vec![DiscordEmbed { description: links }]
        },
        allowed_mentions: AllowedMentions { parse: [] },
    }
}

/// Returns the links as Markdown, as many as fit into a description.
fn links(message: &ChannelMessage) -> String {
    message.links().fold(String::new(), |links, (label, url)| {
        // A parenthesis would end the link.
        let url = url.as_str().replace('(', "%28").replace(')', "%29");
        let separator = if links.is_empty() { "" } else { " · " };
        let longer = format!("{links}{separator}[{label}]({url})");
        if longer.chars().count() <= MAX_DESCRIPTION_LENGTH {
            longer
        } else {
            links
        }
    })
}

/// The characters of Markdown and of mentions: <https://support.discord.com/hc/en-us/articles/210298617>.
fn escape(c: char) -> Option<&'static str> {
    match c {
        '\\' => Some("\\\\"),
        '*' => Some("\\*"),
        '_' => Some("\\_"),
        '~' => Some("\\~"),
        '`' => Some("\\`"),
        '|' => Some("\\|"),
        '<' => Some("\\<"),
        '>' => Some("\\>"),
        '[' => Some("\\["),
        ']' => Some("\\]"),
        '#' => Some("\\#"),
        _ => None,
    }
}
