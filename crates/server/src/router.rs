//! The routers of the listeners: the routes, in the layers that every request passes.

use std::sync::Arc;

use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use http::{HeaderMap, Method, StatusCode, Uri};
use utoipa_axum::router::OpenApiRouter;

use crate::document::{self, OpenApiDocument};
use crate::error::{ApiError, ApiErrorCode};
use crate::layers::chain::{self, Layer, layers};
use crate::layers::{
    compress, cors, envelope, guard, head, idempotency, identify, observe, rate_limit, response_headers,
};
use crate::mcp::McpEndpoint;
use crate::rate_limiter::RateLimitGroup;
use crate::routes;
use crate::routes::ops::metrics::OpsListener;
use crate::state::App;

/// Returns the router of the main listener, on a node without the role `api` one of health and metrics alone. `with_ops` adds the operators' routes, for servers without a separate operators' listener.
pub fn router(app: &App, with_ops: bool) -> Router {
    if !app.settings().serves_api {
        let ops = if with_ops {
            routes::ops::router()
        } else {
            routes::ops::health()
        };
        return layered(app, Router::from(ops));
    }
    let mut routes = OpenApiRouter::new()
        .nest("/api/v1", routes::api())
        .nest("/v1", routes::api())
        .merge(routes::public());
    if with_ops {
        routes = routes.merge(routes::ops::router());
    }
    let mcp = McpEndpoint::new(app.settings(), document::component_schemas);
    let router = Router::from(routes)
        .merge(routes::web::router())
        .layer(Extension(Arc::new(mcp)))
        .layer(Extension(Arc::new(OpenApiDocument::new(document::generate))));
    layered(app, router)
}

/// Returns the router of the operators' listener.
pub fn ops_router(app: &App) -> Router {
    layered(app, Router::from(routes::ops::router()).layer(Extension(OpsListener)))
}

/// Returns the router of connections that are reserved for health checks. Every other request gets `refusal`.
pub(crate) fn health_router(app: &App, refusal: ApiError) -> Router {
    let router = Router::from(routes::ops::health()).fallback(move || std::future::ready(refusal.clone()));
    with_layers(router, app, HEALTH_LAYERS).with_state(app.clone())
}

const HEALTH_LAYERS: &[Layer] = layers![observe::layer, head::layer, guard::layer];

/// The layers outside compression.
const OUTER_LAYERS: &[Layer] = layers![observe::layer, response_headers::layer];

/// The layers inside compression.
const INNER_LAYERS: &[Layer] = layers![
    compress::mark,
    head::layer,
    cors::layer,
    guard::layer,
    identify::layer,
    rate_limit::layer,
    idempotency::layer,
    envelope::layer,
    routes::pages::render::layer,
];

fn layered(app: &App, router: Router<App>) -> Router {
    let router = router
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed);
    let router = with_layers(router, app, INNER_LAYERS).layer(compress::layer());
    with_layers(router, app, OUTER_LAYERS).with_state(app.clone())
}

/// Adds layers, the outermost first.
fn with_layers(router: Router<App>, app: &App, layers: &'static [Layer]) -> Router<App> {
    router.layer(from_fn_with_state((app.clone(), layers), chain::run_layers))
}

/// Returns 404: for browsers a page, except below the API.
async fn not_found(uri: Uri, headers: HeaderMap) -> Response {
    if RateLimitGroup::of(uri.path()).is_some() {
        let hint = "this route does not exist; /openapi.yaml lists all routes";
        return ApiError::new(ApiErrorCode::NotFound, hint).into_response();
    }
    if routes::pages::render::is_for_browser(&headers) {
        return routes::pages::page::not_found_page();
    }
    let hint = "nothing was found at this path; the API is under /api/v1, its documentation at /docs";
    ApiError::new(ApiErrorCode::NotFound, hint).into_response()
}

/// Returns 405, or 204 for OPTIONS. The router adds `Allow`.
async fn method_not_allowed(method: Method) -> Response {
    if method == Method::OPTIONS {
        return StatusCode::NO_CONTENT.into_response();
    }
    let message = "this route does not support this method; the Allow header lists the supported methods";
    ApiError::new(ApiErrorCode::MethodNotAllowed, message).into_response()
}
