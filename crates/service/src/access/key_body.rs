//! API keys as their owners ask for them.

use serde_json::Value;

use super::{CreatedKey, NewKey, Scope};
use crate::access::Accounts;
use crate::body::Members;
use crate::{Actor, ServiceError};

impl Accounts {
    /// Makes an API key of a body `{name, scopes?}` for the actor, who has signed in. Without scopes it has all that every
    /// account may give to its keys.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for a body that will not do, [`ServiceError::Forbidden`]
    /// for a key more than the plan has.
    pub async fn create_api_key_of(&self, actor: &Actor, body: &Value) -> Result<CreatedKey, ServiceError> {
        let mut members = Members::of(body)?;
        let name = members.required("name").unwrap_or_default().to_owned();
        let scopes = scopes(&mut members);
        members.finish()?;
        self.create_api_key(actor, NewKey { name, scopes }).await
    }
}

fn scopes(members: &mut Members<'_>) -> Vec<Scope> {
    let Some(value) = members.value("scopes") else {
        return Scope::PUBLIC.to_vec();
    };
    let read = |value: &Value| value.as_str().and_then(Scope::from_name);
    let scopes: Option<Vec<Scope>> = value
        .as_array()
        .and_then(|values| values.iter().map(read).collect::<Option<_>>());
    scopes.unwrap_or_else(|| {
        let names: Vec<_> = Scope::ALL.iter().map(|scope| scope.name()).collect();
        members.fault("scopes", format!("must be a list of some of {}", names.join(", ")));
        Vec::new()
    })
}
