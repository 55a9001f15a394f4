//! # The live source: providers, asked and listened to for those who watch something
//!
//! A stock costs requests, so only those are asked about that somebody watches ([`Watched`], the most watched first). Two tasks
//! share the providers' budgets:
//!
//! * [`prices`] has the prices of the session. Where a provider streams, the most watched stocks are subscribed, as many as its
//!   plan has; the others are polled, as often as the plan allows, and all of them while the stream is down or silent. So are
//!   those that the provider refuses to stream. Each quote passes the [gate](crate::freshness) before it is delivered; a jump
//!   that it holds is confirmed by a second source, or by the bar of its minute.
//! * [`price_requests`] asks for single prices at once.
//! * [`errands`] has everything else: what is to be known of a stock that is watched for the first time, what was missed since
//!   the last bar, what comes each night, morning and hour ([`timetable`] says when what is asked), and what somebody wants to be
//!   asked for now ([`Matter`]).
//!
//! ## What was missed
//!
//! A stretch of which nothing was heard (the stream was lost, no poll succeeded, the program did not run) is fetched as minutes
//! ([`gaps`]) and delivered as observations with their own times ([`Delivery::missed`](crate::Delivery::missed)): whoever takes
//! them in judges them as of then. Meanwhile what comes in is held back for a short while, so that a crossing is told
//! with the time it was made at, and not with that of the first price that was heard again. A quote that is told late, or of a
//! session that has closed, goes the same way.
//!
//! ## What is not promised
//!
//! Between two polls a price may come and go unseen; only a stream, or the minutes of a gap, tell. Where nobody is set for
//! minutes, a missed stretch stays missed, and that is logged. Gaps are made up for [`gaps::LONGEST`] back at most.

mod errands;
mod gaps;
mod health;
mod in_their_shares;
mod price_requests;
mod prices;
mod round;
mod streaming;
mod timetable;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use market::records::Batch;
use market::{Calendar, Price, Symbol};
use tokio::sync::{broadcast, mpsc, watch};

use crate::combine::{Combination, Polling};
use crate::freshness::Limits;
use crate::provider::http::Setup;
use crate::provider::stream;
use crate::{Delivery, FeedKind, FeedSet, Missed};

pub use health::Health;
pub use price_requests::{PriceReply, PriceRequest};
pub use timetable::Matter;

/// The stocks that somebody watches, the most watched first.
pub type Watched = watch::Receiver<Arc<Vec<Symbol>>>;

/// Who is asked, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// Who is set for what.
    pub combination: Arc<Combination>,
    /// The time, and how providers are asked.
    pub setup: Setup,
    /// When the market is open.
    pub calendar: Calendar,
    /// How often prices are polled, and how much of a plan that may use.
    pub polling: Polling,
    /// Which quotes are let through.
    pub limits: Limits,
    /// How streams are held.
    pub stream: stream::Settings,
    /// When the day's bars and facts are asked for, in New York.
    pub nightly_at: Time,
    /// What everything is compared with.
    pub benchmark: Symbol,
    /// The stocks of alerts that are not judged at present: their splits are asked for, and nothing else. A threshold of a
    /// paused alert has to follow a split, or it is wrong when the alert is activated.
    pub splits_only: watch::Receiver<Arc<BTreeSet<Symbol>>>,
}

/// The last price that is known of a stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// The price, in today's shares.
    pub price: Price,
    /// When it was made.
    pub at: Timestamp,
}

/// What is known already by those who take deliveries in.
pub trait Memory: Send + Sync + fmt::Debug {
    /// The last price of a stock that was observed.
    fn last_seen(&self, symbol: Symbol) -> Option<Seen>;

    /// The last completed session of a stock that is known.
    fn last_bar(&self, symbol: Symbol) -> Option<Date>;

    /// Whether a stock is in the catalog.
    fn is_listed(&self, _symbol: Symbol) -> bool {
        true
    }

    /// The price that a stock's next one is compared with: of the last observation, or the close of a later bar.
    fn reference_price(&self, symbol: Symbol) -> Option<Price> {
        self.last_seen(symbol).map(|seen| seen.price)
    }

    /// The average volume of a stock over its last sessions, in shares a day, if enough of them are known.
    fn average_volume(&self, symbol: Symbol) -> Option<i64>;
}

/// The kinds of data that come from `combination`.
#[must_use]
pub fn feeds(combination: &Combination) -> FeedSet {
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
    combination.capabilities().iter().map(kind).collect()
}

/// What both tasks work with.
#[derive(Debug, Clone)]
struct Desk {
    options: Options,
    watched: Watched,
    memory: Arc<dyn Memory>,
    health: Health,
    sender: mpsc::Sender<Delivery>,
}

impl Desk {
    fn now(&self) -> Timestamp {
        self.options.setup.clock.now()
    }

    /// Delivers, unless nobody receives any more: that is noticed where it is waited for.
    async fn deliver(&self, delivery: Delivery) {
        if !delivery.is_empty() {
            // Whoever has gone needs nothing.
            drop(self.sender.send(delivery).await);
        }
    }
}

/// A delivery of new data.
const fn delivery(batch: Batch, at: Timestamp) -> Delivery {
    Delivery {
        at,
        backfill: false,
        batch,
        missed: Missed {
            quotes: Vec::new(),
            is_behind: false,
        },
    }
}

/// The inputs that tell a live source what to ask for.
#[derive(Debug)]
pub struct Demand {
    /// The stocks that are watched.
    pub watched: Watched,
    /// The kinds of data to fetch now, outside the timetable.
    pub wanted: broadcast::Receiver<Matter>,
    /// The requests for single prices.
    pub requests: mpsc::Receiver<PriceRequest>,
}

/// Sends the data of the watched stocks and of the requests in `demand`, until the receiver is gone.
pub async fn run(
    options: Options,
    demand: Demand,
    memory: Arc<dyn Memory>,
    health: Health,
    sender: mpsc::Sender<Delivery>,
) {
    let Demand {
        watched,
        wanted,
        requests,
    } = demand;
    let desk = Desk {
        options,
        watched,
        memory,
        health,
        sender,
    };
    tokio::join!(prices::run(desk.clone(), requests), errands::run(desk, wanted));
}
