//! Registration, sign-in and session endpoints.

pub mod confirm;
pub mod jwks;
pub mod login;
pub mod logout;
pub mod magic_link;
pub mod refresh;
pub mod register;
pub mod request_reset;
pub mod reset_confirm;
pub mod session;
pub mod view;

use crate::routes::prelude::*;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(register::register))
        .routes(routes!(confirm::confirm_address))
        .routes(routes!(login::login))
        .routes(routes!(magic_link::login_by_link))
        .routes(routes!(refresh::refresh_tokens))
        .routes(routes!(logout::logout))
        .routes(routes!(request_reset::request_password_reset))
        .routes(routes!(reset_confirm::confirm_password_reset))
        .routes(routes!(session::get_session, session::update_session))
}
