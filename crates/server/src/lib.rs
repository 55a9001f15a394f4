//! # The HTTP server
//!
//! A request takes this path:
//!
//! 1. A connection with time limits ([`connection`]).
//! 2. The layers ([`layers`]): request id and span, time limit and panic handling, authentication, rate limit,
//!    idempotency.
//! 3. Its endpoint under [`routes`], which parses the request, calls one use case of [`service`] and renders the result.
//!
//! Each endpoint is one file with its types, documentation, handler and tests. The OpenAPI document ([`document`]) is
//! generated from those files, so it cannot differ from the API.
//!
//! Every response under `/api/v1` and `/v1` has the same envelope ([`response`], [`error`]), errors included.
//!
//! This crate has no alert logic. It converts between HTTP and the service.

pub mod auth;
pub mod body;
pub mod connection;
pub mod document;
mod entity_tag;
pub mod error;
mod event_stream;
pub mod failed_auth;
pub mod fixed_window;
mod history_watch;
pub mod in_flight;
pub mod layers;
mod list_cache;
pub mod mcp;
pub mod query;
pub mod rate_limiter;
mod request_windows;
pub mod response;
mod router;
pub mod routes;
pub mod settings;
pub mod state;
mod values;

pub use connection::{Listeners, ShutdownReport, serve};
pub use router::{ops_router, router};
pub use settings::{HttpConfig, McpConfig, RateLimits, Timeouts, TrustedProxy, TrustedProxyError};
pub use state::{App, AppDependencies};
