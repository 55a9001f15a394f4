//! Capabilities: the kinds of data that a provider can offer.

use std::fmt;

/// A kind of market data that a provider may offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Capability {
    /// The list of all stocks.
    Catalog,
    /// Current prices, polled.
    Quotes,
    /// Current prices, pushed over a WebSocket.
    Stream,
    /// Minute bars of a time range, for example of a gap in the stream.
    MinuteBars,
    /// Daily bars of completed sessions.
    DailyBars,
    /// Earnings per share and other fundamentals.
    Fundamentals,
    /// Earnings dates.
    Earnings,
    /// Dividends.
    Dividends,
    /// Splits.
    Splits,
    /// Trades by insiders (SEC Form 4).
    InsiderTrades,
    /// Social-media mention counts.
    Mentions,
    /// Daily bars of the benchmark index.
    Benchmark,
}

impl Capability {
    /// Every capability.
    pub const ALL: [Self; 12] = [
        Self::Catalog,
        Self::Quotes,
        Self::Stream,
        Self::MinuteBars,
        Self::DailyBars,
        Self::Fundamentals,
        Self::Earnings,
        Self::Dividends,
        Self::Splits,
        Self::InsiderTrades,
        Self::Mentions,
        Self::Benchmark,
    ];

    /// Returns the name used in settings and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::Quotes => "quotes",
            Self::Stream => "stream",
            Self::MinuteBars => "minute_bars",
            Self::DailyBars => "daily_bars",
            Self::Fundamentals => "fundamentals",
            Self::Earnings => "earnings",
            Self::Dividends => "dividends",
            Self::Splits => "splits",
            Self::InsiderTrades => "insider_trades",
            Self::Mentions => "mentions",
            Self::Benchmark => "benchmark",
        }
    }

    /// Returns the capability with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|capability| capability.name() == name)
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for capability in Capability::ALL {
            assert_eq!(Capability::from_name(capability.name()), Some(capability));
        }
        assert_eq!(Capability::from_name("options"), None);
    }
}
