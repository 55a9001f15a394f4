//! The request to create an API key.

use foundation::request::{Field, Line, NamedSchema, RefOr, Request, Schema, ScopeName, add_component, array_of};
use foundation::{Actor, Scope, ServiceError, request};
use serde_json::Value;

use super::{ApiKeyParams, CreatedApiKey, keys};
use crate::access::Accounts;

/// The scopes of a key.
pub struct Scopes(Vec<Scope>);

impl Field for Scopes {
    fn read(value: &Value) -> Result<Self, String> {
        let scopes = value.as_array().map(|values| values.iter().map(Scope::read).collect());
        let scopes: Option<Vec<Scope>> = scopes.and_then(Result::ok);
        if scopes.as_ref().is_some_and(Vec::is_empty) {
            return Err(keys::no_scopes());
        }
        scopes.map(Self).ok_or_else(|| {
            let names: Vec<_> = Scope::ALL.iter().map(|scope| scope.name()).collect();
            format!("must be a list of scopes out of {}", names.join(", "))
        })
    }

    fn schema() -> RefOr<Schema> {
        array_of(Scope::schema())
    }

    fn components(schemas: &mut Vec<NamedSchema>) {
        add_component::<ScopeName>(schemas);
    }
}

request! {
    /// The API key to create.
    CreateApiKeyRequest as "CreateApiKey" {
        /// Name, on one line.
        name: Line<100> = "my script",
        /// Scopes; defaults to all scopes that do not require an operator.
        scopes: Option<Scopes> = ["alerts:read", "alerts:write"],
    }
}

impl Accounts {
    /// Creates an API key for the signed-in actor from a [`CreateApiKeyRequest`].
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for an invalid body, [`ServiceError::Forbidden`] if
    /// the plan's limit is reached.
    pub async fn create_api_key_from_body(&self, actor: &Actor, body: &Value) -> Result<CreatedApiKey, ServiceError> {
        let request = CreateApiKeyRequest::read(body)?;
        let scopes = request.scopes.map_or_else(|| Scope::PUBLIC.to_vec(), |scopes| scopes.0);
        self.create_api_key(
            actor,
            ApiKeyParams {
                name: request.name.0,
                scopes,
            },
        )
        .await
    }
}
