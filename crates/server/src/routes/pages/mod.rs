//! HTML pages behind links in messages, without scripts.
//!
//! Opening a link changes nothing, because mail scanners open links too. The page has one button, which calls the same use case
//! as the API endpoint. The token is sent in the form, not in the URL, except for links in
//! messages about firings, which programs may submit as they are. Submissions count against the API's rate limits
//! ([`link::login_rate_limit_page`]). Pages are not cached, not framed, and send no referrer ([`page`]).

pub mod acknowledge;
pub mod change_alert;
pub mod confirm;
pub mod confirm_address;
pub mod confirm_channel;
pub(in crate::routes) mod link;
mod message_link;
pub(crate) mod page;
pub(crate) mod render;
pub mod reset_password;
pub(in crate::routes) mod session;
pub mod verify_alert;

use crate::routes::prelude::*;

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(acknowledge::show_acknowledge, acknowledge::acknowledge))
        .routes(routes!(change_alert::show_change_alert, change_alert::change_alert))
        .routes(routes!(confirm::show_confirm, confirm::confirm))
        .routes(routes!(
            reset_password::show_reset_password,
            reset_password::reset_password
        ))
        .routes(routes!(
            confirm_address::show_confirm_address,
            confirm_address::confirm_address
        ))
        .routes(routes!(
            confirm_channel::show_confirm_channel,
            confirm_channel::confirm_channel
        ))
        .routes(routes!(verify_alert::show_verify_alert, verify_alert::verify_alert))
}
