//! What a provider is asked.

use jiff::Timestamp;
use jiff::civil::Date;
use market::Symbol;

use super::Capability;

/// Days of New York, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Days {
    /// The first.
    pub from: Date,
    /// The last.
    pub to: Date,
}

impl Days {
    /// Whether `date` is one of them.
    #[must_use]
    pub fn has(&self, date: Date) -> bool {
        (self.from..=self.to).contains(&date)
    }
}

/// A stretch of time: from the first instant up to, but not including, the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// The first instant.
    pub from: Timestamp,
    /// The first instant behind it.
    pub to: Timestamp,
}

impl Times {
    /// Whether `time` lies within.
    #[must_use]
    pub fn has(&self, time: Timestamp) -> bool {
        (self.from..self.to).contains(&time)
    }
}

/// A question for a provider. Where symbols can be named, nobody else's records are answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// All stocks.
    Catalog,
    /// The newest prices.
    Quotes(Vec<Symbol>),
    /// The minutes of a stretch.
    MinuteBars(Vec<Symbol>, Times),
    /// Completed sessions.
    DailyBars(Vec<Symbol>, Days),
    /// Figures as of now.
    Fundamentals(Vec<Symbol>),
    /// Reports on these days, also ahead.
    Earnings(Vec<Symbol>, Days),
    /// Dividends with an ex-date on these days, also ahead.
    Dividends(Vec<Symbol>, Days),
    /// Splits on these days, also ahead.
    Splits(Vec<Symbol>, Days),
    /// Trades filed on these days.
    InsiderTrades(Vec<Symbol>, Days),
    /// Mentions until now.
    Mentions(Vec<Symbol>),
    /// Completed sessions of what everything is compared with.
    Benchmark(Symbol, Days),
}

impl Ask {
    /// What of a provider's it takes to answer.
    #[must_use]
    pub const fn capability(&self) -> Capability {
        match self {
            Self::Catalog => Capability::Catalog,
            Self::Quotes(_) => Capability::Quotes,
            Self::MinuteBars(..) => Capability::MinuteBars,
            Self::DailyBars(..) => Capability::DailyBars,
            Self::Fundamentals(_) => Capability::Fundamentals,
            Self::Earnings(..) => Capability::Earnings,
            Self::Dividends(..) => Capability::Dividends,
            Self::Splits(..) => Capability::Splits,
            Self::InsiderTrades(..) => Capability::InsiderTrades,
            Self::Mentions(_) => Capability::Mentions,
            Self::Benchmark(..) => Capability::Benchmark,
        }
    }

    /// The symbols it names.
    #[must_use]
    pub fn symbols(&self) -> &[Symbol] {
        match self {
            Self::Catalog => &[],
            Self::Quotes(symbols)
            | Self::MinuteBars(symbols, _)
            | Self::DailyBars(symbols, _)
            | Self::Fundamentals(symbols)
            | Self::Earnings(symbols, _)
            | Self::Dividends(symbols, _)
            | Self::Splits(symbols, _)
            | Self::InsiderTrades(symbols, _)
            | Self::Mentions(symbols) => symbols,
            Self::Benchmark(symbol, _) => std::slice::from_ref(symbol),
        }
    }

    /// The same question about other symbols; a question that names none stays as it is.
    #[must_use]
    pub fn about(&self, symbols: &[Symbol]) -> Self {
        let symbols = symbols.to_vec();
        match self {
            Self::Catalog => Self::Catalog,
            Self::Quotes(_) => Self::Quotes(symbols),
            Self::MinuteBars(_, times) => Self::MinuteBars(symbols, *times),
            Self::DailyBars(_, days) => Self::DailyBars(symbols, *days),
            Self::Fundamentals(_) => Self::Fundamentals(symbols),
            Self::Earnings(_, days) => Self::Earnings(symbols, *days),
            Self::Dividends(_, days) => Self::Dividends(symbols, *days),
            Self::Splits(_, days) => Self::Splits(symbols, *days),
            Self::InsiderTrades(_, days) => Self::InsiderTrades(symbols, *days),
            Self::Mentions(_) => Self::Mentions(symbols),
            Self::Benchmark(symbol, days) => Self::Benchmark(symbols.first().copied().unwrap_or(*symbol), *days),
        }
    }
}
