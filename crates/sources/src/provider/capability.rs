//! What a provider can be asked for.

use std::fmt;

/// Something that a provider may offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Capability {
    /// Which stocks there are.
    Catalog,
    /// Prices, asked for again and again.
    Quotes,
    /// Prices that come by themselves.
    Stream,
    /// The minutes of a stretch that was missed.
    MinuteBars,
    /// Completed sessions.
    DailyBars,
    /// Earnings per share and other figures.
    Fundamentals,
    /// Earnings dates.
    Earnings,
    /// Dividends.
    Dividends,
    /// Splits.
    Splits,
    /// Insiders' trades.
    InsiderTrades,
    /// Counts of mentions.
    Mentions,
    /// The daily bars of what everything is compared with.
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

    /// Its name in settings and messages.
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

    /// The capability of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|capability| capability.name() == name)
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Some capabilities.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct CapabilitySet(u16);

impl CapabilitySet {
    /// Whether `capability` is among them.
    #[must_use]
    pub const fn has(self, capability: Capability) -> bool {
        self.0 & capability.bit() != 0
    }

    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::ALL
            .into_iter()
            .filter(move |&capability| self.has(capability))
    }
}

impl FromIterator<Capability> for CapabilitySet {
    fn from_iter<I: IntoIterator<Item = Capability>>(capabilities: I) -> Self {
        Self(
            capabilities
                .into_iter()
                .fold(0, |bits, capability| bits | capability.bit()),
        )
    }
}

impl fmt::Debug for CapabilitySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_capability_has_a_name_of_its_own() {
        for capability in Capability::ALL {
            assert_eq!(Capability::from_name(capability.name()), Some(capability));
        }
        assert_eq!(Capability::from_name("options"), None);
    }

    #[test]
    fn a_set_has_what_was_put_in() {
        let set: CapabilitySet = [Capability::Splits, Capability::Benchmark].into_iter().collect();
        assert_eq!(
            set.iter().collect::<Vec<_>>(),
            [Capability::Splits, Capability::Benchmark]
        );
        assert!(!set.has(Capability::Catalog));
    }
}
