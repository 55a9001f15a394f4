//! The events that the engine processes.

use jiff::Timestamp;
use jiff::civil::Date;
use market::{Bar, Decimal, Price, SplitRatio, Symbol};

use crate::EvaluatedAlert;
use crate::alert::{Alert, AlertId};
use crate::metrics::FundamentalFigures;

/// The index of a stock in the engine. A quote carries it instead of the symbol to avoid a lookup. See
/// [`Engine::stock`](super::Engine::stock).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StockIndex(pub(crate) u32);

/// An observation of a stock: its price and the session's volume so far.
///
/// It takes 20 bytes instead of the 24 of an aligned one: a quiet observation waits for memory most of the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(Rust, packed(4))]
pub struct Quote {
    pub(crate) price: Price,
    /// −1 without a volume. It is lower than any level, so the inner loop needs no branch.
    pub(crate) volume: i64,
    pub(crate) stock: StockIndex,
}

const _: () = assert!(size_of::<Quote>() == 20);

impl Quote {
    /// Creates a quote without a volume.
    #[must_use]
    pub const fn new(stock: StockIndex, price: Price) -> Self {
        Self {
            price,
            volume: -1,
            stock,
        }
    }

    /// Returns the stock.
    #[must_use]
    pub const fn stock(&self) -> StockIndex {
        self.stock
    }

    /// Returns the price.
    #[must_use]
    pub const fn price(&self) -> Price {
        self.price
    }

    /// Sets the session's total volume so far, in shares (not an increment). A negative volume counts as none.
    #[must_use]
    pub fn with_volume(self, volume: i64) -> Self {
        Self {
            volume: volume.clamp(-1, market::price::MAX_VOLUME),
            ..self
        }
    }
}

/// The figures of a quote besides price and volume, as a source reports them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuoteDetails {
    /// The stock.
    pub stock: StockIndex,
    /// The highest price that a buyer offers.
    pub bid: Option<Price>,
    /// The lowest price that a seller asks.
    pub ask: Option<Price>,
    /// The volume-weighted average price of the session so far.
    pub vwap: Option<Price>,
}

/// An observation of a stock in extended hours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExtendedQuote {
    /// The stock.
    pub stock: StockIndex,
    /// The price.
    pub price: Price,
    /// The highest price that a buyer offers.
    pub bid: Option<Price>,
    /// The lowest price that a seller asks.
    pub ask: Option<Price>,
}

/// The newest price of a stock in extended hours. It must be stored so that the engine can resume after a restart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExtendedPrice {
    /// The date of the session to which it belongs: the one that opens next.
    pub session: Date,
    /// The price.
    pub price: Price,
    /// The time of its observation.
    pub at: Timestamp,
    /// The newest bid since the close before the session.
    pub bid: Option<Price>,
    /// The newest ask since the close before the session.
    pub ask: Option<Price>,
}

/// The observed part of a session. It must be stored so that the engine can resume after a restart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ObservedSession {
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
    /// Its volume so far, if a quote contained one.
    pub volume: Option<i64>,
    /// The time of the last observation.
    pub last_at: Timestamp,
    /// The newest bid of the session.
    pub bid: Option<Price>,
    /// The newest ask of the session.
    pub ask: Option<Price>,
    /// The newest volume-weighted average price of the session.
    pub vwap: Option<Price>,
}

/// A reported insider trade.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InsiderTrade {
    /// The filing date.
    pub filed_on: Date,
    /// The name of the insider.
    pub insider: String,
    /// Whether it is a purchase; otherwise it is a sale.
    pub bought: bool,
    /// Whether it was a purchase or sale on the open market (Form 4 codes P and S).
    pub open_market: bool,
    /// Shares × price in US dollars.
    pub value_usd: Decimal,
}

/// The dates of one dividend.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Dividend {
    /// The ex-dividend date: the first day on which a buyer does not receive the dividend.
    pub ex_date: Date,
    /// The payment date.
    pub payment_date: Option<Date>,
    /// The amount in US dollars per share.
    pub amount: Option<Decimal>,
}

/// A kind of market data that conditions require.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Feed {
    /// Prices and volumes.
    Quotes,
    /// Earnings per share, market capitalization and dividend yield.
    Fundamentals,
    /// Earnings dates.
    Earnings,
    /// Dividends.
    Dividends,
    /// Insider trades.
    Insiders,
    /// Numbers of mentions.
    Mentions,
}

