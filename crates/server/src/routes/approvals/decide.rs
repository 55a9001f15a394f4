//! `POST /approvals`

use axum::extract::State;
use serde::Serialize;
use serde_json::Value;
use service::ServiceError;
use service::approvals::ApprovalId;
use utoipa::ToSchema;
use uuid::Uuid;

use super::view::{ApprovalView, ChangeMade};
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::WithSession;
use crate::body::JsonObject;
use crate::document::names::DecisionName;
use crate::error::ApiError;
use crate::query::uuid;

/// What is said: `id` and `decision`, or `required`, or both.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the handler reads it")]
pub struct DecideApproval {
    /// Which approval.
    id: Option<Uuid>,
    /// What becomes of it.
    #[schema(value_type = Option<DecisionName>)]
    decision: Option<String>,
    /// Whether agents have to wait from now on.
    required: Option<bool>,
}

/// What came of it.
#[derive(Debug, Serialize, ToSchema)]
pub struct DecidedApproval {
    /// Whether agents have to wait.
    pub required: bool,
    /// The approval as it is now; null if none was decided.
    #[schema(required)]
    pub approval: Option<ApprovalView>,
    /// What the change came to; null if none was made.
    #[schema(required)]
    pub result: Option<ChangeMade>,
}

/// Decide what an agent wants
///
/// `{"id": …, "decision": "approve"}` makes the change, in the name of the agent that asked; `"deny"` has it never be made.
/// `{"required": true}` has agents wait from now on, `false` lets them go on at once. A change that is refused now (its alert is
/// gone, the plan is full) answers as the change itself would, and waits again. What is decided already, or has waited for more
/// than seven days, is 409. API keys and apps are refused here.
#[utoipa::path(
    post,
    path = "/approvals",
    tag = "MCP",
    request_body(content = DecideApproval, description = "What is said"),
    responses(
        (status = 200, description = "What came of it", body = Envelope<DecidedApproval>),
        (status = 404, description = "No such approval"),
        (status = 409, description = "It is decided already, or has waited for too long"),
    ),
    security(("SessionCookie" = []))
)]
pub(super) async fn decide_approval(
    State(app): State<App>,
    who: WithSession,
    JsonObject(body): JsonObject,
) -> Result<Reply<DecidedApproval>, ApiError> {
    let Said { required, decided } = Said::read(&body)?;
    let service = app.service();
    if let Some(required) = required {
        service.approvals.let_agents_wait(&who.actor, required).await?;
    }
    let (approval, result) = match decided {
        Some((id, true)) => {
            let (approval, changed) = service.approvals.approve(&who.actor, id).await?;
            (Some(ApprovalView::of(approval)), Some(ChangeMade::of(changed)))
        }
        Some((id, false)) => (
            Some(ApprovalView::of(service.approvals.deny(&who.actor, id).await?)),
            None,
        ),
        None => (None, None),
    };
    let (required, _) = service.approvals.approvals(&who.actor).await?;
    Ok(Reply::ok(DecidedApproval {
        required,
        approval,
        result,
    }))
}

struct Said {
    required: Option<bool>,
    /// Which one, and whether it is approved.
    decided: Option<(ApprovalId, bool)>,
}

impl Said {
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
                // What cannot be one is not found.
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
