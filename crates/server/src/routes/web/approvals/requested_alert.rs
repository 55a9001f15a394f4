//! The alert that an agent requests, beside the alert as it is now.

use alerts::AlertId;
use foundation::ServiceError;
use serde_json::{Map, Value};
use service::approvals::Approval;
use web::screens::builder::RuleCheck;

use crate::query::uuid;
use crate::routes::prelude::*;
use crate::routes::web::alerts::builder::check::check_body;
use crate::routes::web::alerts::builder::stored::{MEMBERS, PresentAlert};
use crate::routes::web::response::is_failure;
use crate::routes::web::visitor::Visitor;

/// A requested alert.
#[derive(Default)]
pub(super) struct RequestedAlert {
    /// The alert as it is now, as a sentence.
    pub(super) before: Option<String>,
    /// The meaning of the requested alert; `None` if the change concerns no alert, or deletes it.
    pub(super) check: Option<RuleCheck>,
}

impl RequestedAlert {
    /// Reads the change. A change that would be refused by now has no meaning; its approval says why.
    pub(super) async fn of(app: &App, visitor: &Visitor, approval: &Approval) -> Result<Self, ServiceError> {
        let present = present_alert(app, visitor, approval).await?;
        let described = present.as_ref().and_then(|present| present.described.as_ref());
        let former = described.map_or(&[][..], |described| &described.levels);
        let check = match requested_body(approval, present.as_ref()) {
            Some(body) => match check_body(app, visitor, &body, former).await {
                Ok(checked) => Some(checked.check),
                Err(error) if is_failure(&error) => return Err(error),
                Err(_) => None,
            },
            None => None,
        };
        Ok(Self {
            before: described.map(|described| described.sentence.clone()),
            check,
        })
    }
}

/// Returns the alert that a change is about; `None` if it is about no alert that exists.
async fn present_alert(
    app: &App,
    visitor: &Visitor,
    approval: &Approval,
) -> Result<Option<PresentAlert>, ServiceError> {
    let id = approval
        .arguments
        .get("alert_id")
        .and_then(Value::as_str)
        .and_then(uuid);
    let Some(id) = id else { return Ok(None) };
    match PresentAlert::read(app, visitor, AlertId(id)).await {
        Ok(present) => Ok(Some(present)),
        Err(ServiceError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the body of the request that creates the alert as it would be after the change.
fn requested_body(approval: &Approval, present: Option<&PresentAlert>) -> Option<Map<String, Value>> {
    let mut requested = approval.arguments.clone();
    requested.retain(|name, _| MEMBERS.contains(&name.as_str()));
    match approval.tool.as_str() {
        "create_alert" => Some(requested),
        "update_alert" => {
            let mut body = present?.body.clone();
            body.extend(requested);
            Some(body)
        }
        _ => None,
    }
}
