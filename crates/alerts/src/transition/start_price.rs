//! The price that an alert starts from.

use jiff::Timestamp;
use market::{CurrentPrice, Price};

use super::Refused;
use crate::condition::Condition;

/// The price that an alert starts from when it becomes active.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StartPrice {
    /// The stock's current price.
    Current(CurrentPrice),
    /// A source answers for the stock, but its newest price is an old one. The first current price becomes the initial price.
    Awaited,
    /// Only an old price is known, and no source answers.
    Outdated,
    /// No price is known.
    Unknown,
}

impl StartPrice {
    /// The initial price of an alert with that condition; `None` if the first current price has to be waited for.
    ///
    /// # Errors
    /// [`Refused::NoPrice`] for a percentage of a price that no source knows.
    pub(super) const fn for_condition(self, condition: &Condition) -> Result<Option<Price>, Refused> {
        match self {
            Self::Current(price) => Ok(Some(price.price())),
            Self::Awaited => Ok(None),
            Self::Outdated | Self::Unknown => match condition {
                Condition::PriceChange { .. } => Err(Refused::NoPrice),
                _ => Ok(None),
            },
        }
    }

    /// The time of the initial price: when the current price was made, else `now`. While the market is closed, the current price is
    /// the close of the latest session, so a split between the two still has to move it.
    pub(super) fn set_at(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Current(price) => price.observed_at().min(now),
            Self::Awaited | Self::Outdated | Self::Unknown => now,
        }
    }
}
