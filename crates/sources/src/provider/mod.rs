//! # Providers: market data that others sell or give away
//!
//! A *provider* is somebody with an API over HTTP: Alpaca, Finnhub, Massive (formerly Polygon), Tiingo, the SEC, ApeWisdom. None
//! has everything at a price that everybody can pay, so what is asked for is a [`Capability`] and not a provider, and whoever runs
//! the service combines several ([`combine`](crate::combine)).
//!
//! ## The cast
//!
//! * [`Ask`] is a question in this house's own words: quotes of these symbols, splits between these dates. [`Answer`] is a
//!   [`Batch`](market::records::Batch) of records, the symbols that the provider does not know, and the rows that could not be
//!   read: a bad row costs a row, a body that makes no sense costs the answer.
//! * [`Provider`] is one adapter. Each has its models (what the provider sends), its parser (pure: bytes in, records out), its
//!   client (which requests an [`Ask`] takes) and its errors in files of their own.
//! * [`http`] asks all of them in the same way: within the provider's budget, under one deadline, up to a size, again after a
//!   while where that can help, and never with a word about the key.
//! * [`stream`] holds a connection that prices come in by, and keeps of each symbol only what is newest.
//!
//! ## What is exact
//!
//! Prices are read from the digits that the provider wrote ([`json`]); no float comes in between. Bars and prices are *as
//! traded*, unless [`Answer::bars`] says otherwise: splits come as facts of their own.
//!
//! ## What is not promised
//!
//! The adapters are written from public documentation and tested against payloads written from it; what the documentation does
//! not say is said in the adapter's own module page. Terms of use differ, and `docs/data-sources.md` is no legal advice.

pub mod alpaca;
mod answer;
pub mod apewisdom;
mod ask;
mod asked;
mod capability;
mod errand;
mod error;
pub mod finnhub;
pub mod http;
mod json;
mod key;
mod limits;
pub mod massive;
pub mod sec;
mod span_bars;
pub mod stream;
mod symbols;
pub mod tiingo;

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use jiff::SignedDuration;

pub use answer::{Answer, BarsAre, Fault, Faults, MinuteBar};
pub use ask::{Ask, Days, Times};
pub use capability::{Capability, CapabilitySet};
pub use error::ProviderError;
pub use key::Key;
pub use limits::{Offer, Reach, Tier};

/// What [`Provider::fetch`] answers.
pub type Fetch<'a> = Pin<Box<dyn Future<Output = Result<Answer, ProviderError>> + Send + 'a>>;

/// Somebody who can be asked for market data.
pub trait Provider: Send + Sync + fmt::Debug {
    /// Its name in settings and messages.
    fn name(&self) -> &'static str;

    /// What it offers on the operator's plan, and what each costs in requests.
    fn tier(&self) -> &Tier;

    /// Asks it.
    fn fetch<'a>(&'a self, ask: &'a Ask) -> Fetch<'a>;

    /// How prices stream in from it; `None` if they do not.
    fn stream(&self) -> Option<Box<dyn stream::Protocol>> {
        None
    }

    /// By how much its clock is ahead of ours, once it has answered. A step of our clock makes that unknown until the next answer.
    fn clock_skew(&self) -> Option<SignedDuration>;
}
