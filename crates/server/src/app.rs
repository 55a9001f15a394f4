//! The program's HTTP side as one value, and the router that answers with it.

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
use crate::error::{ApiError, Code};
use crate::layers::idempotency::Underway;
use crate::layers::limit::Limiter;
use crate::layers::{compress, cors, envelope, guard, head, idempotency, identify, limit, observe, response_headers};
use crate::mcp;
use crate::routes;
use crate::routes::ops::metrics::OpsListener;
use crate::settings::Settings;

/// What the server works with.
#[derive(Clone)]
pub struct Ports {
    /// The use cases.
    pub service: Service,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Request ids.
    pub chance: Arc<Chance>,
    /// Writes the metrics as Prometheus reads them.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
}

impl fmt::Debug for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ports")
    }
}

/// What handlers and layers share. Cloning it is cheap and gives another handle of the same.
#[derive(Clone, Debug)]
pub struct App(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    ports: Ports,
    settings: Settings,
    limiter: Limiter,
    underway: Underway,
    mcp: mcp::Endpoint,
    own_origins: OwnOrigins,
    document: OnceLock<Document>,
}

impl App {
    /// Makes it; nothing is listened on yet.
    #[must_use]
    pub fn new(ports: Ports, settings: Settings) -> Self {
        let limiter = Limiter::new(settings.limits);
        let mcp = mcp::endpoint(ports.service.identity.public_url(), &settings);
        let own_origins = OwnOrigins::new(ports.service.identity.public_url(), &settings);
        Self(Arc::new(Inner {
            ports,
            settings,
            limiter,
            underway: Underway::default(),
            mcp,
            own_origins,
            document: OnceLock::new(),
        }))
    }

    /// The use cases.
    #[must_use]
    pub fn service(&self) -> &Service {
        &self.0.ports.service
    }

    /// What is set.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The instant that it is.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.0.ports.clock.now()
    }

    pub(crate) fn chance(&self) -> &Chance {
        &self.0.ports.chance
    }

    pub(crate) fn limiter(&self) -> &Limiter {
        &self.0.limiter
    }

    pub(crate) fn underway(&self) -> &Underway {
        &self.0.underway
    }

    pub(crate) fn mcp(&self) -> &mcp::Endpoint {
        &self.0.mcp
    }

    pub(crate) fn own_origins(&self) -> &OwnOrigins {
        &self.0.own_origins
    }

    pub(crate) fn metrics(&self) -> String {
        (self.0.ports.metrics)()
    }

    /// The OpenAPI document, made once.
    pub(crate) fn document(&self) -> &Document {
        self.0.document.get_or_init(Document::new)
    }
}

/// Everything that answers on the main listener; the operators' routes too, unless they have a listener of their own.
pub fn router(app: &App, with_ops: bool) -> Router {
    let mut router = Router::new()
        .nest("/api/v1", routes::api().split_for_parts().0)
        .nest("/v1", routes::api().split_for_parts().0)
        .merge(routes::docs::router().split_for_parts().0)
        .merge(routes::auth::jwks::router().split_for_parts().0)
        .merge(routes::mcp::router().split_for_parts().0)
        .merge(routes::oauth::router().split_for_parts().0)
        .merge(routes::messages::outside().split_for_parts().0)
        .merge(routes::pages::router().split_for_parts().0);
    if with_ops {
        router = router.merge(routes::ops::router().split_for_parts().0);
    }
    layered(app, router)
}

/// What answers on the operators' listener.
pub fn ops_router(app: &App) -> Router {
    let routes = routes::ops::router().split_for_parts().0;
    layered(app, routes.layer(Extension(OpsListener)))
}

/// The router of connections that are reserved for health checks. Every other request is refused.
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
        .layer(from_fn_with_state(app.clone(), limit::layer))
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
    let hint = if limit::Group::of(uri.path()).is_some() {
        "there is no such route; see /openapi.yaml for those there are"
    } else {
        "there is nothing here; the API is under /api/v1, its description at /docs"
    };
    ApiError::new(Code::NotFound, hint)
}

/// The router adds `Allow`.
async fn method_not_allowed(method: Method) -> Response {
    if method == Method::OPTIONS {
        return StatusCode::NO_CONTENT.into_response();
    }
    let message = "this route has no such method; the header Allow names those it has";
    ApiError::new(Code::MethodNotAllowed, message).into_response()
}
