//! # A client of the public API
//!
//! [`Client`] sends the requests of the command line: typed requests and responses over HTTP, with an API key. It uses only what the
//! OpenAPI document describes; a test compares each operation and each field with the document that is checked in.
//!
//! * A request that fails for a moment is repeated, after the time that the server names in `Retry-After` ([`RequestRetryPolicy`]).
//! * Each write has an `Idempotency-Key`, so that a repeated one counts once.
//! * Random ids are a parameter ([`NewId`]).

mod api_key;
mod client;
mod error;
mod firing_stream;
mod models;
mod operation;
mod retry;
mod transport;

pub use api_key::ClientKey;
pub use client::{Client, RemoteAlertFilter, RemoteCreatedAlert};
pub use error::{ClientError, RemoteRefusedChange, RequestRefusal};
pub use firing_stream::FiringStream;
pub use models::*;
pub use operation::{ApiOperation, OPERATIONS};
pub use retry::RequestRetryPolicy;
pub use transport::{ClientConfig, NewId};
