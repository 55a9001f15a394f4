//! Webhook endpoints: webhooks and their deliveries.

pub mod create;
pub mod delete;
pub mod deliveries;
pub mod get;
pub mod list;
pub mod recover;
pub mod resend;
pub mod rotate_secret;
pub mod test_send;
pub mod update;
pub mod view;

use crate::routes::prelude::*;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list::list_webhooks, create::create_webhook))
        .routes(routes!(test_send::test_webhook))
        .routes(routes!(
            get::get_webhook,
            update::update_webhook,
            delete::delete_webhook
        ))
        .routes(routes!(rotate_secret::rotate_webhook_secret))
        .routes(routes!(deliveries::list_webhook_deliveries))
        .routes(routes!(resend::resend_webhook_delivery))
        .routes(routes!(recover::recover_webhook_deliveries))
}
