//! `GET /oauth/grants`

use accounts::oauth::Grant;

use crate::document::names::ScopeName;
use crate::routes::prelude::*;

/// An app's access to the account.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AppGrant)]
pub struct GrantView {
    /// Grant id.
    pub id: Uuid,
    /// Client id: the URL of a client metadata document, or the id from the registration.
    #[schema(example = "https://agent.example.com/client.json")]
    pub client_id: String,
    /// Name given by the app itself.
    #[schema(example = "My agent")]
    pub client_name: String,
    /// Granted scopes.
    #[schema(value_type = Vec<ScopeName>, example = json!(["alerts:read", "watchlist:read"]))]
    pub scopes: Vec<String>,
    /// Time of the grant.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
    /// Time of last use, accurate to about a minute; null if never used.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub last_used_at: Option<String>,
    /// Expiry time, unless the app renews the grant before.
    #[schema(format = DateTime, example = "2026-04-01T15:04:00.000Z")]
    pub expires_at: String,
}

impl GrantView {
    fn of(grant: Grant) -> Self {
        Self {
            id: grant.id.0,
            client_id: grant.client_id,
            client_name: grant.client_name,
            scopes: grant.scopes,
            created_at: timestamp(grant.created_at),
            last_used_at: grant.last_used_at.map(timestamp),
            expires_at: timestamp(grant.expires_at),
        }
    }
}

/// List grants of apps
///
/// Returns the account's active grants for MCP apps, oldest first. Requires a session; API keys are refused.
#[utoipa::path(
    get,
    path = "/oauth/grants",
    tag = "OAuth",
    responses((status = 200, description = "The grants", body = Envelope<Vec<GrantView>>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn list_grants(
    State(app): State<App>,
    caller: AuthenticatedSession,
) -> Result<ApiResponse<Vec<GrantView>>, ApiError> {
    let grants = app.service().oauth.grants(&caller.actor).await?;
    Ok(ApiResponse::ok(grants.into_iter().map(GrantView::of).collect()))
}
