//! The alert that an agent requests, beside the alert as it is now.

use alerts::AlertId;
use foundation::ServiceError;
use serde_json::{Map, Value};
use service::alerts::{DescribedAlert, StoredAlert};
use service::approvals::Approval;
use web::screens::builder::RuleCheck;

use crate::query::uuid;
use crate::routes::alerts::view::AlertFields;
use crate::routes::prelude::*;
use crate::routes::web::alerts::builder_check::check_body;
use crate::routes::web::response::is_failure;
use crate::routes::web::visitor::Visitor;

/// The members of an alert that its create request has.
const MEMBERS: [&str; 7] = [
    "symbol",
    "scope",
    "condition",
    "threshold",
    "parameters",
    "notification",
    "options",
];

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
        let stored = present_alert(app, visitor, approval).await?;
        let present = stored.map(create_body);
        let described = match &present {
            Some(body) => describe(app, visitor, body).await?,
            None => None,
        };
        let former = described.as_ref().map_or(&[][..], |described| &described.levels);
        let check = match requested_body(approval, present.as_ref()) {
            Some(body) => match check_body(app, visitor, &body, former).await {
                Ok(checked) => Some(checked.check),
                Err(error) if is_failure(&error) => return Err(error),
                Err(_) => None,
            },
            None => None,
        };
        Ok(Self {
            before: described.map(|described| described.sentence),
            check,
        })
    }
}

/// Returns the alert that a change is about; `None` if it is about no alert that exists.
async fn present_alert(app: &App, visitor: &Visitor, approval: &Approval) -> Result<Option<StoredAlert>, ServiceError> {
    let id = approval
        .arguments
        .get("alert_id")
        .and_then(Value::as_str)
        .and_then(uuid);
    let Some(id) = id else { return Ok(None) };
    match app.service().alerts.alert(&visitor.actor, AlertId(id)).await {
        Ok(detail) => Ok(Some(detail.stored)),
        Err(ServiceError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn describe(
    app: &App,
    visitor: &Visitor,
    body: &Map<String, Value>,
) -> Result<Option<DescribedAlert>, ServiceError> {
    let body = Value::Object(body.clone());
    match app.service().alerts.describe_alert(&visitor.actor, &body).await {
        Ok(described) => Ok(Some(described)),
        Err(error) if is_failure(&error) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Returns the body of the request that creates the same alert.
fn create_body(stored: StoredAlert) -> Map<String, Value> {
    let fields = serde_json::to_value(AlertFields::of(stored));
    let Ok(Value::Object(mut body)) = fields else {
        return Map::new();
    };
    body.retain(|name, value| MEMBERS.contains(&name.as_str()) && !value.is_null());
    body
}

/// Returns the body of the request that creates the alert as it would be after the change.
fn requested_body(approval: &Approval, present: Option<&Map<String, Value>>) -> Option<Map<String, Value>> {
    let mut requested = approval.arguments.clone();
    let _ = requested.remove("alert_id");
    requested.retain(|name, _| MEMBERS.contains(&name.as_str()));
    match approval.tool.as_str() {
        "create_alert" => Some(requested),
        "update_alert" => {
            let mut body = present?.clone();
            body.extend(requested);
            Some(body)
        }
        _ => None,
    }
}
