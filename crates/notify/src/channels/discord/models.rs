//! The bodies of a Discord webhook: <https://docs.discord.com/developers/resources/webhook#execute-webhook>.

use serde::{Deserialize, Serialize};

/// The body of a request.
#[derive(Serialize)]
pub(super) struct DiscordMessage {
    pub(super) content: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) embeds: Vec<DiscordEmbed>,
    pub(super) allowed_mentions: AllowedMentions,
}

#[derive(Serialize)]
pub(super) struct DiscordEmbed {
    pub(super) description: String,
}

/// The kinds of mentions that notify members: none.
#[derive(Serialize)]
pub(super) struct AllowedMentions {
    pub(super) parse: [&'static str; 0],
}

/// The message that Discord has created.
#[derive(Deserialize)]
pub(super) struct CreatedMessage {
    pub(super) id: String,
}

/// An error: <https://docs.discord.com/developers/reference#error-messages>. After too many requests, it has `retry_after`:
/// <https://docs.discord.com/developers/topics/rate-limits#exceeding-a-rate-limit-rate-limit-response-structure>.
#[derive(Default, Deserialize)]
pub(super) struct DiscordError {
    #[serde(default)]
    pub(super) code: Option<u32>,
    #[serde(default)]
    pub(super) message: Option<String>,
    /// Seconds, as a decimal number.
    #[serde(default)]
    pub(super) retry_after: Option<f64>,
}
