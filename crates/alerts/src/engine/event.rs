//! What the engine is told.

use jiff::Timestamp;
use jiff::civil::Date;
use market::{Bar, Decimal, Price, SplitRatio, Symbol};

use crate::alert::{Alert, AlertId};

/// A stock's place in the engine, so that a quote needs no look-up by name. See
/// [`Engine::stock`](super::Engine::stock).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StockIx(pub(crate) u32);

/// One observation of one stock: its price and the session's volume so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quote {
    pub(crate) price: Price,
    /// −1 where the source gave none: smaller than any level, so the inner loop needs no branch for it.
    pub(crate) volume: i64,
    pub(crate) stock: StockIx,
}

impl Quote {
    /// A price without a volume.
    #[must_use]
    pub const fn new(stock: StockIx, price: Price) -> Self {
        Self {
            price,
            volume: -1,
            stock,
        }
    }

    /// The stock.
    #[must_use]
    pub const fn stock(&self) -> StockIx {
        self.stock
    }

    /// The price.
    #[must_use]
    pub const fn price(&self) -> Price {
        self.price
    }

    /// With the session's total volume so far, in shares (no increment); a negative one counts as none.
    #[must_use]
    pub fn with_volume(self, volume: i64) -> Self {
        Self {
            volume: volume.clamp(-1, market::price::MAX_VOLUME),
            ..self
        }
    }
}

/// What is known of a session that is going on: to be kept by whoever wants to resume after a restart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionSoFar {
    /// The session's date.
    pub date: Date,
    /// Its first observed price.
    pub open: Price,
    /// Its highest observed price.
    pub high: Price,
    /// Its lowest observed price.
    pub low: Price,
    /// Its last observed price.
    pub last: Price,
    /// Its volume so far, if any quote had one.
    pub volume: Option<i64>,
    /// When the last price was observed.
    pub last_at: Timestamp,
}

/// A trade an insider reported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InsiderTrade {
    /// When it was filed.
    pub filed_on: Date,
    /// Who traded.
    pub insider: String,
    /// Bought or sold.
    pub bought: bool,
    /// Whether it was a purchase or sale on the open market (Form 4 codes P and S).
    pub open_market: bool,
    /// Shares × price in US dollars.
    pub value_usd: Decimal,
}

/// The dates of one dividend.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Dividend {
    /// The first day on which a buyer does not get it any more.
    pub ex_date: Date,
    /// When it is paid.
    pub payment_date: Option<Date>,
    /// US dollars a share.
    pub amount: Option<Decimal>,
}

/// A kind of data that some conditions cannot do without.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Feed {
    /// Prices and volumes.
    Quotes,
    /// Earnings per share.
    Fundamentals,
    /// Earnings dates.
    Earnings,
    /// Dividends.
    Dividends,
    /// Insiders' trades.
    Insiders,
    /// Counts of mentions.
    Mentions,
}

/// Something that happened, to be judged as of the `now` it is processed with.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Observations, all of the instant `now`, at most one a stock.
    Snapshot(&'a [Quote]),
    /// A completed session. A later bar of the same day takes its place.
    Bar {
        /// The stock.
        symbol: Symbol,
        /// The session.
        bar: Bar,
    },
    /// What was observed of a session before a restart; not judged again.
    Resume {
        /// The stock.
        symbol: Symbol,
        /// The session.
        session: SessionSoFar,
    },
    /// The earnings per share that are known from now on.
    Fundamentals {
        /// The stock.
        symbol: Symbol,
        /// Of the last twelve months, in US dollars.
        eps_ttm: Option<Decimal>,
        /// Expected for the next twelve months, in US dollars.
        eps_forward: Option<Decimal>,
    },
    /// All earnings dates of the stock that are known from now on, in place of those known before.
    Earnings {
        /// The stock.
        symbol: Symbol,
        /// The dates, in any order.
        dates: &'a [Date],
    },
    /// All dividends of the stock that are known from now on, in place of those known before.
    Dividends {
        /// The stock.
        symbol: Symbol,
        /// The dividends, in any order.
        dividends: &'a [Dividend],
    },
    /// From now on prices are per new share.
    Split {
        /// The stock.
        symbol: Symbol,
        /// New shares per old share.
        ratio: SplitRatio,
    },
    /// Trades that insiders have reported.
    InsiderTrades {
        /// The stock.
        symbol: Symbol,
        /// The trades.
        trades: &'a [InsiderTrade],
    },
    /// All trades that insiders have reported of the stock, as they are known from now on, in place of those known before:
    /// some do not stand any more.
    InsiderTradesAnew {
        /// The stock.
        symbol: Symbol,
        /// The trades.
        trades: &'a [InsiderTrade],
    },
    /// How often a stock was mentioned in the hour that ended at `hour`. A later count of the same hour takes its
    /// place.
    Mentions {
        /// The stock.
        symbol: Symbol,
        /// The hour.
        hour: Timestamp,
        /// How often.
        count: u32,
    },
    /// A kind of data stopped coming (`lost`) or comes again. A delivery of the data also makes it come again.
    Feed {
        /// Which kind.
        feed: Feed,
        /// Whether it stopped.
        lost: bool,
    },
    /// `now` has come: what waits for an instant is due.
    Clock,
    /// The minute's evaluation: what was armed or became known since a stock's last observation is judged by that
    /// observation, unless its quotes are stale ([`Settings::stale_after`](super::Settings::stale_after)).
    Evaluate,
    /// An alert became active, or changed while it was: judged from now on, by this revision.
    Armed(&'a Alert),
    /// An alert was paused, deleted, or fired elsewhere.
    Disarmed(AlertId),
}
