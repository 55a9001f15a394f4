//! Parses the request to create an API key.

use foundation::Scope;
use serde_json::Value;

use super::{ApiKeyParams, CreatedApiKey};
use crate::access::Accounts;
use foundation::body::BodyReader;
use foundation::{Actor, ServiceError};

impl Accounts {
    /// Creates an API key for the signed-in actor from a body `{name, scopes?}`. Without `scopes` it gets all public
    /// scopes.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for an invalid body, [`ServiceError::Forbidden`] if
    /// the plan's limit is reached.
    pub async fn create_api_key_from_body(&self, actor: &Actor, body: &Value) -> Result<CreatedApiKey, ServiceError> {
        let mut members = BodyReader::new(body)?;
        let name = members.required("name").unwrap_or_default().to_owned();
        let scopes = scopes(&mut members);
        members.finish()?;
        self.create_api_key(actor, ApiKeyParams { name, scopes }).await
    }
}

fn scopes(members: &mut BodyReader<'_>) -> Vec<Scope> {
    let Some(value) = members.value("scopes") else {
        return Scope::PUBLIC.to_vec();
    };
    let read = |value: &Value| value.as_str().and_then(Scope::from_name);
    let scopes: Option<Vec<Scope>> = value
        .as_array()
        .and_then(|values| values.iter().map(read).collect::<Option<_>>());
    scopes.unwrap_or_else(|| {
        let names: Vec<_> = Scope::ALL.iter().map(|scope| scope.name()).collect();
        members.add_error(
            "scopes",
            format!("must be a list of scopes out of {}", names.join(", ")),
        );
        Vec::new()
    })
}
