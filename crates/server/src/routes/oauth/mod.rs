//! OAuth: how programs find out what there is to know, register, send people here, and get their tokens; and how people look at
//! what they have allowed.
//!
//! What is for programs is answered as the RFCs have it and not in the API's envelope ([`answer`]), and from pages of any
//! origin, because there are programs that run in browsers ([`crate::layers::cors`]): nothing there goes by a cookie. What is
//! for people is pages ([`authorize`]), and shown to our own origin alone.

pub mod answer;
pub mod authorization_server;
pub mod authorize;
mod consent_page;
pub mod end_grant;
pub mod list_grants;
pub mod protected_resource;
pub mod register;
pub mod revoke;
mod sign_in_page;
pub mod token;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

/// What is part of the API.
pub(super) fn api() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_grants::list_grants))
        .routes(routes!(end_grant::end_grant))
}

/// What programs and browsers are sent to.
pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(protected_resource::protected_resource))
        .routes(routes!(protected_resource::protected_resource_of_mcp))
        .routes(routes!(authorization_server::authorization_server))
        .routes(routes!(authorization_server::authorization_server_of_mcp))
        .routes(routes!(authorize::show_authorize, authorize::authorize))
        .routes(routes!(token::token))
        .routes(routes!(register::register_client))
        .routes(routes!(revoke::revoke_token))
}
