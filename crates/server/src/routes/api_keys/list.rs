//! `GET /api-keys`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::view::ApiKeyFacts;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::WithSession;
use crate::error::ApiError;
use crate::values::timestamp;

/// An API key, and when it was used.
#[derive(Debug, Serialize, ToSchema)]
pub struct ListedApiKey {
    /// The key.
    #[serde(flatten)]
    pub facts: ApiKeyFacts,
    /// When it was last used, to the minute or so; null if it never was.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub last_used_at: Option<String>,
}

/// List API keys
///
/// The account's keys, oldest first, without the keys themselves. API keys are refused here.
#[utoipa::path(
    get,
    path = "/api-keys",
    tag = "API Keys",
    responses((status = 200, description = "The keys", body = Envelope<Vec<ListedApiKey>>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn list_api_keys(
    State(app): State<App>,
    who: WithSession,
) -> Result<Reply<Vec<ListedApiKey>>, ApiError> {
    let keys = app.service().accounts.api_keys(&who.actor).await?;
    let shown = keys.iter().map(|key| ListedApiKey {
        facts: ApiKeyFacts::of(key, who.actor.plan),
        last_used_at: key.last_used_at.map(timestamp),
    });
    Ok(Reply::ok(shown.collect()))
}
