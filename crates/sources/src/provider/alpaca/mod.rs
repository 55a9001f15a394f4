//! # Alpaca
//!
//! A broker with US stock data over REST and WebSocket. Written from docs.alpaca.markets: "About Market Data API", "Snapshots",
//! "Historical bars", "Corporate actions", "Assets", "Real-time stock data" and "WebSocket stream".
//!
//! | capability | endpoint | scope |
//! |---|---|---|
//! | catalog | `GET {trading}/v2/assets?status=active&asset_class=us_equity` | all stocks |
//! | quotes | `GET {data}/v2/stocks/snapshots?symbols=…&feed=…` | many symbols |
//! | minute bars, daily bars, benchmark | `GET {data}/v2/stocks/bars?symbols=…&timeframe=…`, in pages | many symbols |
//! | splits, dividends | `GET {data}/v1/corporate-actions?types=…`, in pages | many symbols |
//! | stream | `{stream}/v2/{feed}` | the plan's number of symbols |
//!
//! Undocumented points, and how the adapter handles them:
//! * The maximum number of symbols per request. URLs have a maximum length, so a request names 500 (`symbols_per_request`).
//! * The response for an unknown symbol among known ones. Symbols that are absent from the response are unknown. If the request is
//!   rejected with a symbol in its message, that symbol is removed and the request is repeated.
//! * Which trade is a snapshot's latest. If that trade is not eligible as last price (for example an odd lot), the close of the last
//!   minute is used.
//! * The maximum number of minute-bar subscriptions on the free plan. Earlier documentation says unlimited, while trades are limited
//!   to 30. The plan's limit therefore applies to trades, and [`AlpacaChannels::MINUTE_BARS`] is unlimited.
//!
//! The free plan's quotes come from one exchange (IEX) in real time. Its last price is a real price, but not the market's last one,
//! and its volume is a few percent of the market's. Volumes of that feed are therefore omitted: an alert that compares them with the
//! whole market's average volume would be wrong. Daily bars cover all exchanges on every plan. On the free plan they end
//! [`FREE_PLAN_SIP_DELAY`] ago, because Alpaca rejects requests for more recent data.

mod client;
mod conditions;
mod error;
mod models;
mod parse;
mod stream;

use std::time::Duration;

use http::HeaderMap;

use super::http::{AdapterSetup, AdapterSetupError, HttpClient, ProviderUrl, RequestLimit};
use super::limits::{delayed, offer};
use super::{Capability, ProviderKey, RequestScope, Tier};

pub use stream::{AlpacaChannels, AlpacaStream};

/// The provider's name.
pub(super) const NAME: &str = "alpaca";

/// The age of the newest data of all exchanges on the free plan: 15 minutes, and one minute for clock differences.
const FREE_PLAN_SIP_DELAY: jiff::SignedDuration = jiff::SignedDuration::from_mins(16);

/// A data feed: which exchanges' trades are included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlpacaFeed {
    /// One exchange (IEX), in real time; the free plan.
    Iex,
    /// All exchanges (SIP), in real time; a paid plan.
    Sip,
    /// All exchanges (SIP), 15 minutes delayed; REST only.
    DelayedSip,
}

impl AlpacaFeed {
    /// Returns the feed's name in URLs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iex => "iex",
            Self::Sip => "sip",
            Self::DelayedSip => "delayed_sip",
        }
    }

    /// Returns the feed for bar requests. Bars have no delayed feed; an earlier end of the range has the same effect.
    const fn for_bars(self) -> Self {
        match self {
            Self::DelayedSip => Self::Sip,
            other => other,
        }
    }

    /// Returns whether the feed's volumes cover the whole market.
    const fn has_market_volume(self) -> bool {
        matches!(self, Self::Sip | Self::DelayedSip)
    }
}

