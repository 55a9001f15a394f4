//! Notification channel endpoints.

pub mod create;
pub mod delete;
pub mod get;
pub mod list;
pub mod test_send;
pub mod update;
pub mod view;
pub mod web_push_key;

use crate::routes::prelude::*;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(
            list::list_notification_channels,
            create::create_notification_channel
        ))
        .routes(routes!(
            get::get_notification_channel,
            update::update_notification_channel,
            delete::delete_notification_channel
        ))
        .routes(routes!(web_push_key::get_web_push_key))
        .routes(routes!(test_send::test_notification_channel))
}
