//! `DELETE /oauth/grants/{id}`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::WithSession;
use crate::error::ApiError;
use crate::query::GrantPath;

/// What an app is not allowed any more.
#[derive(Debug, Serialize, ToSchema)]
pub struct EndedGrant {
    /// Which grant.
    pub id: Uuid,
    /// Always `true`.
    pub deleted: bool,
}

/// End what an app is allowed
///
/// Its tokens are refused from now on; by another process of this service a few seconds later. API keys are refused here.
#[utoipa::path(
    delete,
    path = "/oauth/grants/{id}",
    tag = "OAuth",
    params(("id" = uuid::Uuid, Path, description = "The grant's id")),
    responses(
        (status = 200, description = "The app is allowed nothing any more", body = Envelope<EndedGrant>),
        (status = 404, description = "No such grant"),
    ),
    security(("SessionCookie" = []))
)]
pub(super) async fn end_grant(
    State(app): State<App>,
    who: WithSession,
    GrantPath(id): GrantPath,
) -> Result<Reply<EndedGrant>, ApiError> {
    app.service().oauth.end_grant(&who.actor, id).await?;
    Ok(Reply::ok(EndedGrant {
        id: id.0,
        deleted: true,
    }))
}
