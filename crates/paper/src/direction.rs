//! The direction of a trade: long or short.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The direction of a trade.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Gains if the price rises: the trade of an item with the intention to buy.
    Long,
    /// Gains if the price falls: the trade of an item with the intention to sell.
    Short,
}

/// A text that is not a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not a direction; use long or short")]
pub struct UnknownDirectionError;

impl Direction {
    /// `long` or `short`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Long => "long",
            Self::Short => "short",
        }
    }

    /// The factor from the shares' earnings to the trade's earnings.
    pub(crate) const fn sign(self) -> i64 {
        match self {
            Self::Long => 1,
            Self::Short => -1,
        }
    }

    /// The factor as a float.
    pub(crate) const fn sign_f64(self) -> f64 {
        match self {
            Self::Long => 1.0,
            Self::Short => -1.0,
        }
    }
}

impl FromStr for Direction {
    type Err = UnknownDirectionError;

    fn from_str(text: &str) -> Result<Self, UnknownDirectionError> {
        match text {
            "long" => Ok(Self::Long),
            "short" => Ok(Self::Short),
            _ => Err(UnknownDirectionError),
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
