//! API keys in responses.

use accounts::access::ApiKey;

use crate::document::names::{PlanName, ScopeName};
use crate::routes::prelude::*;

/// Metadata of an API key. The service stores only a hash of the secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ApiKeyFacts)]
pub struct ApiKeyView {
    /// Unique id.
    pub id: Uuid,
    /// Name given by the owner.
    #[schema(example = "my script")]
    pub name: String,
    /// First characters of the secret.
    #[schema(example = "sk_4f9a1c0b")]
    pub key_prefix: String,
    /// Granted scopes.
    #[schema(value_type = Vec<ScopeName>, example = json!(["alerts:read", "alerts:write"]))]
    pub scopes: Vec<String>,
    /// Rate limit tier: the account's plan.
    #[schema(value_type = PlanName, example = "basic")]
    pub rate_limit_tier: &'static str,
    /// Time of creation.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
}

impl ApiKeyView {
    pub(super) fn of(key: &ApiKey, tier: alerts::Plan) -> Self {
        Self {
            id: key.id.0,
            name: key.name.clone(),
            key_prefix: key.prefix.clone(),
            scopes: key.scopes.clone(),
            rate_limit_tier: tier.name(),
            created_at: timestamp(key.created_at),
        }
    }
}
