//! API keys: `sk_` and 64 characters, shown once and kept as a hash.

use store::model::ApiKey;

use super::Scope;
use crate::{Service, ServiceError};

/// An API key to be made.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// What its owner calls it, 1 to 100 characters.
    pub name: String,
    /// What it may be used for.
    pub scopes: Vec<Scope>,
}

/// A new API key, the only time it is seen.
#[derive(Clone, Debug)]
pub struct CreatedKey {
    /// What is kept of it.
    pub key: ApiKey,
    /// The key itself.
    pub secret: String,
    /// The tier of its rate limits: the account's plan.
    pub tier: alerts::Plan,
}

impl Service {
    /// Makes an API key for the account of that address, as its operator: whatever scopes are asked for (the
    /// operators' own ones only for an operator's account), beyond the plan's number of keys, too.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] if the address has no account, [`ServiceError::Invalid`] for a name or scopes that
    /// will not do.
    pub async fn create_key_for(&self, _email: &str, _key: NewKey) -> Result<CreatedKey, ServiceError> {
        todo!()
    }
}
