//! `POST /fired/acknowledge`: acknowledges a firing.

use foundation::ServiceError;
use service::firings::EventId;
use web::texts;

use crate::query::uuid;
use crate::routes::pages::link::form_field;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;
use crate::routes::web::response::{after_change, is_failure};
use crate::routes::web::visitor::Visitor;

/// The dashboard acknowledges as a client of the API does: no channel was used.
const VIA: &str = "api";

/// Records the acknowledgement, which ends the escalation to further channels.
pub(in crate::routes::web) async fn acknowledge(
    State(app): State<App>,
    visitor: Visitor,
    form: FormFields,
) -> Response {
    let result = match uuid(form_field(&form, "firing")).map(EventId) {
        Some(id) => app.service().firings.acknowledge(&visitor.actor, id, VIA).await,
        None => Err(ServiceError::NotFound("firing")),
    };
    match result {
        Err(error) if is_failure(&error) => error_page(error),
        result => {
            let result = result.map(|_| texts::text("firing-acknowledged"));
            after_change(&visitor.head, form_field(&form, "next"), result)
        }
    }
}
