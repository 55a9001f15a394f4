//! A program registers itself (RFC 7591).
//!
//! Anybody can, so it means nothing, and is bounded: in size here, in number in the store, where the one that is of least use
//! makes room for one too many: registering cannot be used up. What is asked for that there is not
//! (a secret, other ways to be answered) is answered with what there is, as the RFC allows, unless the program could not work
//! with that.

use serde_json::Value;
use store::model::{OAuthClientId, RegisteredClient};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::{ErrorCode, MAX_CLIENTS, OAuthError, client, redirect_uri};
use crate::ServiceError;
use crate::oauth::OAuth;

/// So many redirect URIs a client has at most.
const MAX_REDIRECT_URIS: usize = 10;

impl OAuth {
    /// Registers a program: `{redirect_uris, client_name?}`.
    ///
    /// # Errors
    /// [`OAuthError::Refused`] for what it says of itself; [`OAuthError::Failed`] if the database fails.
    pub async fn register_client(&self, body: &Value) -> Result<RegisteredClient, OAuthError> {
        let client = RegisteredClient {
            id: OAuthClientId(self.ports.chance.uuid()),
            name: name(body)?,
            redirect_uris: redirect_uris(body)?,
            created_at: self.ports.clock.now(),
        };
        let works_with = |member, needed| works_with(body, member, needed);
        works_with("grant_types", "authorization_code")?;
        works_with("response_types", "code")?;
        Ok(self.ports.store.write(Insert(client)).await?)
    }
}

fn metadata(description: impl Into<String>) -> OAuthError {
    OAuthError::new(ErrorCode::InvalidClientMetadata, description)
}

fn name(body: &Value) -> Result<String, OAuthError> {
    let name = match body.get("client_name") {
        None | Some(Value::Null) => client::name(None),
        Some(Value::String(text)) => client::name(Some(text)),
        Some(_) => return Err(metadata("client_name must be a text")),
    };
    name.ok_or_else(|| metadata("client_name must have at most 100 characters"))
}

fn redirect_uris(body: &Value) -> Result<Vec<String>, OAuthError> {
    let refuse = |description: String| OAuthError::new(ErrorCode::InvalidRedirectUri, description);
    let uris = body.get("redirect_uris").and_then(Value::as_array);
    let uris = uris.map_or(&[][..], Vec::as_slice);
    if !(1..=MAX_REDIRECT_URIS).contains(&uris.len()) {
        return Err(refuse(format!(
            "redirect_uris is required and must be a list of 1 to {MAX_REDIRECT_URIS}"
        )));
    }
    let read = |(index, uri): (usize, &Value)| match uri.as_str() {
        None => Err(refuse(format!("redirect_uris: number {} must be a text", index + 1))),
        Some(text) => match redirect_uri::fault(text) {
            Some(fault) => Err(refuse(format!("redirect_uris: number {} {fault}", index + 1))),
            None => Ok(text.to_owned()),
        },
    };
    uris.iter().enumerate().map(read).collect()
}

/// A program that says what it does has to do this, too.
fn works_with(body: &Value, member: &str, needed: &str) -> Result<(), OAuthError> {
    match body.get(member) {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Array(list)) if list.iter().any(|one| one == needed) => Ok(()),
        Some(_) => Err(metadata(format!("{member} must be a list with {needed} in it"))),
    }
}

struct Insert(RegisteredClient);

impl Transaction for Insert {
    type Output = RegisteredClient;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<RegisteredClient, Abort<ServiceError>>> {
        Box::pin(async move {
            unit.insert_oauth_client(&self.0, MAX_CLIENTS).await?;
            Ok(self.0.clone())
        })
    }
}
