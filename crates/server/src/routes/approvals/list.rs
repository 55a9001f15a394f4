//! `GET /approvals`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::view::ApprovalView;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::WithSession;
use crate::error::ApiError;

/// What agents have asked.
#[derive(Debug, Serialize, ToSchema)]
pub struct Approvals {
    /// Whether what agents want to change waits until the account's owner has approved it.
    pub required: bool,
    /// What they have asked, newest first, at most 200.
    pub approvals: Vec<ApprovalView>,
}

/// List approvals
///
/// What agents that come by MCP want to change and have to wait with, and what was said to it. API keys and apps are refused here.
#[utoipa::path(
    get,
    path = "/approvals",
    tag = "MCP",
    responses((status = 200, description = "What agents have asked", body = Envelope<Approvals>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn list_approvals(State(app): State<App>, who: WithSession) -> Result<Reply<Approvals>, ApiError> {
    let (required, approvals) = app.service().approvals.approvals(&who.actor).await?;
    Ok(Reply::ok(Approvals {
        required,
        approvals: approvals.into_iter().map(ApprovalView::of).collect(),
    }))
}
