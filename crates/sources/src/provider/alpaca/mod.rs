//! # Alpaca
//!
//! A broker with market data of US stocks over REST and WebSocket. Written from docs.alpaca.markets: "About Market Data API",
//! "Snapshots", "Historical bars", "Corporate actions", "Assets", "Real-time stock data" and "WebSocket stream".
//!
//! | capability | where | reach |
//! |---|---|---|
//! | catalog | `GET {trading}/v2/assets?status=active&asset_class=us_equity` | all at once |
//! | quotes | `GET {data}/v2/stocks/snapshots?symbols=…&feed=…` | many symbols |
//! | minute bars, daily bars, benchmark | `GET {data}/v2/stocks/bars?symbols=…&timeframe=…`, in pages | many symbols |
//! | splits, dividends | `GET {data}/v1/corporate-actions?types=…`, in pages | many symbols |
//! | stream | `{stream}/v2/{feed}` | the plan's number of symbols |
//!
//! What the documentation does not say, and what is done about it:
//! * How many symbols a request may name. There is a limit to an address's length, so 500 are named at a time (`symbols_a_request`).
//! * What is answered for a symbol that it does not know among others. What is not in the answer is unknown; if the request is
//!   refused with a symbol in its message, that one is left out and the others are asked for again.
//! * Which trade a snapshot's last one is. If it makes no last price (an odd lot, say), the last minute's close is taken.
//! * How many symbols of minute bars may be subscribed on the free plan: earlier documentation says any number, where trades are
//!   limited to 30. So the plan's limit holds for trades, and [`Channels::MINUTE_BARS`] has none.
//!
//! The free plan's quotes are those of one exchange, IEX, in real time: its last price is a real price, but not the market's last
//! one, and its volume is a few percent of the market's. So volumes of that feed are not told at all: an alert on volume against
//! an average of the whole market's would be wrong. Daily bars are all exchanges' on any plan; on the free one they end
//! [`RECENT`] ago, because what is more recent is refused there.

mod client;
mod conditions;
mod error;
mod models;
mod parse;
mod stream;

use std::time::Duration;

use http::HeaderMap;

use super::http::{Address, Http, Quota, Setup, SetupError};
use super::limits::{delayed, offer};
use super::{Capability, Key, Reach, Tier};

pub use stream::{AlpacaStream, Channels};

/// Its name.
pub(super) const NAME: &str = "alpaca";

/// On the free plan, what all exchanges traded is told this much later; a minute is for clocks that differ.
const RECENT: jiff::SignedDuration = jiff::SignedDuration::from_mins(16);

/// Which trades are told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feed {
    /// Those of one exchange, in real time, on the free plan.
    Iex,
    /// Those of all exchanges, in real time, on a paid plan.
    Sip,
    /// Those of all exchanges, 15 minutes later; over REST only.
    DelayedSip,
}

impl Feed {
    /// Its name in addresses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iex => "iex",
            Self::Sip => "sip",
            Self::DelayedSip => "delayed_sip",
        }
    }

    /// The feed of bars by this name: a delay is no feed there, but an end.
    const fn of_bars(self) -> Self {
        match self {
            Self::DelayedSip => Self::Sip,
            other => other,
        }
    }

    /// Whether its volumes are the whole market's.
    const fn has_whole_volume(self) -> bool {
        matches!(self, Self::Sip | Self::DelayedSip)
    }
}

/// The operator's account.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where data are.
    pub data_url: String,
    /// Where the catalog is: the paper or the live account's address.
    pub trading_url: String,
    /// Where the stream is.
    pub stream_url: String,
    /// The key's id.
    pub key_id: Key,
    /// The key.
    pub secret: Key,
    /// Which trades.
    pub feed: Feed,
    /// How many requests the plan has a minute.
    pub requests_per_minute: u32,
    /// How many symbols the plan's stream has; any number if `None`.
    pub stream_symbols: Option<u32>,
    /// How many symbols a request names.
    pub symbols_a_request: u32,
    /// What is subscribed for each symbol.
    pub channels: Channels,
}

impl Config {
    /// The free plan: IEX, 200 requests a minute, 30 symbols in the stream.
    #[must_use]
    pub fn free(key_id: Key, secret: Key) -> Self {
        Self {
            data_url: "https://data.alpaca.markets".to_owned(),
            trading_url: "https://paper-api.alpaca.markets".to_owned(),
            stream_url: "wss://stream.data.alpaca.markets".to_owned(),
            key_id,
            secret,
            feed: Feed::Iex,
            requests_per_minute: 200,
            stream_symbols: Some(30),
            symbols_a_request: 500,
            channels: Channels::TRADES,
        }
    }

    /// What the plan allows.
    #[must_use]
    pub fn tier(&self) -> Tier {
        let some = Reach::Symbols(self.symbols_a_request);
        let delay = match self.feed {
            Feed::DelayedSip => Duration::from_secs(15 * 60),
            Feed::Iex | Feed::Sip => Duration::ZERO,
        };
        let stream = offer(Capability::Stream, Reach::Subscription(self.stream_symbols));
        let mut offers = vec![
            offer(Capability::Catalog, Reach::Market),
            delayed(Capability::Quotes, some, delay),
            delayed(Capability::MinuteBars, some, delay),
            offer(Capability::DailyBars, some),
            offer(Capability::Benchmark, some),
            offer(Capability::Splits, some),
            offer(Capability::Dividends, some),
        ];
        if self.feed != Feed::DelayedSip {
            offers.push(stream);
        }
        Tier {
            provider: NAME,
            plan: match self.feed {
                Feed::Iex | Feed::DelayedSip => "Basic",
                Feed::Sip => "Algo Trader Plus",
            },
            offers,
            quotas: vec![Quota::per_minute(self.requests_per_minute)],
        }
    }
}

/// Asks Alpaca.
#[derive(Debug)]
pub struct Alpaca {
    http: Http,
    data: Address,
    trading: Address,
    stream: Address,
    tier: Tier,
    config: Config,
    setup: Setup,
}

impl Alpaca {
    /// With this account.
    ///
    /// # Errors
    /// [`SetupError`]
    pub fn new(config: Config, setup: &Setup) -> Result<Self, SetupError> {
        let address = |setting| move |error| SetupError::Address { setting, error };
        let tier = config.tier();
        let mut headers = HeaderMap::new();
        for (name, key) in [
            ("apca-api-key-id", &config.key_id),
            ("apca-api-secret-key", &config.secret),
        ] {
            headers.insert(name, key.header("").ok_or(super::key::KeyError)?);
        }
        Ok(Self {
            http: Http::new(NAME, setup, &tier.quotas, headers, error::judge)?,
            data: Address::http(&config.data_url).map_err(address("data_url"))?,
            trading: Address::http(&config.trading_url).map_err(address("trading_url"))?,
            stream: Address::websocket(&config.stream_url).map_err(address("stream_url"))?,
            tier,
            config,
            setup: setup.clone(),
        })
    }
}
