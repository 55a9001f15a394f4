//! What somebody means to do with a stock.

use std::fmt;

/// What the owner of a watchlist item means to do with the stock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Intention {
    /// To buy it.
    Buy,
    /// To sell it.
    Sell,
}

impl Intention {
    /// Both.
    pub const ALL: &'static [Self] = &[Self::Buy, Self::Sell];

    /// The name in requests and answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Buy => "buy",
            Self::Sell => "sell",
        }
    }

    /// The intention of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|intention| intention.name() == name)
    }
}

impl fmt::Display for Intention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
