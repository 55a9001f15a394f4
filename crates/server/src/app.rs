//! The shared state of the HTTP server, and its routers.

use std::fmt;
use std::sync::{Arc, OnceLock};

use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use http::{Method, StatusCode, Uri};
use jiff::Timestamp;
use service::{Chance, Clock, Service};

use crate::auth::same_origin::OwnOrigins;
use crate::document::Document;
use crate::error::{ApiError, ApiErrorCode};
use crate::layers::idempotency::InFlightRequests;
use crate::layers::rate_limit::RateLimiter;
use crate::layers::{
    compress, cors, envelope, guard, head, idempotency, identify, observe, rate_limit, response_headers,
};
use crate::mcp;
use crate::routes;
use crate::routes::ops::metrics::OpsListener;
use crate::settings::HttpConfig;

/// Dependencies of the HTTP server.
#[derive(Clone)]
pub struct AppDependencies {
    /// The use cases.
    pub service: Service,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The random generator for request ids.
    pub chance: Arc<Chance>,
    /// Renders the metrics in the Prometheus text format.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
}

impl fmt::Debug for AppDependencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AppDependencies")
    }
}

/// State shared by handlers and layers. Clones are cheap and share the same state.
#[derive(Clone, Debug)]
pub struct App(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    ports: AppDependencies,
    settings: HttpConfig,
    rate_limiter: RateLimiter,
    in_flight: InFlightRequests,
    mcp: mcp::McpEndpoint,
    own_origins: OwnOrigins,
    document: OnceLock<Document>,
}

impl App {
    /// Creates the state. This opens no listener.
    #[must_use]
    pub fn new(ports: AppDependencies, settings: HttpConfig) -> Self {
        let rate_limiter = RateLimiter::new(settings.limits);
        let mcp = mcp::endpoint(ports.service.identity.public_url(), &settings);
        let own_origins = OwnOrigins::new(ports.service.identity.public_url(), &settings);
        Self(Arc::new(Inner {
            ports,
            settings,
            rate_limiter,
            in_flight: InFlightRequests::default(),
            mcp,
            own_origins,
            document: OnceLock::new(),
        }))
    }

    /// Returns the use cases.
    #[must_use]
    pub fn service(&self) -> &Service {
        &self.0.ports.service
    }

    /// Returns the configuration.
    #[must_use]
    pub fn settings(&self) -> &HttpConfig {
        &self.0.settings
    }

    /// Returns the current time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.0.ports.clock.now()
    }

    pub(crate) fn chance(&self) -> &Chance {
        &self.0.ports.chance
    }

    pub(crate) fn rate_limiter(&self) -> &RateLimiter {
        &self.0.rate_limiter
    }

    pub(crate) fn in_flight(&self) -> &InFlightRequests {
        &self.0.in_flight
    }

    pub(crate) fn mcp(&self) -> &mcp::McpEndpoint {
        &self.0.mcp
    }

    pub(crate) fn own_origins(&self) -> &OwnOrigins {
        &self.0.own_origins
    }

    pub(crate) fn metrics(&self) -> String {
        (self.0.ports.metrics)()
    }

    /// Returns the OpenAPI document, which is built on first use.
    pub(crate) fn document(&self) -> &Document {
        self.0.document.get_or_init(Document::new)
    }
}

/// Returns the router of the main listener. `with_ops` adds the operators' routes, for servers without a separate operators' listener.
pub fn router(app: &App, with_ops: bool) -> Router {
    let mut router = Router::new()
        .nest("/api/v1", routes::api().split_for_parts().0)
        .nest("/v1", routes::api().split_for_parts().0)
        .merge(routes::docs::router().split_for_parts().0)
        .merge(routes::auth::jwks::router().split_for_parts().0)
        .merge(routes::mcp::router().split_for_parts().0)
        .merge(routes::oauth::router().split_for_parts().0)
        .merge(routes::messages::public_router().split_for_parts().0)
        .merge(routes::pages::router().split_for_parts().0);
    if with_ops {
        router = router.merge(routes::ops::router().split_for_parts().0);
    }
    layered(app, router)
}

/// Returns the router of the operators' listener.
pub fn ops_router(app: &App) -> Router {
    let routes = routes::ops::router().split_for_parts().0;
    layered(app, routes.layer(Extension(OpsListener)))
}

/// Returns the router of connections that are reserved for health checks. Every other request gets `refusal`.
pub(crate) fn health_router(app: &App, refusal: ApiError) -> Router {
    let health = routes::ops::health().split_for_parts().0;
    health
        .fallback(move || std::future::ready(refusal.clone()))
        .layer(from_fn_with_state(app.settings().timeouts, guard::layer))
        .layer(from_fn(head::layer))
        .layer(from_fn_with_state(app.clone(), observe::layer))
        .with_state(app.clone())
}

fn layered(app: &App, router: Router<App>) -> Router {
    router
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn(envelope::layer))
        .layer(from_fn_with_state(app.clone(), idempotency::layer))
        .layer(from_fn_with_state(app.clone(), rate_limit::layer))
        .layer(from_fn_with_state(app.clone(), identify::layer))
        .layer(from_fn_with_state(app.settings().timeouts, guard::layer))
        .layer(from_fn(cors::layer))
        .layer(from_fn(head::layer))
        .layer(from_fn(compress::mark))
        .layer(compress::layer())
        .layer(from_fn_with_state(app.clone(), response_headers::layer))
        .layer(from_fn_with_state(app.clone(), observe::layer))
        .with_state(app.clone())
}

async fn not_found(uri: Uri) -> ApiError {
    let hint = if rate_limit::RateLimitGroup::of(uri.path()).is_some() {
        "this route does not exist; /openapi.yaml lists all routes"
    } else {
        "nothing was found at this path; the API is under /api/v1, its documentation at /docs"
    };
    ApiError::new(ApiErrorCode::NotFound, hint)
}

/// Returns 405, or 204 for OPTIONS. The router adds `Allow`.
async fn method_not_allowed(method: Method) -> Response {
    if method == Method::OPTIONS {
        return StatusCode::NO_CONTENT.into_response();
    }
    let message = "this route does not support this method; the Allow header lists the supported methods";
    ApiError::new(ApiErrorCode::MethodNotAllowed, message).into_response()
}
