//! # Finnhub
//!
//! Quotes, fundamentals and calendars, one symbol a request. The free plan has 60 requests a minute. Written from finnhub.io/docs/api:
//! "Stock Symbols", "Quote", "Stock Candles", "Basic Financials", "Earnings Calendar", "Dividends", "Splits", "Insider Transactions",
//! "Social Sentiment", "Trades" (WebSocket) and "Rate Limits".
//!
//! | capability | path after `{api}` | scope | free |
//! |---|---|---|---|
//! | catalog | `/stock/symbol?exchange=US` | all | yes |
//! | quotes | `/quote?symbol=` | one symbol | yes |
//! | minute bars, daily bars, benchmark | `/stock/candle?symbol=&resolution=` | one symbol | no |
//! | fundamentals | `/stock/metric?symbol=&metric=all` | one symbol | yes |
//! | earnings | `/calendar/earnings?from=&to=[&symbol=]` | all, or one symbol | yes |
//! | dividends, splits | `/stock/dividend`, `/stock/split` | one symbol | no |
//! | insider trades | `/stock/insider-transactions?symbol=` | one symbol | yes |
//! | mentions | `/stock/social-sentiment?symbol=` | one symbol | no |
//! | stream | `{stream}?token=`, trades | 50 symbols on the free plan | yes |
//!
//! REST requests send the key in the header `X-Finnhub-Token`. The stream accepts it only in its URL, which is therefore never printed.
//!
//! Undocumented points, and how the adapter handles them:
//! * The response for an unknown symbol. A quote with price zero and time zero means unknown.
//! * Which trades of the stream are eligible to update the last price: the conditions are numbers from a separate document. The adapter
//!   accepts all trades; the freshness filter decides.
//! * The maximum number of rows of the earnings calendar: earlier documentation says 1,500. The whole market is therefore requested in
//!   chunks of three days.
//! * The time zone of social sentiment. The adapter reads it as UTC, and adds Reddit and Twitter where they are separate.
//! * The basic financials have no forward EPS, so P/E alerts on expected earnings need another provider.
//! * Daily candles are adjusted for splits, and are marked so ([`PriceAdjustment`](crate::provider::PriceAdjustment)).

mod client;
mod error;
mod models;
mod parse;
mod parse_activity;
mod stream;

use http::HeaderMap;

use super::http::{AdapterSetup, AdapterSetupError, HttpClient, ProviderUrl, RequestLimit};
use super::limits::offer;
use super::{Capability, ProviderKey, RequestScope, Tier};

pub use stream::FinnhubStream;

/// The provider's name.
pub(super) const NAME: &str = "finnhub";

/// Configuration of the operator's account.
#[derive(Debug, Clone)]
pub struct FinnhubConfig {
    /// The base URL of the API.
    pub api_url: String,
    /// The base URL of the stream.
    pub stream_url: String,
    /// The API key.
    pub key: ProviderKey,
    /// The plan's request limit per minute.
    pub requests_per_minute: u32,
    /// The plan's maximum number of streamed symbols; `None` if unlimited.
    pub stream_symbols: Option<u32>,
    /// Whether the plan includes candles, dividends, splits and social sentiment.
    pub is_premium: bool,
}

impl FinnhubConfig {
    /// Returns the configuration of the free plan.
    #[must_use]
    pub fn free(key: ProviderKey) -> Self {
        Self {
            api_url: "https://finnhub.io/api/v1".to_owned(),
            stream_url: "wss://ws.finnhub.io".to_owned(),
            key,
            requests_per_minute: 60,
            stream_symbols: Some(50),
            is_premium: false,
        }
    }

    /// Returns the plan: capabilities and request limits.
    #[must_use]
    pub fn tier(&self) -> Tier {
        let one = RequestScope::Symbols(1);
        let mut offers = vec![
            offer(Capability::Catalog, RequestScope::Market),
            offer(Capability::Quotes, one),
            offer(Capability::Stream, RequestScope::Subscription(self.stream_symbols)),
            offer(Capability::Fundamentals, one),
            offer(Capability::Earnings, RequestScope::Market),
            offer(Capability::InsiderTrades, one),
        ];
        if self.is_premium {
            let paid = [
                Capability::MinuteBars,
                Capability::DailyBars,
                Capability::Benchmark,
                Capability::Dividends,
                Capability::Splits,
                Capability::Mentions,
            ];
            offers.extend(paid.map(|capability| offer(capability, one)));
        }
        Tier {
            provider: NAME,
            plan: if self.is_premium { "premium" } else { "free" },
            offers,
            // A limit per second applies to all plans, in addition to the plan's limit per minute.
            request_limits: vec![
                RequestLimit::per_minute(self.requests_per_minute),
                RequestLimit::per_second(30),
            ],
        }
    }
}

/// The Finnhub adapter.
#[derive(Debug)]
pub struct Finnhub {
    http: HttpClient,
    api: ProviderUrl,
    stream: ProviderUrl,
    config: FinnhubConfig,
}

impl Finnhub {
    /// Creates the adapter.
    ///
    /// # Errors
    /// [`AdapterSetupError`]
    pub fn new(config: FinnhubConfig, setup: &AdapterSetup) -> Result<Self, AdapterSetupError> {
        let mut headers = HeaderMap::new();
        headers.insert(
            "x-finnhub-token",
            config.key.header("").ok_or(super::key::ProviderKeyError)?,
        );
        Ok(Self {
            http: HttpClient::new(config.tier(), setup, headers, error::classify_error)?,
            api: ProviderUrl::http("api_url", &config.api_url)?,
            stream: ProviderUrl::websocket("stream_url", &config.stream_url)?,
            config,
        })
    }
}
