//! OAuth clients.

use std::net::IpAddr;

use store::model::{OAuthClientId, RegisteredClient};
use uuid::Uuid;

use super::client_metadata::ClientMetadataError;
use super::redirect_uri;
use crate::oauth::OAuth;
use foundation::ServiceError;

/// Maximum length of a client's name, in characters.
const MAX_CLIENT_NAME_CHARACTERS: usize = 100;
/// Name of clients that provide none.
const DEFAULT_CLIENT_NAME: &str = "Unnamed app";

/// An OAuth client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OAuthClient {
    /// Client id.
    pub id: String,
    /// Name that the client claims.
    pub name: String,
    /// Source of the client's data.
    pub origin: ClientOrigin,
    /// Redirect URIs.
    pub(super) redirect_uris: Vec<String>,
}

/// Source of a client's data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ClientOrigin {
    /// Dynamic registration. Anyone can register any name.
    Registered,
    /// Client metadata document. The owner of this host vouches for it.
    Host(String),
}

/// Reason why a client is not found.
#[derive(Debug, thiserror::Error)]
pub(super) enum ClientError {
    /// The client is not registered, or its registration has expired.
    #[error(
        "the app is not registered here, or its registration has expired. Remove this service from the app and add it again"
    )]
    Unknown,
    /// The client metadata document is invalid.
    #[error(transparent)]
    Metadata(#[from] ClientMetadataError),
    /// Internal failure.
    #[error(transparent)]
    Failed(#[from] ServiceError),
}

impl OAuthClient {
    /// Returns whether a redirect URI is registered for this client.
    pub(super) fn allows_redirect(&self, redirect_uri: &str) -> bool {
        let mut registered = self.redirect_uris.iter();
        registered.any(|one| redirect_uri::is_registered(one, redirect_uri))
    }
}

impl OAuth {
    /// Returns the client with this id, for a request from the client address `address`.
    pub(super) async fn find_client(&self, id: &str, address: IpAddr) -> Result<OAuthClient, ClientError> {
        if id.starts_with("https://") {
            return Ok(self.metadata_client(id, address).await?);
        }
        let found = match registered_id(id) {
            Some(id) => self.ports.store.oauth_client(id).await.map_err(ServiceError::from)?,
            None => None,
        };
        found.map(OAuthClient::from).ok_or(ClientError::Unknown)
    }
}

/// Parses the id of a registered client.
pub(super) fn registered_id(text: &str) -> Option<OAuthClientId> {
    let id = Uuid::try_parse(text).ok()?;
    // Clients compare ids as text, so only one form is valid.
    (id.to_string() == text).then_some(OAuthClientId(id))
}

impl From<RegisteredClient> for OAuthClient {
    fn from(client: RegisteredClient) -> Self {
        Self {
            id: client.id.0.to_string(),
            name: client.name,
            origin: ClientOrigin::Registered,
            redirect_uris: client.redirect_uris,
        }
    }
}

/// Normalizes a client's name: one line, without invisible characters and direction overrides. Returns `None` if it is
/// too long.
pub(super) fn display_name(text: Option<&str>) -> Option<String> {
    let visible: String = text.unwrap_or_default().chars().filter(|c| !is_invisible(*c)).collect();
    let words: Vec<&str> = visible.split_whitespace().collect();
    let name = words.join(" ");
    if name.is_empty() {
        return Some(DEFAULT_CLIENT_NAME.to_owned());
    }
    (name.chars().count() <= MAX_CLIENT_NAME_CHARACTERS).then_some(name)
}

/// Returns whether a character is invisible or changes the display of others. Names must not imitate other names.
fn is_invisible(c: char) -> bool {
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
    fn client_name_is_one_visible_line() {
        for (text, expected) in [
            (Some("  My\n agent\t"), Some("My agent")),
            (Some("Agent \u{202e}gnp.exe"), Some("Agent gnp.exe")),
            (Some("Bell\u{200b}we\u{ad}ther\0"), Some("Bellwether")),
            (Some("\u{200b} \u{2066}"), Some(DEFAULT_CLIENT_NAME)),
            (Some("\u{2800}My\u{2800} agent"), Some("My agent")),
            (Some("\u{2800}"), Some(DEFAULT_CLIENT_NAME)),
            (Some(""), Some(DEFAULT_CLIENT_NAME)),
            (None, Some(DEFAULT_CLIENT_NAME)),
            (Some("J\u{f6}rgs \u{1f514} <b>"), Some("J\u{f6}rgs \u{1f514} <b>")),
        ] {
            assert_eq!(display_name(text).as_deref(), expected, "{text:?}");
        }
        assert!(display_name(Some(&"\u{e4}".repeat(100))).is_some());
        assert_eq!(display_name(Some(&"\u{e4}".repeat(101))), None);
    }

    #[test]
    fn client_id_has_one_canonical_form() {
        let id = "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11";
        assert!(registered_id(id).is_some());
        for text in [&id.to_uppercase(), &id.replace('-', ""), &format!("{{{id}}}"), "", "x"] {
            assert!(registered_id(text).is_none(), "{text}");
        }
    }
}
