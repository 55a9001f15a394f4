//! # The live source: data of the watched stocks from providers
//!
//! Each stock costs requests, so only data of watched stocks is requested ([`WatchedStocks`], the most watched first). Two
//! tasks share the providers' quotas:
//!
//! * [`prices`] fetches the prices of the session. If a provider has a stream, the most watched stocks are subscribed, up
//!   to the limit of its plan. The other stocks are polled as often as the plan allows; so are stocks that the provider
//!   refuses to stream, and all stocks while the stream is down or silent. Each quote passes the [filter](crate::freshness)
//!   before it is delivered. A held jump is confirmed by a second source, or by the bar of its minute.
//! * [`price_requests`] fetches single prices at once.
//! * [`fetch_queue`] fetches all other data: the history of newly watched stocks, the data since the last bar, the nightly,
//!   morning and hourly data ([`schedule`] defines the requests), and data that is requested explicitly ([`RefreshKind`]).
//!
//! ## Gaps
//!
//! A gap is a period without prices: the stream was lost, no poll succeeded, or the program did not run. It is fetched as
//! minute bars ([`gaps`]) and delivered as quotes with their own times
//! ([`MarketUpdate::missed`](crate::MarketUpdate::missed)); alerts are evaluated as of those times. Meanwhile new quotes
//! are held for a short time, so that a crossing is reported with the time at which it happened and not with that of the
//! first new price. Late quotes, and quotes of a session that has closed, are delivered in the same way.
//!
//! ## Extended hours
//!
//! Outside the session, one price of each stock is fetched for display. Stocks whose alerts are judged in extended hours
//! ([`MarketState::is_judged_in_extended_hours`]) are polled in these hours, too, unless they are streamed. That needs a provider that
//! documents prices of extended hours; others may date a price of the session later, so such prices are dropped. Gaps in extended
//! hours are not filled.
//!
//! ## Limits
//!
//! A price between two polls is not seen; only a stream, or the minute bars of a gap, contain it. If no provider has minute
//! bars, gaps are not filled, and that is logged. Gaps older than [`gaps::MAX_GAP_AGE`] are not filled.

mod fetch_queue;
mod gap_log;
mod gaps;
mod health;
mod poll_round;
mod price_requests;
mod price_stream;
mod prices;
mod schedule;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use market::{Calendar, ObservedPrice, Price, Symbol};
use tokio::sync::{broadcast, mpsc, watch};

use crate::freshness::QuoteLimits;
use crate::provider::http::AdapterSetup;
use crate::provider::stream;
pub use crate::routing::{PollingConfig, ProviderRouter};
use crate::{FeedKind, FeedSet, MarketUpdate};

pub use gap_log::{GapCause, GapReport, GapState};
pub use health::{LiveSourceHealth, LiveSourceSnapshot};
pub use price_requests::{PriceReply, PriceRequest};
pub use schedule::RefreshKind;

/// The watched stocks, the most watched first.
pub type WatchedStocks = watch::Receiver<Arc<Vec<Symbol>>>;

/// The configuration of the live source.
#[derive(Debug, Clone)]
pub struct LiveSourceConfig {
    /// The providers of each capability.
    pub router: Arc<ProviderRouter>,
    /// The clock and the HTTP settings of the providers.
    pub setup: AdapterSetup,
    /// The exchange calendar.
    pub calendar: Calendar,
    /// The interval and the quota share of polling.
    pub polling: PollingConfig,
    /// The limits of the quote filter.
    pub limits: QuoteLimits,
    /// The settings of streams.
    pub stream: stream::StreamConfig,
    /// The time of the nightly requests, in New York.
    pub nightly_at: Time,
    /// The benchmark that portfolios are compared with.
    pub benchmark: Symbol,
    /// The stocks whose alerts are all inactive. Only their splits are requested: the threshold of a paused alert must
    /// follow a split, or it is wrong when the alert is activated.
    pub splits_only: watch::Receiver<Arc<BTreeSet<Symbol>>>,
}

/// The state of the market as known to the receiver of the updates.
pub trait MarketState: Send + Sync + fmt::Debug {
    /// Returns the last observed price of a stock.
    fn last_quote(&self, symbol: Symbol) -> Option<ObservedPrice>;

    /// Returns the date of the last known bar of a stock.
    fn last_bar(&self, symbol: Symbol) -> Option<Date>;

    /// Whether a stock is in the catalog.
    fn is_listed(&self, _symbol: Symbol) -> bool {
        true
    }

    /// Returns the price that a stock's next price is compared with: the last quote, or the close of a later bar.
    fn reference_price(&self, symbol: Symbol) -> Option<Price> {
        self.last_quote(symbol).map(|seen| seen.price)
    }

    /// Whether alerts on a stock are judged by its prices in extended hours, too.
    fn is_judged_in_extended_hours(&self, _symbol: Symbol) -> bool {
        false
    }

    /// Returns the average volume of a stock over its last sessions, in shares a day; `None` if too few sessions are known.
    fn average_volume(&self, symbol: Symbol) -> Option<i64>;
}

/// Returns the kinds of data that `router` provides.
#[must_use]
pub fn feeds(router: &ProviderRouter) -> FeedSet {
    use crate::provider::Capability;
    let kind = |capability| match capability {
        Capability::Catalog => FeedKind::Stocks,
        Capability::Quotes | Capability::Stream | Capability::MinuteBars => FeedKind::Quotes,
        Capability::DailyBars | Capability::Benchmark => FeedKind::Bars,
        Capability::Fundamentals => FeedKind::Fundamentals,
        Capability::Earnings => FeedKind::Earnings,
        Capability::Dividends => FeedKind::Dividends,
        Capability::Splits => FeedKind::Splits,
        Capability::InsiderTrades => FeedKind::InsiderTransactions,
        Capability::Mentions => FeedKind::Mentions,
    };
    router.capabilities().map(kind).collect()
}

/// The state that both tasks share.
#[derive(Debug, Clone)]
struct LiveContext {
    config: LiveSourceConfig,
    watched: WatchedStocks,
    market_state: Arc<dyn MarketState>,
    health: LiveSourceHealth,
    sender: mpsc::Sender<MarketUpdate>,
}

impl LiveContext {
    fn now(&self) -> Timestamp {
        self.config.setup.clock.now()
    }

    /// Sends an update unless it is empty. A dropped receiver is detected elsewhere.
    async fn deliver(&self, update: MarketUpdate) {
        if !update.is_empty() {
            drop(self.sender.send(update).await);
        }
    }
}

/// The inputs that tell a live source which data to fetch.
#[derive(Debug)]
pub struct LiveSourceInputs {
    /// The watched stocks.
    pub watched: WatchedStocks,
    /// The kinds of data to fetch now, outside the schedule.
    pub refreshes: broadcast::Receiver<RefreshKind>,
    /// The requests for single prices.
    pub requests: mpsc::Receiver<PriceRequest>,
}

/// Sends the data of the watched stocks and of the requests in `inputs`, until the receiver is dropped.
pub async fn run(
    config: LiveSourceConfig,
    inputs: LiveSourceInputs,
    market_state: Arc<dyn MarketState>,
    health: LiveSourceHealth,
    sender: mpsc::Sender<MarketUpdate>,
) {
    let LiveSourceInputs {
        watched,
        refreshes,
        requests,
    } = inputs;
    let context = LiveContext {
        config,
        watched,
        market_state,
        health,
        sender,
    };
    tokio::join!(
        prices::run(context.clone(), requests),
        fetch_queue::run(context, refreshes)
    );
}
