//! # Tiingo
//!
//! End-of-day prices with splits and dividends, the IEX exchange's prices, fundamentals. Written from
//! tiingo.com/documentation: "End-of-Day", "IEX", "Fundamentals", and the plans' page.
//!
//! | capability | path behind `{api}` | reach | free |
//! |---|---|---|---|
//! | quotes | `/iex/?tickers=…` | many symbols | yes |
//! | minute bars | `/iex/{ticker}/prices?resampleFreq=1min` | one symbol | yes |
//! | daily bars, benchmark, splits, dividends | `/tiingo/daily/{ticker}/prices` | one symbol | yes |
//! | fundamentals | `/tiingo/fundamentals/{ticker}/statements` and `/daily` | one symbol | 30 stocks |
//!
//! The free plan has 50 requests an hour, 1,000 a day and 500 symbols a month; the last is not counted here.
//!
//! A day's row has the dividend (`divCash`) and the split (`splitFactor`) of its ex-date, so both are known when the day is over
//! and never ahead; a dividend's payment date is not told.
//!
//! What the documentation does not say, and what is done about it:
//! * How many tickers a request for IEX prices may name: 100 are.
//! * Its volume is that of one exchange, so it is not told: see [`alpaca`](super::alpaca).
//! * `last` is null without an agreement with the exchange; then `tngoLast` is the price.
//! * Trailing EPS is not among the figures of a day; it is the sum of the last four quarters' diluted EPS as reported.

mod client;
mod error;
mod models;
mod parse;

use http::HeaderMap;

use super::http::{Address, Http, Quota, Setup, SetupError};
use super::limits::offer;
use super::{Capability, Key, Reach, Tier};

/// Its name.
pub(super) const NAME: &str = "tiingo";

/// The operator's account.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where the data are.
    pub api_url: String,
    /// The key.
    pub key: Key,
    /// How many requests the plan has an hour.
    pub requests_per_hour: u32,
    /// How many requests the plan has a day.
    pub requests_per_day: u32,
}

impl Config {
    /// The free plan.
    #[must_use]
    pub fn free(key: Key) -> Self {
        Self {
            api_url: "https://api.tiingo.com".to_owned(),
            key,
            requests_per_hour: 50,
            requests_per_day: 1_000,
        }
    }

    /// What the plan allows.
    #[must_use]
    pub fn tier(&self) -> Tier {
        let one = Reach::Symbols(1);
        Tier {
            provider: NAME,
            plan: if self.requests_per_hour <= 50 {
                "Starter"
            } else {
                "Power"
            },
            offers: vec![
                offer(Capability::Quotes, Reach::Symbols(100)),
                offer(Capability::MinuteBars, one),
                offer(Capability::DailyBars, one),
                offer(Capability::Benchmark, one),
                offer(Capability::Fundamentals, one),
                offer(Capability::Splits, one),
                offer(Capability::Dividends, one),
            ],
            quotas: vec![
                Quota::per_hour(self.requests_per_hour),
                Quota::per_day(self.requests_per_day),
            ],
        }
    }
}

/// Asks Tiingo.
#[derive(Debug)]
pub struct Tiingo {
    http: Http,
    api: Address,
    tier: Tier,
    setup: Setup,
}

impl Tiingo {
    /// With this account.
    ///
    /// # Errors
    /// [`SetupError`]
    pub fn new(config: &Config, setup: &Setup) -> Result<Self, SetupError> {
        let address = |setting| move |error| SetupError::Address { setting, error };
        let tier = config.tier();
        let mut headers = HeaderMap::new();
        let token = config.key.header("Token ").ok_or(super::key::KeyError)?;
        headers.insert(http::header::AUTHORIZATION, token);
        Ok(Self {
            http: Http::new(NAME, setup, &tier.quotas, headers, error::judge)?,
            api: Address::http(&config.api_url).map_err(address("api_url"))?,
            tier,
            setup: setup.clone(),
        })
    }
}
