//! The state that handlers and layers share.

use std::fmt;
use std::sync::Arc;

use clock::Clock;
use foundation::Random;
use jiff::Timestamp;
use service::Service;

use crate::auth::same_origin::OwnOrigins;
use crate::event_stream::OpenStreams;
use crate::history_watch::HistoryWatch;
use crate::in_flight::InFlightRequests;
use crate::list_cache::ListCache;
use crate::mcp::origin::AllowedOrigins;
use crate::rate_limiter::RateLimiter;
use crate::settings::HttpConfig;

/// Dependencies of the HTTP server.
#[derive(Clone)]
pub struct AppDependencies {
    /// The use cases.
    pub service: Service,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The random generator for request ids.
    pub random: Arc<Random>,
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
    history_watch: HistoryWatch,
    open_streams: OpenStreams,
    list_cache: ListCache,
    mcp_origins: AllowedOrigins,
    own_origins: OwnOrigins,
}

impl App {
    /// Creates the state. This opens no listener.
    #[must_use]
    pub fn new(ports: AppDependencies, settings: HttpConfig) -> Self {
        let shared = ports.service.shared_limiter(settings.limits.max_tracked);
        let rate_limiter = RateLimiter::new(settings.limits, shared);
        let public_url = ports.service.identity.public_url();
        let mcp_origins = AllowedOrigins::new(public_url, &settings.mcp.allowed_hosts, &settings.mcp.allowed_origins);
        let own_origins = OwnOrigins::new(public_url, &settings);
        Self(Arc::new(Inner {
            ports,
            settings,
            rate_limiter,
            in_flight: InFlightRequests::default(),
            history_watch: HistoryWatch::default(),
            open_streams: OpenStreams::default(),
            list_cache: ListCache::default(),
            mcp_origins,
            own_origins,
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

    pub(crate) fn random(&self) -> &Random {
        &self.0.ports.random
    }

    pub(crate) fn rate_limiter(&self) -> &RateLimiter {
        &self.0.rate_limiter
    }

    pub(crate) fn in_flight(&self) -> &InFlightRequests {
        &self.0.in_flight
    }

    pub(crate) fn history_watch(&self) -> &HistoryWatch {
        &self.0.history_watch
    }

    pub(crate) fn open_streams(&self) -> &OpenStreams {
        &self.0.open_streams
    }

    pub(crate) fn list_cache(&self) -> &ListCache {
        &self.0.list_cache
    }

    pub(crate) fn mcp_origins(&self) -> &AllowedOrigins {
        &self.0.mcp_origins
    }

    pub(crate) fn own_origins(&self) -> &OwnOrigins {
        &self.0.own_origins
    }

    pub(crate) fn metrics(&self) -> String {
        (self.0.ports.metrics)()
    }
}