/// Configuration of the operator's account.
#[derive(Debug, Clone)]
pub struct AlpacaConfig {
    /// The base URL of the market data API.
    pub data_url: String,
    /// The base URL of the trading API (paper or live), which has the catalog.
    pub trading_url: String,
    /// The base URL of the stream.
    pub stream_url: String,
    /// The key's id.
    pub key_id: ProviderKey,
    /// The secret key.
    pub secret: ProviderKey,
    /// The data feed.
    pub feed: AlpacaFeed,
    /// The plan's request limit per minute.
    pub requests_per_minute: u32,
    /// The plan's maximum number of streamed symbols; `None` if unlimited.
    pub stream_symbols: Option<u32>,
    /// The number of symbols per request.
    pub symbols_per_request: u32,
    /// The channels to subscribe for each symbol.
    pub channels: AlpacaChannels,
}

impl AlpacaConfig {
    /// Returns the configuration of the free plan: IEX, 200 requests a minute, 30 streamed symbols.
    #[must_use]
    pub fn free(key_id: ProviderKey, secret: ProviderKey) -> Self {
        Self {
            data_url: "https://data.alpaca.markets".to_owned(),
            trading_url: "https://paper-api.alpaca.markets".to_owned(),
            stream_url: "wss://stream.data.alpaca.markets".to_owned(),
            key_id,
            secret,
            feed: AlpacaFeed::Iex,
            requests_per_minute: 200,
            stream_symbols: Some(30),
            symbols_per_request: 500,
            channels: AlpacaChannels::TRADES,
        }
    }

    /// Returns the plan: capabilities and request limits.
    #[must_use]
    pub fn tier(&self) -> Tier {
        let some = RequestScope::Symbols(self.symbols_per_request);
        let delay = match self.feed {
            AlpacaFeed::DelayedSip => Duration::from_secs(15 * 60),
            AlpacaFeed::Iex | AlpacaFeed::Sip => Duration::ZERO,
        };
        let stream = offer(Capability::Stream, RequestScope::Subscription(self.stream_symbols)).with_extended_hours();
        let mut offers = vec![
            offer(Capability::Catalog, RequestScope::Market),
            delayed(Capability::Quotes, some, delay).with_extended_hours(),
            delayed(Capability::MinuteBars, some, delay),
            offer(Capability::DailyBars, some),
            offer(Capability::Benchmark, some),
            offer(Capability::Splits, some),
            offer(Capability::Dividends, some),
        ];
        if self.feed != AlpacaFeed::DelayedSip {
            offers.push(stream);
        }
        Tier {
            provider: NAME,
            plan: match self.feed {
                AlpacaFeed::Iex | AlpacaFeed::DelayedSip => "Basic",
                AlpacaFeed::Sip => "Algo Trader Plus",
            },
            offers,
            request_limits: vec![RequestLimit::per_minute(self.requests_per_minute)],
        }
    }
}

/// The Alpaca adapter.
#[derive(Debug)]
pub struct Alpaca {
    http: HttpClient,
    data: ProviderUrl,
    trading: ProviderUrl,
    stream: ProviderUrl,
    config: AlpacaConfig,
}

impl Alpaca {
    /// Creates the adapter.
    ///
    /// # Errors
    /// [`AdapterSetupError`]
    pub fn new(config: AlpacaConfig, setup: &AdapterSetup) -> Result<Self, AdapterSetupError> {
        let mut headers = HeaderMap::new();
        for (name, key) in [
            ("apca-api-key-id", &config.key_id),
            ("apca-api-secret-key", &config.secret),
        ] {
            headers.insert(name, key.header("").ok_or(super::key::ProviderKeyError)?);
        }
        Ok(Self {
            http: HttpClient::new(config.tier(), setup, headers, error::classify_error)?,
            data: ProviderUrl::http("data_url", &config.data_url)?,
            trading: ProviderUrl::http("trading_url", &config.trading_url)?,
            stream: ProviderUrl::websocket("stream_url", &config.stream_url)?,
            config,
        })
    }
}
