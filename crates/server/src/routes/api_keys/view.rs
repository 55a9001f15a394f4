//! API keys as they are shown.

use serde::Serialize;
use service::access::ApiKey;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::document::names::{PlanName, ScopeName};
use crate::values::timestamp;

/// What is known of an API key. The key itself nobody knows but whoever it was shown to.
#[derive(Debug, Serialize, ToSchema)]
pub struct ApiKeyFacts {
    /// Which one.
    pub id: Uuid,
    /// What its owner calls it.
    #[schema(example = "my script")]
    pub name: String,
    /// Its first characters.
    #[schema(example = "sk_4f9a1c0b")]
    pub key_prefix: String,
    /// What it may be used for.
    #[schema(value_type = Vec<ScopeName>, example = json!(["alerts:read", "alerts:write"]))]
    pub scopes: Vec<String>,
    /// The tier of its rate limits: the account's plan.
    #[schema(value_type = PlanName, example = "basic")]
    pub rate_limit_tier: &'static str,
    /// When it was made.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
}

impl ApiKeyFacts {
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
