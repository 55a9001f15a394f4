//! `GET /approvals`

use super::view::ApprovalView;
use crate::routes::prelude::*;

/// The account's approvals.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Approvals)]
pub struct ApprovalsResponse {
    /// Whether changes by agents wait for the account owner's approval.
    pub required: bool,
    /// Approvals, newest first, at most 200.
    pub approvals: Vec<ApprovalView>,
}

/// List approvals
///
/// Returns changes requested by MCP agents that require approval, and their decisions. Requires a session; API keys and apps are
/// refused.
#[utoipa::path(
    get,
    path = "/approvals",
    tag = "MCP",
    responses((status = 200, description = "The approvals", body = Envelope<ApprovalsResponse>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn list_approvals(
    State(app): State<App>,
    caller: AuthenticatedSession,
) -> Result<ApiResponse<ApprovalsResponse>, ApiError> {
    let (required, approvals) = app.service().approvals.approvals(&caller.actor).await?;
    Ok(ApiResponse::ok(ApprovalsResponse {
        required,
        approvals: approvals.into_iter().map(ApprovalView::of).collect(),
    }))
}
