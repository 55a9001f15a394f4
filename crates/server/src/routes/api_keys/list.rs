//! `GET /api-keys`

use super::view::ApiKeyView;
use crate::routes::prelude::*;

/// An API key in a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct ListedApiKey {
    /// The API key's metadata.
    #[serde(flatten)]
    pub facts: ApiKeyView,
    /// Time of last use, accurate to about a minute; null if never used.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub last_used_at: Option<String>,
}

/// List API keys
///
/// Returns the account's API keys without their secrets, oldest first. Requires a session; API keys are refused.
#[utoipa::path(
    get,
    path = "/api-keys",
    tag = "API Keys",
    responses((status = 200, description = "The API keys", body = Envelope<Vec<ListedApiKey>>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn list_api_keys(
    State(app): State<App>,
    caller: AuthenticatedSession,
) -> Result<ApiResponse<Vec<ListedApiKey>>, ApiError> {
    let keys = app.service().accounts.api_keys(&caller.actor).await?;
    let keys = keys.iter().map(|key| ListedApiKey {
        facts: ApiKeyView::of(key, caller.actor.plan),
        last_used_at: key.last_used_at.map(timestamp),
    });
    Ok(ApiResponse::ok(keys.collect()))
}
