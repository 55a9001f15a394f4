//! # The server: the ways in over HTTP
//!
//! A request comes in over a connection that is allowed only so much time ([`connection`]), passes the layers
//! ([`layers`]): a request id and a span, a guard against panics and endless work, who asks, how much they may still
//! ask, whether the very request was answered before; and reaches its endpoint under [`routes`], which reads it, calls
//! one use case of [`service`] and says what came of it. One endpoint is one file: its types, its documentation, its
//! handler, its tests. The OpenAPI document ([`document`]) is made from those files, so it cannot promise another API
//! than the one that answers.
//!
//! Everything under `/api/v1` and `/v1` answers in one envelope ([`answer`], [`error`]), whatever went wrong.
//!
//! This room decides nothing about alerts. It translates in, calls the service, translates out.

pub mod answer;
pub mod app;
pub mod auth;
pub mod body;
pub mod connection;
pub mod document;
mod entity_tag;
pub mod error;
pub mod layers;
pub mod mcp;
pub mod query;
pub mod routes;
pub mod settings;
mod values;

pub use app::{App, Ports, ops_router, router};
pub use connection::{Ended, Listeners, serve};
pub use settings::{Limits, McpPlaces, Settings, Timeouts, TrustedProxy, TrustedProxyError};
