//! Who a program says it is.

use std::net::IpAddr;

use store::model::{OAuthClientId, RegisteredClient};
use uuid::Uuid;

use super::document::DocumentError;
use super::redirect_uri;
use crate::ServiceError;
use crate::oauth::OAuth;

/// The longest name, in characters.
const MAX_NAME_CHARS: usize = 100;
/// What a program is called that has not said.
const UNNAMED: &str = "An app without a name";

/// A program that may ask people for something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Client {
    /// The name it goes by among programs.
    pub id: String,
    /// What it calls itself.
    pub name: String,
    /// Where that is known from.
    pub origin: Origin,
    /// Where people may be sent back to.
    pub(super) redirect_uris: Vec<String>,
}

/// Where it is known from who a program is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// It has registered itself; anybody can, by any name.
    Registered,
    /// From a document under a URL: whoever has its host says so.
    Host(String),
}

/// Why nothing is known of a program.
#[derive(Debug, thiserror::Error)]
pub(super) enum ClientError {
    /// It has not registered, or that was forgotten.
    #[error(
        "the app is not known here: it has not registered, or nobody has used it for long. Remove this service from the app \
         and add it again"
    )]
    Unknown,
    /// Its document is not what it should be.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// It could not be found out.
    #[error(transparent)]
    Failed(#[from] ServiceError),
}

impl Client {
    /// Whether a browser may be sent there for it.
    pub(super) fn has(&self, redirect_uri: &str) -> bool {
        let mut registered = self.redirect_uris.iter();
        registered.any(|one| redirect_uri::is_registered(one, redirect_uri))
    }
}

impl OAuth {
    /// The program that goes by that name, for whoever asks from `address`.
    pub(super) async fn oauth_client(&self, id: &str, address: IpAddr) -> Result<Client, ClientError> {
        if id.starts_with("https://") {
            return Ok(self.described_client(id, address).await?);
        }
        let found = match registered_id(id) {
            Some(id) => self.ports.store.oauth_client(id).await.map_err(ServiceError::from)?,
            None => None,
        };
        found.map(Client::from).ok_or(ClientError::Unknown)
    }
}

/// The id of a registered client, if it can be one.
pub(super) fn registered_id(text: &str) -> Option<OAuthClientId> {
    let id = Uuid::try_parse(text).ok()?;
    // Ids are texts to programs: one way to write them is enough.
    (id.to_string() == text).then_some(OAuthClientId(id))
}

impl From<RegisteredClient> for Client {
    fn from(client: RegisteredClient) -> Self {
        Self {
            id: client.id.0.to_string(),
            name: client.name,
            origin: Origin::Registered,
            redirect_uris: client.redirect_uris,
        }
    }
}

/// A name on one line, without characters that are not seen or that turn others around. `None`: it is too long.
pub(super) fn name(text: Option<&str>) -> Option<String> {
    let visible: String = text.unwrap_or_default().chars().filter(|c| !is_unseen(*c)).collect();
    let words: Vec<&str> = visible.split_whitespace().collect();
    let name = words.join(" ");
    if name.is_empty() {
        return Some(UNNAMED.to_owned());
    }
    (name.chars().count() <= MAX_NAME_CHARS).then_some(name)
}

/// Whether a character is not seen, or changes how others are: a name must not look like another.
fn is_unseen(c: char) -> bool {
    (c.is_control() && !c.is_whitespace())
        || matches!(
            u32::from(c),
            0xAD | 0x34F
                | 0x61C
                | 0x115F..=0x1160
                | 0x17B4..=0x17B5
                | 0x180B..=0x180F
                | 0x200B..=0x200F
                | 0x2028..=0x202E
                | 0x2060..=0x206F
                | 0x2800
                | 0x3164
                | 0xFE00..=0xFE0F
                | 0xFEFF
                | 0xFFA0
                | 0xFFF0..=0xFFFB
                | 0xE0000..=0xE0FFF
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line_of_what_can_be_seen() {
        for (text, expected) in [
            (Some("  My\n agent\t"), Some("My agent")),
            (Some("Agent \u{202e}gnp.exe"), Some("Agent gnp.exe")),
            (Some("Bell\u{200b}we\u{ad}ther\0"), Some("Bellwether")),
            (Some("\u{200b} \u{2066}"), Some(UNNAMED)),
            (Some("\u{2800}My\u{2800} agent"), Some("My agent")),
            (Some("\u{2800}"), Some(UNNAMED)),
            (Some(""), Some(UNNAMED)),
            (None, Some(UNNAMED)),
            (Some("J\u{f6}rgs \u{1f514} <b>"), Some("J\u{f6}rgs \u{1f514} <b>")),
        ] {
            assert_eq!(name(text).as_deref(), expected, "{text:?}");
        }
        assert!(name(Some(&"\u{e4}".repeat(100))).is_some());
        assert_eq!(name(Some(&"\u{e4}".repeat(101))), None);
    }

    #[test]
    fn an_id_is_written_in_one_way() {
        let id = "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11";
        assert!(registered_id(id).is_some());
        for text in [&id.to_uppercase(), &id.replace('-', ""), &format!("{{{id}}}"), "", "x"] {
            assert!(registered_id(text).is_none(), "{text}");
        }
    }
}
