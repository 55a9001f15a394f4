//! The availability of a price for the initial price of an alert.

use jiff::Timestamp;
use market::{CurrentPrice, Price};

use super::TransitionError;
use crate::condition::Condition;

/// The availability of a stock's price when an alert becomes active.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PriceAvailability {
    /// The stock's current price.
    Current(CurrentPrice),
    /// A source answers for the stock, but its newest price is outdated. The first current price becomes the initial price.
    Awaited,
    /// Only an outdated price is known, and no source answers.
    Outdated,
    /// No price is known.
    Unknown,
}

impl PriceAvailability {
    /// Returns the initial price of an alert with this condition; `None` if the first current price will become it.
    ///
    /// # Errors
    /// [`TransitionError::NoPrice`] for a percent change, if no source knows a current price.
    pub(super) fn for_condition(self, condition: &Condition) -> Result<Option<Price>, TransitionError> {
        match self {
            Self::Current(price) => Ok(Some(price.price())),
            Self::Awaited => Ok(None),
            Self::Outdated | Self::Unknown if condition.uses_initial_price() => Err(TransitionError::NoPrice),
            Self::Outdated | Self::Unknown => Ok(None),
        }
    }

    /// Returns the time of the initial price: the time of the current price, otherwise `now`. While the market is closed, the
    /// current price is the close of the latest session, so a split after that session must still adjust it.
    pub(super) fn set_at(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Current(price) => price.observed_at().min(now),
            Self::Awaited | Self::Outdated | Self::Unknown => now,
        }
    }
}
