//! Messages to people: what the outbox keeps, links that end mail, and what the provider of text messages reports.

pub mod form;
pub mod outbox;
pub mod sms_status;
pub mod unsubscribe;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(outbox::list_outbox))
}

/// What is not part of the API: it is for links in mail, for mail programs and for providers.
pub(crate) fn outside() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(unsubscribe::show_unsubscribe, unsubscribe::unsubscribe))
        .routes(routes!(unsubscribe::subscribe_again))
        .routes(routes!(sms_status::report_sms_status))
}
