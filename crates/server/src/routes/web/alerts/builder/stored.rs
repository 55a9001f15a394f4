//! An alert that exists, as the body of the request that creates it.

use alerts::AlertId;
use foundation::ServiceError;
use serde_json::{Map, Value};
use service::alerts::{DescribedAlert, StoredAlert};

use crate::routes::alerts::view::AlertFields;
use crate::routes::prelude::*;
use crate::routes::web::response::is_failure;
use crate::routes::web::visitor::Visitor;

/// The members of an alert that its create request has, without its note and tags.
pub(in crate::routes::web) const MEMBERS: [&str; 7] = [
    "symbol",
    "scope",
    "condition",
    "threshold",
    "parameters",
    "notification",
    "options",
];

/// An alert that exists.
pub(in crate::routes::web) struct PresentAlert {
    /// The alert.
    pub(in crate::routes::web) stored: StoredAlert,
    /// The body of the request that creates it, without note and tags.
    pub(in crate::routes::web) body: Map<String, Value>,
    /// The alert in words; `None` if it would be refused by now.
    pub(in crate::routes::web) described: Option<DescribedAlert>,
}

impl PresentAlert {
    /// Reads an alert of the account.
    pub(in crate::routes::web) async fn read(app: &App, visitor: &Visitor, id: AlertId) -> Result<Self, ServiceError> {
        let alerts = &app.service().alerts;
        let stored = alerts.alert(&visitor.actor, id).await?.stored;
        let body = create_body(stored.clone());
        let described = alerts
            .describe_alert(&visitor.actor, &Value::Object(body.clone()))
            .await;
        let described = match described {
            Err(error) if is_failure(&error) => return Err(error),
            described => described.ok(),
        };
        Ok(Self {
            stored,
            body,
            described,
        })
    }
}

fn create_body(stored: StoredAlert) -> Map<String, Value> {
    let fields = serde_json::to_value(AlertFields::of(stored));
    let Ok(Value::Object(mut body)) = fields else {
        return Map::new();
    };
    body.retain(|name, value| MEMBERS.contains(&name.as_str()) && !value.is_null());
    body
}
