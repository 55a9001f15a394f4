//! Requests to a provider.

use jiff::Timestamp;
use jiff::civil::Date;
use market::Symbol;

use super::Capability;

/// A range of New York dates, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateRange {
    /// The first date.
    pub from: Date,
    /// The last date.
    pub to: Date,
}

impl DateRange {
    /// Returns whether `date` is in the range.
    #[must_use]
    pub fn contains(&self, date: Date) -> bool {
        (self.from..=self.to).contains(&date)
    }
}

/// A time range: `from` is included, `to` is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRange {
    /// The first instant.
    pub from: Timestamp,
    /// The first instant after the range.
    pub to: Timestamp,
}

impl TimeRange {
    /// Returns whether `time` is in the range.
    #[must_use]
    pub fn contains(&self, time: Timestamp) -> bool {
        (self.from..self.to).contains(&time)
    }
}

/// The range of the bars of a request.
#[derive(Debug, Clone, Copy)]
pub(super) enum BarRange {
    Daily(DateRange),
    Minute(TimeRange),
}

/// A request to a provider. If it names symbols, the response contains records of these symbols only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataRequest {
    /// The list of all stocks.
    Catalog,
    /// The newest prices.
    Quotes(Vec<Symbol>),
    /// Minute bars of a time range.
    MinuteBars(Vec<Symbol>, TimeRange),
    /// Daily bars of completed sessions.
    DailyBars(Vec<Symbol>, DateRange),
    /// Current fundamentals.
    Fundamentals(Vec<Symbol>),
    /// Earnings dates in the range, which may be in the future.
    Earnings(Vec<Symbol>, DateRange),
    /// Dividends with an ex-date in the range, which may be in the future.
    Dividends(Vec<Symbol>, DateRange),
    /// Splits in the range, which may be in the future.
    Splits(Vec<Symbol>, DateRange),
    /// Insider trades filed in the range.
    InsiderTrades(Vec<Symbol>, DateRange),
    /// Mention counts up to now.
    Mentions(Vec<Symbol>),
    /// Daily bars of the benchmark index.
    Benchmark(Symbol, DateRange),
}

impl DataRequest {
    /// Returns the capability that the request needs.
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

    /// Returns the symbols that the request names.
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

    /// Returns the same request for other symbols. A request without symbols is unchanged.
    #[must_use]
    pub fn with_symbols(&self, symbols: &[Symbol]) -> Self {
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
