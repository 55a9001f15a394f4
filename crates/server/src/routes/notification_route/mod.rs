//! The route of an account: the notification channels of its alerts that have no route of their own.

pub mod get;
pub mod put;
pub mod view;

use crate::routes::prelude::*;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(get::get_notification_route, put::set_notification_route))
}