/// An event. It is processed as of an instant `now`.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Observations at `now`, at most one per stock.
    Snapshot(&'a [Quote]),
    /// Details of quotes at `now`. They are judged with the observations that follow at the same instant, and count until the
    /// next ones of their stock or the end of the session. An engine in which no alert uses them
    /// ([`Engine::uses_quote_details`](super::Engine::uses_quote_details)) does not need them.
    QuoteDetails(&'a [QuoteDetails]),
    /// Observations at `now`, which is in extended hours, at most one per stock. Only alerts with the option `session: extended` are
    /// judged by them, so an engine needs those of some stocks only
    /// ([`Engine::follows_extended_hours`](super::Engine::follows_extended_hours)).
    ExtendedSnapshot(&'a [ExtendedQuote]),
    /// A completed session. A later bar of the same day replaces it.
    Bar {
        /// The stock.
        symbol: Symbol,
        /// The session.
        bar: Bar,
    },
    /// The observed part of a session before a restart. It is not evaluated again.
    Resume {
        /// The stock.
        symbol: Symbol,
        /// The session.
        session: ObservedSession,
    },
    /// The newest price in extended hours before a restart, after the session that was observed before it. It is not evaluated again.
    ResumeExtended {
        /// The stock.
        symbol: Symbol,
        /// The price.
        newest: ExtendedPrice,
    },
    /// The current fundamentals. They replace the previous ones.
    Fundamentals {
        /// The stock.
        symbol: Symbol,
        /// The figures per today's share.
        figures: FundamentalFigures,
    },
    /// All known earnings dates of the stock. They replace the previous ones.
    Earnings {
        /// The stock.
        symbol: Symbol,
        /// The dates, in any order.
        dates: &'a [Date],
    },
    /// All known dividends of the stock. They replace the previous ones.
    Dividends {
        /// The stock.
        symbol: Symbol,
        /// The dividends, in any order.
        dividends: &'a [Dividend],
    },
    /// A split. Prices are per new share from now on.
    Split {
        /// The stock.
        symbol: Symbol,
        /// New shares per old share.
        ratio: SplitRatio,
    },
    /// The splits of a stock that its bars and facts contain already, with their first days in new shares. They replace the previous
    /// ones and adjust nothing; an expression that was set before one of them is judged in the shares of its day.
    KnownSplits {
        /// The stock.
        symbol: Symbol,
        /// The splits, in any order.
        splits: &'a [(Date, SplitRatio)],
    },
    /// New insider trades.
    InsiderTrades {
        /// The stock.
        symbol: Symbol,
        /// The trades.
        trades: &'a [InsiderTrade],
    },
    /// All known insider trades of the stock. They replace the previous ones, because some were withdrawn.
    InsiderTradesReplaced {
        /// The stock.
        symbol: Symbol,
        /// The trades.
        trades: &'a [InsiderTrade],
    },
    /// The number of mentions of a stock in the hour that ended at `hour`. A later count of the same hour replaces it.
    Mentions {
        /// The stock.
        symbol: Symbol,
        /// The hour.
        hour: Timestamp,
        /// The number of mentions.
        count: u32,
    },
    /// A feed was lost or restored. A delivery of data restores it too.
    Feed {
        /// The feed.
        feed: Feed,
        /// Whether it was lost.
        lost: bool,
    },
    /// The clock reached `now`. Alerts whose moment has come are due.
    Clock,
    /// The minute's evaluation. Everything that was armed or became known since a stock's last observation is evaluated against
    /// that observation, unless its quotes are stale ([`EngineConfig::stale_after`](super::EngineConfig::stale_after)).
    Evaluate,
    /// An alert became active, or changed while active. This revision is evaluated from now on.
    Armed(&'a Alert),
    /// An active alert was read at the start. This revision is evaluated from now on.
    Loaded(&'a EvaluatedAlert),
    /// An active alert that another process has evaluated was read while this engine runs. This revision is evaluated from now on.
    TakenOver {
        /// The alert.
        alert: &'a EvaluatedAlert,
        /// The instant up to which the other process has processed the clock for it, if that is known.
        evaluated_until: Option<Timestamp>,
    },
    /// An alert was paused or deleted, or its firing was committed elsewhere.
    Disarmed(AlertId),
}
