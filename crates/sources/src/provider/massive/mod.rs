//! # Massive (formerly Polygon.io)
//!
//! Snapshots, aggregates and reference data of US stocks; requests that answer the whole market at once, of which the free plan
//! has five a minute and none for prices of today. Written from massive.com/docs: "Full Market Snapshot", "Daily Market
//! Summary", "Custom Bars", "Splits", "Dividends", "All Tickers", "Ticker Overview", and the WebSocket's "Trades" and
//! "Aggregates (Per Minute)".
//!
//! | capability | path behind `{api}` | reach | free |
//! |---|---|---|---|
//! | catalog | `/v3/reference/tickers?market=stocks`, in pages | all | yes |
//! | quotes | `/v2/snapshot/locale/us/markets/stocks/tickers?tickers=…` | 250 symbols, or all | no |
//! | minute bars | `/v2/aggs/ticker/{ticker}/range/1/minute/…` | one symbol | yes, until yesterday |
//! | daily bars, benchmark | `/v2/aggs/grouped/locale/us/market/stocks/{date}` for a day of many, `/v2/aggs/ticker/…` for many days of one | all | yes, until yesterday |
//! | fundamentals | `/v3/reference/tickers/{ticker}`: the market capitalisation only | one symbol | yes |
//! | splits, dividends | `/v3/reference/splits`, `/v3/reference/dividends`, in pages | all | yes |
//! | stream | `{stream}/stocks`: trades and minutes | all | no |
//!
//! The old addresses (`api.polygon.io`, `socket.polygon.io`) go on to work, as their documentation says; both are settings.
//!
//! What the documentation does not say, and what is done about it:
//! * What a plan without trades leaves out of a snapshot. Without a last trade the minute's close is the price, and without that
//!   the day's.
//! * Whether a page's address (`next_url`) stays at the same place. Its path and query are followed, at the address of the
//!   settings: the key goes nowhere else.
//! * Preferred shares are written with a small p (`BACpL`), which is no ticker here; they are left out.

mod client;
mod error;
mod models;
mod parse;
mod stream;

use std::time::Duration;

use http::HeaderMap;

use super::http::{Address, Http, Quota, Setup, SetupError};
use super::limits::{delayed, offer};
use super::{Capability, Key, Reach, Tier};

pub use stream::MassiveStream;

/// Its name.
pub(super) const NAME: &str = "massive";

/// The plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// Free: until yesterday, five requests a minute.
    Basic,
    /// Paid: prices 15 minutes late.
    Delayed,
    /// Paid: prices in real time.
    RealTime,
}

/// The operator's account.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where the data are.
    pub api_url: String,
    /// Where the stream is.
    pub stream_url: String,
    /// The key.
    pub key: Key,
    /// The plan.
    pub plan: Plan,
}

impl Config {
    /// On this plan.
    #[must_use]
    pub fn new(key: Key, plan: Plan) -> Self {
        let stream = match plan {
            Plan::RealTime => "wss://socket.massive.com",
            Plan::Basic | Plan::Delayed => "wss://delayed.massive.com",
        };
        Self {
            api_url: "https://api.massive.com".to_owned(),
            stream_url: stream.to_owned(),
            key,
            plan,
        }
    }

    /// What the plan allows.
    #[must_use]
    pub fn tier(&self) -> Tier {
        let delay = match self.plan {
            Plan::Basic => None,
            Plan::Delayed => Some(Duration::from_secs(15 * 60)),
            Plan::RealTime => Some(Duration::ZERO),
        };
        let mut offers = vec![
            offer(Capability::Catalog, Reach::Market),
            delayed(Capability::MinuteBars, Reach::Symbols(1), delay.unwrap_or_default()),
            offer(Capability::DailyBars, Reach::Market),
            offer(Capability::Benchmark, Reach::Symbols(1)),
            offer(Capability::Fundamentals, Reach::Symbols(1)),
            offer(Capability::Splits, Reach::Market),
            offer(Capability::Dividends, Reach::Market),
        ];
        if let Some(delay) = delay {
            offers.push(delayed(Capability::Quotes, Reach::Market, delay));
            offers.push(delayed(Capability::Stream, Reach::Subscription(None), delay));
        }
        Tier {
            provider: NAME,
            plan: match self.plan {
                Plan::Basic => "Stocks Basic",
                Plan::Delayed => "Stocks Starter",
                Plan::RealTime => "Stocks Advanced",
            },
            offers,
            quotas: match self.plan {
                Plan::Basic => vec![Quota::per_minute(5)],
                // Paid plans have no limit but a plea to stay below 100 a second.
                Plan::Delayed | Plan::RealTime => vec![Quota::per_second(50)],
            },
        }
    }
}

/// Asks Massive.
#[derive(Debug)]
pub struct Massive {
    http: Http,
    api: Address,
    stream: Address,
    tier: Tier,
    config: Config,
    setup: Setup,
}

impl Massive {
    /// With this account.
    ///
    /// # Errors
    /// [`SetupError`]
    pub fn new(config: Config, setup: &Setup) -> Result<Self, SetupError> {
        let address = |setting| move |error| SetupError::Address { setting, error };
        let tier = config.tier();
        let mut headers = HeaderMap::new();
        let bearer = config.key.header("Bearer ").ok_or(super::key::KeyError)?;
        headers.insert(http::header::AUTHORIZATION, bearer);
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
