//! # Tiingo
//!
//! End-of-day prices with splits and dividends, prices of the IEX exchange, and fundamentals. Written from
//! tiingo.com/documentation: "End-of-Day", "IEX", "Fundamentals", and the page of the plans.
//!
//! | capability | path after `{api}` | scope | free |
//! |---|---|---|---|
//! | quotes | `/iex/?tickers=…` | many symbols | yes |
//! | minute bars | `/iex/{ticker}/prices?resampleFreq=1min` | one symbol | yes |
//! | daily bars, benchmark, splits, dividends | `/tiingo/daily/{ticker}/prices` | one symbol | yes |
//! | fundamentals | `/tiingo/fundamentals/{ticker}/statements` and `/daily` | one symbol | 30 stocks |
//!
//! The free plan has 50 requests an hour, 1,000 a day and 500 symbols a month; the monthly limit is not enforced here.
//!
//! A daily row contains the dividend (`divCash`) and the split (`splitFactor`) of its ex-date. Both are known only when the day is
//! over, not in advance. The payment date of a dividend is not available.
//!
//! Undocumented points, and how the adapter handles them:
//! * The maximum number of tickers per IEX request: the adapter names 100.
//! * The volume is that of one exchange, so it is omitted: see [`alpaca`](super::alpaca).
//! * `last` is null without an agreement with the exchange; then `tngoLast` is the price.
//! * The daily fundamentals have no trailing EPS; it is the sum of the last four quarters' diluted EPS as reported.

mod client;
mod error;
mod models;
mod parse;

use http::HeaderMap;

use super::http::{AdapterSetup, AdapterSetupError, HttpClient, ProviderUrl, RequestLimit};
use super::limits::offer;
use super::{Capability, ProviderKey, RequestScope, Tier};

/// The provider's name.
pub(super) const NAME: &str = "tiingo";

/// Configuration of the operator's account.
#[derive(Debug, Clone)]
pub struct TiingoConfig {
    /// The base URL of the API.
    pub api_url: String,
    /// The API key.
    pub key: ProviderKey,
    /// The plan's request limit per hour.
    pub requests_per_hour: u32,
    /// The plan's request limit per day.
    pub requests_per_day: u32,
}

impl TiingoConfig {
    /// Returns the configuration of the free plan.
    #[must_use]
    pub fn free(key: ProviderKey) -> Self {
        Self {
            api_url: "https://api.tiingo.com".to_owned(),
            key,
            requests_per_hour: 50,
            requests_per_day: 1_000,
        }
    }

    /// Returns the plan: capabilities and request limits.
    #[must_use]
    pub fn tier(&self) -> Tier {
        let one = RequestScope::Symbols(1);
        Tier {
            provider: NAME,
            plan: if self.requests_per_hour <= 50 {
                "Starter"
            } else {
                "Power"
            },
            offers: vec![
                offer(Capability::Quotes, RequestScope::Symbols(100)),
                offer(Capability::MinuteBars, one),
                offer(Capability::DailyBars, one),
                offer(Capability::Benchmark, one),
                offer(Capability::Fundamentals, one),
                offer(Capability::Splits, one),
                offer(Capability::Dividends, one),
            ],
            request_limits: vec![
                RequestLimit::per_hour(self.requests_per_hour),
                RequestLimit::per_day(self.requests_per_day),
            ],
        }
    }
}

/// The Tiingo adapter.
#[derive(Debug)]
pub struct Tiingo {
    http: HttpClient,
    api: ProviderUrl,
}

impl Tiingo {
    /// Creates the adapter.
    ///
    /// # Errors
    /// [`AdapterSetupError`]
    pub fn new(config: &TiingoConfig, setup: &AdapterSetup) -> Result<Self, AdapterSetupError> {
        let mut headers = HeaderMap::new();
        let token = config.key.header("Token ").ok_or(super::key::ProviderKeyError)?;
        headers.insert(http::header::AUTHORIZATION, token);
        Ok(Self {
            http: HttpClient::new(config.tier(), setup, headers, error::classify_error)?,
            api: ProviderUrl::http("api_url", &config.api_url)?,
        })
    }
}
