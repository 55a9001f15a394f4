//! Dynamic client registration (RFC 7591).
//!
//! Anyone can register, so a registration grants nothing and is bounded: in size here, and in number in the store,
//! where a new client replaces the least useful one. Unsupported metadata (such as a secret or other response types) is
//! replaced by supported values, as the RFC allows, unless the client could not work with them.

use serde_json::Value;
use store::model::{OAuthClientId, RegisteredClient};

use super::{MAX_REGISTERED_CLIENTS, OAuthError, OAuthErrorCode, client, redirect_uri};
use crate::oauth::OAuth;

/// Maximum number of redirect URIs per client.
const MAX_REDIRECT_URIS: usize = 10;

impl OAuth {
    /// Registers a client: `{redirect_uris, client_name?}`.
    ///
    /// # Errors
    /// [`OAuthError::Refused`] for invalid metadata, [`OAuthError::Failed`] if the database fails.
    pub async fn register_client(&self, body: &Value) -> Result<RegisteredClient, OAuthError> {
        let client = RegisteredClient {
            id: OAuthClientId(self.ports.random.uuid()),
            name: name(body)?,
            redirect_uris: redirect_uris(body)?,
            created_at: self.ports.clock.now(),
        };
        let require_support = |member, needed| require_support(body, member, needed);
        require_support("grant_types", "authorization_code")?;
        require_support("response_types", "code")?;
        let transaction = self.ports.transaction(client, |client, unit| {
            Box::pin(async move {
                unit.insert_oauth_client(client, MAX_REGISTERED_CLIENTS).await?;
                Ok(client.clone())
            })
        });
        Ok(transaction.await?)
    }
}

fn invalid_metadata(description: impl Into<String>) -> OAuthError {
    OAuthError::new(OAuthErrorCode::InvalidClientMetadata, description)
}

fn name(body: &Value) -> Result<String, OAuthError> {
    let name = match body.get("client_name") {
        None | Some(Value::Null) => client::display_name(None),
        Some(Value::String(text)) => client::display_name(Some(text)),
        Some(_) => return Err(invalid_metadata("client_name must be a text")),
    };
    name.ok_or_else(|| invalid_metadata("client_name must have at most 100 characters"))
}

fn redirect_uris(body: &Value) -> Result<Vec<String>, OAuthError> {
    let refuse = |description: String| OAuthError::new(OAuthErrorCode::InvalidRedirectUri, description);
    let uris = body.get("redirect_uris").and_then(Value::as_array);
    let uris = uris.map_or(&[][..], Vec::as_slice);
    if !(1..=MAX_REDIRECT_URIS).contains(&uris.len()) {
        return Err(refuse(format!(
            "redirect_uris is required and must be a list of 1 to {MAX_REDIRECT_URIS}"
        )));
    }
    let read = |(index, uri): (usize, &Value)| match uri.as_str() {
        None => Err(refuse(format!("redirect_uris: number {} must be a text", index + 1))),
        Some(text) => match redirect_uri::violation(text) {
            Some(fault) => Err(refuse(format!("redirect_uris: number {} {fault}", index + 1))),
            None => Ok(text.to_owned()),
        },
    };
    uris.iter().enumerate().map(read).collect()
}

/// Checks that a list in the metadata, if present, contains a required value.
fn require_support(body: &Value, member: &str, needed: &str) -> Result<(), OAuthError> {
    match body.get(member) {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Array(list)) if list.iter().any(|one| one == needed) => Ok(()),
        Some(_) => Err(invalid_metadata(format!("{member} must be a list with {needed} in it"))),
    }
}
