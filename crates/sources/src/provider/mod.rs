//! # Market data providers
//!
//! A *provider* offers market data over an HTTP API: Alpaca, Finnhub, Massive (formerly Polygon), Tiingo, the SEC, ApeWisdom.
//! No affordable provider offers every kind of data. Requests therefore name a [`Capability`], not a provider, and the operator
//! combines several providers ([`routing`](crate::routing)).
//!
//! ## Structure
//!
//! * [`DataRequest`] is a provider-independent request: quotes of these symbols, splits between these dates.
//! * [`DataResponse`] contains a [`Batch`](market::records::Batch) of records, the unknown symbols, and the invalid rows. An invalid
//!   row is skipped; an unreadable body fails the request.
//! * [`Provider`] is the interface of an adapter. Each adapter has separate files for its models (the provider's JSON), its parser
//!   (pure: bytes in, records out), its client (the requests for each [`DataRequest`]) and its errors.
//! * [`http`] sends all requests: within the provider's rate limits, with a timeout and a size limit, with retries of transient
//!   errors, and without ever printing the key.
//! * [`stream`] keeps a WebSocket connection open and conflates incoming prices by symbol.
//!
//! ## Exactness
//!
//! Prices are read from the digits that the provider wrote ([`json`]), never through floats. Bars and prices are *as traded* unless
//! [`DataResponse::price_adjustment`] says otherwise; splits are separate records.
//!
//! ## Limits
//!
//! The adapters are written from public documentation and tested with payloads written from it. Each adapter's module page lists
//! what the documentation leaves open. Terms of use differ between providers; `docs/data-sources.md` is not legal advice.

pub mod alpaca;
pub mod apewisdom;
mod capability;
mod error;
pub mod finnhub;
pub mod http;
mod json;
mod key;
mod limits;
pub mod massive;
mod paged_request;
mod request;
mod requested_symbols;
mod response;
pub mod sec;
pub mod stream;
mod ticker_style;
pub mod tiingo;

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use jiff::SignedDuration;

pub use capability::Capability;
pub use error::ProviderError;
pub use key::ProviderKey;
pub use limits::{CapabilityOffer, RequestScope, Tier};
pub use request::{DataRequest, DateRange, TimeRange};
pub use response::{DataResponse, InvalidRow, InvalidRows, MinuteBar, PriceAdjustment};

/// The future that [`Provider::fetch`] returns.
pub type FetchFuture<'a> = Pin<Box<dyn Future<Output = Result<DataResponse, ProviderError>> + Send + 'a>>;

/// A market data provider.
pub trait Provider: Send + Sync + fmt::Debug {
    /// Returns the provider's name in settings and messages.
    fn name(&self) -> &'static str {
        self.tier().provider
    }

    /// Returns the operator's plan: the offered capabilities and the request limits.
    fn tier(&self) -> &Tier;

    /// Fetches the requested data.
    fn fetch<'a>(&'a self, request: &'a DataRequest) -> FetchFuture<'a>;

    /// Returns the protocol of the provider's price stream; `None` if it has no stream.
    fn stream(&self) -> Option<Box<dyn stream::StreamProtocol>> {
        None
    }

    /// Returns how far the provider's clock is ahead of the local clock, measured at the last response.
    /// Unknown (`None`) before the first response and after a step of the local clock, until the next response.
    fn clock_skew(&self) -> Option<SignedDuration>;
}
