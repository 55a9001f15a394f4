//! `GET /oauth/grants`

use axum::extract::State;
use serde::Serialize;
use service::oauth::Grant;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::WithSession;
use crate::document::names::ScopeName;
use crate::error::ApiError;
use crate::values::timestamp;

/// What an app is allowed.
#[derive(Debug, Serialize, ToSchema)]
pub struct AppGrant {
    /// Which grant.
    pub id: Uuid,
    /// What the app goes by: the URL of a document about it, or the id that it was given when it registered.
    #[schema(example = "https://agent.example.com/client.json")]
    pub client_id: String,
    /// What it calls itself.
    #[schema(example = "My agent")]
    pub client_name: String,
    /// What it may do.
    #[schema(value_type = Vec<ScopeName>, example = json!(["alerts:read", "watchlist:read"]))]
    pub scopes: Vec<String>,
    /// When that was allowed.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
    /// When it was last used, to the minute or so; null if it never was.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub last_used_at: Option<String>,
    /// When it ends unless the app renews it before.
    #[schema(format = DateTime, example = "2026-04-01T15:04:00.000Z")]
    pub expires_at: String,
}

impl AppGrant {
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

/// List what apps are allowed
///
/// What the account's owner has allowed apps that come by MCP, and not ended yet, oldest first. API keys are refused here.
#[utoipa::path(
    get,
    path = "/oauth/grants",
    tag = "OAuth",
    responses((status = 200, description = "What apps are allowed", body = Envelope<Vec<AppGrant>>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn list_grants(State(app): State<App>, who: WithSession) -> Result<Reply<Vec<AppGrant>>, ApiError> {
    let grants = app.service().oauth.grants(&who.actor).await?;
    Ok(Reply::ok(grants.into_iter().map(AppGrant::of).collect()))
}
