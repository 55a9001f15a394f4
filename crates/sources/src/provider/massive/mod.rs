//! # Massive (formerly Polygon.io)
//!
//! Snapshots, aggregates and reference data of US stocks. Some requests return the whole market at once. The free plan has five
//! requests a minute and no prices of today. Written from massive.com/docs: "Full Market Snapshot", "Daily Market Summary", "Custom
//! Bars", "Splits", "Dividends", "All Tickers", "Ticker Overview", and the WebSocket's "Trades" and "Aggregates (Per Minute)".
//!
//! | capability | path after `{api}` | scope | free |
//! |---|---|---|---|
//! | catalog | `/v3/reference/tickers?market=stocks`, in pages | all | yes |
//! | quotes | `/v2/snapshot/locale/us/markets/stocks/tickers?tickers=…` | 250 symbols, or all | no |
//! | minute bars | `/v2/aggs/ticker/{ticker}/range/1/minute/…` | one symbol | yes, until yesterday |
//! | daily bars of many symbols | `/v2/aggs/grouped/locale/us/market/stocks/{date}` | all | yes, until yesterday |
//! | daily bars of many days, benchmark | `/v2/aggs/ticker/{ticker}/range/1/day/…` | one symbol | yes, until yesterday |
//! | fundamentals | `/v3/reference/tickers/{ticker}`: the market capitalisation only | one symbol | yes |
//! | splits, dividends | `/v3/reference/splits`, `/v3/reference/dividends`, in pages | all | yes |
//! | stream | `{stream}/stocks`: trades and minutes | all | no |
//!
//! The documentation says that the old host names (`api.polygon.io`, `socket.polygon.io`) continue to work. Both URLs are settings.
//!
//! Undocumented points, and how the adapter handles them:
//! * The content of a snapshot on a plan without trades. Without a last trade, the close of the last minute is the price, and without
//!   that the day's close.
//! * The host of the next page's URL (`next_url`). The adapter uses its path and query with the configured base URL, so that the key
//!   is sent to no other host.
//! * Preferred shares are written with a lower-case p (`BACpL`), which is not a supported ticker; they are skipped.

mod client;
mod error;
mod models;
mod parse;
mod stream;

use std::time::Duration;

use http::HeaderMap;

use super::http::{AdapterSetup, AdapterSetupError, HttpClient, ProviderUrl, RequestLimit};
use super::limits::{delayed, offer};
use super::{Capability, ProviderKey, RequestScope, Tier};

pub use stream::MassiveStream;

/// The provider's name.
pub(super) const NAME: &str = "massive";

/// A pricing plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MassivePlan {
    /// Free: data until yesterday, five requests a minute.
    Basic,
    /// Paid: prices delayed by 15 minutes.
    Delayed,
    /// Paid: prices in real time.
    RealTime,
}

/// Configuration of the operator's account.
#[derive(Debug, Clone)]
pub struct MassiveConfig {
    /// The base URL of the API.
    pub api_url: String,
    /// The base URL of the stream.
    pub stream_url: String,
    /// The API key.
    pub key: ProviderKey,
    /// The pricing plan.
    pub plan: MassivePlan,
}

impl MassiveConfig {
    /// Returns the default configuration of a plan.
    #[must_use]
    pub fn new(key: ProviderKey, plan: MassivePlan) -> Self {
        let stream = match plan {
            MassivePlan::RealTime => "wss://socket.massive.com",
            MassivePlan::Basic | MassivePlan::Delayed => "wss://delayed.massive.com",
        };
        Self {
            api_url: "https://api.massive.com".to_owned(),
            stream_url: stream.to_owned(),
            key,
            plan,
        }
    }

    /// Returns the plan: capabilities and request limits.
    #[must_use]
    pub fn tier(&self) -> Tier {
        let delay = match self.plan {
            MassivePlan::Basic => None,
            MassivePlan::Delayed => Some(Duration::from_secs(15 * 60)),
            MassivePlan::RealTime => Some(Duration::ZERO),
        };
        let mut offers = vec![
            offer(Capability::Catalog, RequestScope::Market),
            delayed(
                Capability::MinuteBars,
                RequestScope::Symbols(1),
                delay.unwrap_or_default(),
            ),
            offer(Capability::DailyBars, RequestScope::Market),
            offer(Capability::Benchmark, RequestScope::Symbols(1)),
            offer(Capability::Fundamentals, RequestScope::Symbols(1)),
            offer(Capability::Splits, RequestScope::Market),
            offer(Capability::Dividends, RequestScope::Market),
        ];
        if let Some(delay) = delay {
            offers.push(delayed(Capability::Quotes, RequestScope::Market, delay).with_extended_hours());
            offers.push(delayed(Capability::Stream, RequestScope::Subscription(None), delay).with_extended_hours());
        }
        Tier {
            provider: NAME,
            plan: match self.plan {
                MassivePlan::Basic => "Stocks Basic",
                MassivePlan::Delayed => "Stocks Starter",
                MassivePlan::RealTime => "Stocks Advanced",
            },
            offers,
            request_limits: match self.plan {
                MassivePlan::Basic => vec![RequestLimit::per_minute(5)],
                // Paid plans have no fixed limit; the documentation asks to stay below 100 requests a second.
                MassivePlan::Delayed | MassivePlan::RealTime => vec![RequestLimit::per_second(50)],
            },
        }
    }
}

/// The Massive adapter.
#[derive(Debug)]
pub struct Massive {
    http: HttpClient,
    api: ProviderUrl,
    stream: ProviderUrl,
    config: MassiveConfig,
}

impl Massive {
    /// Creates the adapter.
    ///
    /// # Errors
    /// [`AdapterSetupError`]
    pub fn new(config: MassiveConfig, setup: &AdapterSetup) -> Result<Self, AdapterSetupError> {
        let mut headers = HeaderMap::new();
        let bearer = config.key.header("Bearer ").ok_or(super::key::ProviderKeyError)?;
        headers.insert(http::header::AUTHORIZATION, bearer);
        Ok(Self {
            http: HttpClient::new(config.tier(), setup, headers, error::classify_error)?,
            api: ProviderUrl::http("api_url", &config.api_url)?,
            stream: ProviderUrl::websocket("stream_url", &config.stream_url)?,
            config,
        })
    }
}
