//! `POST /approvals`

use foundation::ServiceError;
use serde_json::Value;
use service::approvals::ApprovalId;

use super::view::{AppliedChange, ApprovalView};
use crate::document::names::DecisionName;
use crate::query::uuid;
use crate::routes::prelude::*;

/// A decision: `id` with `decision`, or `required`, or both.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the handler reads it")]
#[schema(as = DecideApproval)]
pub struct DecideApprovalRequest {
    /// Approval id.
    id: Option<Uuid>,
    /// Decision for this approval.
    #[schema(value_type = Option<DecisionName>)]
    decision: Option<String>,
    /// Whether changes by agents require approval from now on.
    required: Option<bool>,
}

/// Result of a decision.
#[derive(Debug, Serialize, ToSchema)]
pub struct DecidedApproval {
    /// Whether changes by agents require approval.
    pub required: bool,
    /// The decided approval; null if none was decided.
    #[schema(required)]
    pub approval: Option<ApprovalView>,
    /// Result of the approved change; null if none was made.
    #[schema(required)]
    pub result: Option<AppliedChange>,
}

/// Decide on an agent's change
///
/// `{"id": …, "decision": "approve"}` makes the change on behalf of the agent that requested it; `"deny"` discards it.
/// `{"required": true}` requires approval for all future changes by agents, `false` turns this off. If the change fails (the alert
/// was deleted, the plan's limit is reached), the response is the error of the change, and the approval stays pending. Returns
/// 409 if the approval is already decided or older than seven days. Requires a session; API keys and apps are refused.
#[utoipa::path(
    post,
    path = "/approvals",
    tag = "MCP",
    request_body(content = DecideApprovalRequest, description = "The decision"),
    responses(
        (status = 200, description = "The result", body = Envelope<DecidedApproval>),
        (status = 404, description = "Approval not found"),
        (status = 409, description = "The approval is already decided or has expired"),
    ),
    security(("SessionCookie" = []))
)]
pub(super) async fn decide_approval(
    State(app): State<App>,
    caller: AuthenticatedSession,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<DecidedApproval>, ApiError> {
    let DecisionInput { required, decided } = DecisionInput::read(&body)?;
    let service = app.service();
    if let Some(required) = required {
        service.approvals.set_agent_approval(&caller.actor, required).await?;
    }
    let (approval, result) = match decided {
        Some((id, true)) => {
            let (approval, changed) = service.approvals.approve(&caller.actor, id).await?;
            (Some(ApprovalView::of(approval)), Some(AppliedChange::of(changed)))
        }
        Some((id, false)) => (
            Some(ApprovalView::of(service.approvals.deny(&caller.actor, id).await?)),
            None,
        ),
        None => (None, None),
    };
    let (required, _) = service.approvals.approvals(&caller.actor).await?;
    Ok(ApiResponse::ok(DecidedApproval {
        required,
        approval,
        result,
    }))
}

struct DecisionInput {
    required: Option<bool>,
    /// The approval's id and whether it is approved.
    decided: Option<(ApprovalId, bool)>,
}

impl DecisionInput {
    fn read(body: &Value) -> Result<Self, ApiError> {
        let member = |name: &str| body.get(name).filter(|value| !value.is_null());
        let required = match member("required") {
            None => None,
            Some(Value::Bool(required)) => Some(*required),
            Some(_) => return Err(ApiError::field("required", "must be true or false")),
        };
        let id = match member("id") {
            None => None,
            Some(id) => {
                let id = id.as_str().ok_or_else(|| ApiError::field("id", "must be a UUID"))?;
                // A malformed id is reported as not found.
                Some(uuid(id).ok_or(ServiceError::NotFound("approval"))?)
            }
        };
        let decision = match member("decision").map(Value::as_str) {
            None => None,
            Some(Some("approve")) => Some(true),
            Some(Some("deny")) => Some(false),
            Some(_) => return Err(ApiError::field("decision", "must be approve or deny")),
        };
        let decided = match (id, decision) {
            (Some(id), Some(is_approved)) => Some((ApprovalId(id), is_approved)),
            (None, None) => None,
            (None, Some(_)) => return Err(ApiError::field("id", "is required with a decision")),
            (Some(_), None) => return Err(ApiError::field("decision", "is required with an id: approve or deny")),
        };
        if required.is_none() && decided.is_none() {
            return Err(ApiError::field(
                "decision",
                "is required with an id; or send required: true or false",
            ));
        }
        Ok(Self { required, decided })
    }
}
