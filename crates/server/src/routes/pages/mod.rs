//! The pages behind the links that are mailed, for people without a client: plain HTML, without scripts.
//!
//! Opening a link changes nothing: programs that look at mail open links, too. The page has one button, and what it sends is
//! done by the very use case of the API's route. The token is in the form then, and not in the address. What asks for
//! too much is counted with what it asks of the API ([`link::refuse_beyond_limit`]). No page may be kept, shown within another, or tell
//! where it was ([`page`]).

pub mod alert;
pub mod approvals;
pub mod confirm;
pub mod confirm_address;
pub(in crate::routes) mod link;
pub(in crate::routes) mod page;
pub mod reset_password;
pub mod sign_in;
pub mod verify_alert;
pub(in crate::routes) mod visitor;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(alert::show_alert))
        .routes(routes!(approvals::show_approvals, approvals::decide_on_page))
        .routes(routes!(confirm::show_confirm, confirm::confirm))
        .routes(routes!(sign_in::show_sign_in, sign_in::sign_in))
        .routes(routes!(
            reset_password::show_reset_password,
            reset_password::reset_password
        ))
        .routes(routes!(
            confirm_address::show_confirm_address,
            confirm_address::confirm_address
        ))
        .routes(routes!(verify_alert::show_verify_alert, verify_alert::verify_alert))
}
