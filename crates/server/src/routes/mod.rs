//! HTTP endpoints. Each has one file with its types, documentation, handler and tests.

pub mod alerts;
pub mod api_keys;
pub mod approvals;
pub mod auth;
pub mod cron;
pub mod docs;
mod erased_handler;
pub mod feedback;
pub mod firings;
pub mod market;
pub mod mcp;
pub mod messages;
pub mod notification_channels;
pub mod notification_route;
pub mod oauth;
pub mod ops;
pub mod pages;
mod prelude;
pub mod redirect;
pub mod status;
pub mod stocks;
pub mod templates;
pub mod user;
pub mod watchlist;
pub mod web;
pub mod webhooks;

use utoipa::OpenApi;

use crate::error::ErrorEnvelope;
use crate::routes::prelude::*;

/// Returns the API routes without their path prefix.
pub(crate) fn api() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .merge(alerts::router())
        .merge(auth::router())
        .merge(user::router())
        .merge(api_keys::router())
        .merge(approvals::router())
        .merge(feedback::router())
        .merge(firings::router())
        .merge(redirect::router())
        .merge(cron::router())
        .merge(stocks::router())
        .merge(market::router())
        .merge(watchlist::router())
        .merge(webhooks::router())
        .merge(notification_channels::router())
        .merge(notification_route::router())
        .merge(status::router())
        .merge(templates::router())
        .merge(messages::router())
        .merge(oauth::api())
}

/// Returns the routes outside the API for clients and browsers.
pub(crate) fn public() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .merge(docs::router())
        .merge(auth::jwks::router())
        .merge(mcp::router())
        .merge(oauth::router())
        .merge(messages::public_router())
        .merge(pages::router())
}

/// Returns all routes with their documentation, under the documented prefix.
pub(crate) fn documented() -> OpenApiRouter<App> {
    #[derive(OpenApi)]
    #[openapi(components(schemas(ErrorEnvelope, approvals::view::PendingApprovalResponse)))]
    struct BaseDocument;
    OpenApiRouter::with_openapi(BaseDocument::openapi())
        .nest("/api/v1", api())
        .merge(public())
        .merge(ops::router())
}
