//! OAuth endpoints: metadata, client registration, authorization, tokens, and the user's grants.
//!
//! Endpoints for clients respond in the format of the RFCs, not in the API's envelope ([`response`]). They allow any origin,
//! because some clients run in browsers ([`crate::layers::cors`]); none of them uses cookies. The pages for users
//! ([`authorize`]) are available to the service's own origin only.

pub mod authorization_server;
pub mod authorize;
mod consent_page;
pub mod end_grant;
pub mod list_grants;
pub mod protected_resource;
pub mod register;
pub mod response;
pub mod revoke;
mod sign_in_page;
pub mod token;

use crate::routes::prelude::*;

/// Returns the routes that are part of the API.
pub(super) fn api() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_grants::list_grants))
        .routes(routes!(end_grant::end_grant))
}

/// Returns the routes outside the API, for clients and browsers.
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
