//! Which way a trade bets.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which way a trade bets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// It gains when the price rises: the trade of an item with the intention to buy.
    Long,
    /// It gains when the price falls: the trade of an item with the intention to sell.
    Short,
}

/// A text that names no direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is no direction; it is long or short")]
pub struct UnknownDirection;

impl Direction {
    /// The other way.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Long => Self::Short,
            Self::Short => Self::Long,
        }
    }

    /// `long` or `short`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Long => "long",
            Self::Short => "short",
        }
    }

    /// What an amount that the shares earn is to the trade, in millionths.
    pub(crate) const fn sign(self) -> i64 {
        match self {
            Self::Long => 1,
            Self::Short => -1,
        }
    }

    /// The sign as a float.
    pub(crate) const fn sign_f64(self) -> f64 {
        match self {
            Self::Long => 1.0,
            Self::Short => -1.0,
        }
    }
}

impl FromStr for Direction {
    type Err = UnknownDirection;

    fn from_str(text: &str) -> Result<Self, UnknownDirection> {
        match text {
            "long" => Ok(Self::Long),
            "short" => Ok(Self::Short),
            _ => Err(UnknownDirection),
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
