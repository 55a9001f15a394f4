//! The planned trade of a watchlist item.

use std::fmt;

/// The trade that the owner of a watchlist item plans.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Intention {
    /// A purchase.
    Buy,
    /// A sale.
    Sell,
}

impl Intention {
    /// Both intentions.
    pub const ALL: &'static [Self] = &[Self::Buy, Self::Sell];

    /// Returns the name in requests and responses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Buy => "buy",
            Self::Sell => "sell",
        }
    }

    /// Returns the intention with this name.
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
