//! `POST /deliveries/resend`: sends a delivery again.

use delivery::webhooks::{DeliveryId, WebhookId};
use foundation::ServiceError;
use web::texts;

use crate::query::uuid;
use crate::routes::pages::link::form_field;
use crate::routes::prelude::*;
use crate::routes::web::response::after_change;
use crate::routes::web::visitor::Visitor;

/// Queues the delivery again.
pub(in crate::routes::web) async fn resend(State(app): State<App>, visitor: Visitor, form: FormFields) -> Response {
    let id = |name| uuid(form_field(&form, name)).ok_or(ServiceError::NotFound("delivery"));
    let result = match (id("webhook"), id("delivery")) {
        (Ok(webhook), Ok(delivery)) => {
            let webhooks = &app.service().webhooks;
            webhooks
                .resend_delivery(&visitor.actor, WebhookId(webhook), DeliveryId(delivery))
                .await
        }
        (Err(error), _) | (_, Err(error)) => Err(error),
    };
    let result = result.map(|_| texts::text("resent"));
    after_change(&visitor.head, form_field(&form, "next"), result)
}
