//! `POST /deliveries/messages/resend`: sends an email or a text message about a firing again.

use delivery::messages::MessageId;
use foundation::ServiceError;
use web::texts;

use crate::query::uuid;
use crate::routes::pages::link::form_field;
use crate::routes::prelude::*;
use crate::routes::web::response::after_change;
use crate::routes::web::visitor::Visitor;

/// Queues the message again.
pub(in crate::routes::web) async fn resend_message(
    State(app): State<App>,
    visitor: Visitor,
    form: FormFields,
) -> Response {
    let result = match uuid(form_field(&form, "message")) {
        Some(id) => app.service().sent_messages.resend(&visitor.actor, MessageId(id)).await,
        None => Err(ServiceError::NotFound("message")),
    };
    let result = result.map(|()| texts::text("message-resent"));
    after_change(&visitor.head, form_field(&form, "next"), result)
}
