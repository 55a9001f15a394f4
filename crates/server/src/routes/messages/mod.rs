//! Message endpoints: the outbox, unsubscribe links and delivery reports of the SMS provider.

pub mod outbox;
pub mod sms_status;
pub mod unsubscribe;

use crate::routes::prelude::*;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(outbox::list_outbox))
}

/// Returns the routes outside the API: links in emails, one-click unsubscribe, and callbacks of providers.
pub(crate) fn public_router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(unsubscribe::show_unsubscribe, unsubscribe::unsubscribe))
        .routes(routes!(unsubscribe::subscribe_again))
        .routes(routes!(sms_status::report_sms_status))
}
