//! # Finnhub
//!
//! Quotes, figures and calendars, one symbol a request, with a free plan of 60 requests a minute. Written from
//! finnhub.io/docs/api: "Stock Symbols", "Quote", "Stock Candles", "Basic Financials", "Earnings Calendar", "Dividends", "Splits",
//! "Insider Transactions", "Social Sentiment", "Trades" (WebSocket) and "Rate Limits".
//!
//! | capability | path behind `{api}` | reach | free |
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
//! The key travels in the header `X-Finnhub-Token`; the stream takes it in its address only, which is therefore never printed.
//!
//! What the documentation does not say, and what is done about it:
//! * What is answered for an unknown symbol. A quote of zeros at the time zero means that.
//! * Which trades of the stream make a last price: its conditions are numbers in a sheet of their own. All are taken, and the
//!   gate for freshness has the last word.
//! * How many rows the earnings calendar answers at most: earlier documentation says 1,500. So the whole market is asked for
//!   three days at a time.
//! * The zone of the hours of social sentiment; they are read as UTC. It sums Reddit and Twitter where they come apart.
//! * A forward EPS is not among the basic financials, so P/E alerts on expected earnings need another provider.
//! * Daily candles are adjusted for splits, and say so here ([`BarsAre`](crate::provider::BarsAre)).

mod client;
mod error;
mod models;
mod parse;
mod stream;

use http::HeaderMap;

use super::http::{Address, Http, Quota, Setup, SetupError};
use super::limits::offer;
use super::{Capability, Key, Reach, Tier};

pub use stream::FinnhubStream;
pub(super) use stream::millis;

/// Its name.
pub(super) const NAME: &str = "finnhub";

/// The operator's account.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where the data are.
    pub api_url: String,
    /// Where the stream is.
    pub stream_url: String,
    /// The key.
    pub key: Key,
    /// How many requests the plan has a minute.
    pub requests_per_minute: u32,
    /// How many symbols the plan's stream has.
    pub stream_symbols: Option<u32>,
    /// Whether the plan has candles, dividends, splits and social sentiment.
    pub is_premium: bool,
}

impl Config {
    /// The free plan.
    #[must_use]
    pub fn free(key: Key) -> Self {
        Self {
            api_url: "https://finnhub.io/api/v1".to_owned(),
            stream_url: "wss://ws.finnhub.io".to_owned(),
            key,
            requests_per_minute: 60,
            stream_symbols: Some(50),
            is_premium: false,
        }
    }

    /// What the plan allows.
    #[must_use]
    pub fn tier(&self) -> Tier {
        let one = Reach::Symbols(1);
        let mut offers = vec![
            offer(Capability::Catalog, Reach::Market),
            offer(Capability::Quotes, one),
            offer(Capability::Stream, Reach::Subscription(self.stream_symbols)),
            offer(Capability::Fundamentals, one),
            offer(Capability::Earnings, Reach::Market),
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
            // Beside the plan's limit there is one for everybody.
            quotas: vec![Quota::per_minute(self.requests_per_minute), Quota::per_second(30)],
        }
    }
}

/// Asks Finnhub.
#[derive(Debug)]
pub struct Finnhub {
    http: Http,
    api: Address,
    stream: Address,
    tier: Tier,
    config: Config,
    setup: Setup,
}

impl Finnhub {
    /// With this account.
    ///
    /// # Errors
    /// [`SetupError`]
    pub fn new(config: Config, setup: &Setup) -> Result<Self, SetupError> {
        let address = |setting| move |error| SetupError::Address { setting, error };
        let tier = config.tier();
        let mut headers = HeaderMap::new();
        headers.insert("x-finnhub-token", config.key.header("").ok_or(super::key::KeyError)?);
        Ok(Self {
            http: Http::new(NAME, setup, &tier.quotas, headers, error::judge)?,
            api: Address::http(&config.api_url).map_err(address("api_url"))?,
            stream: Address::websocket(&config.stream_url).map_err(address("stream_url"))?,
            tier,
            config,
            setup: setup.clone(),
        })
    }
}
