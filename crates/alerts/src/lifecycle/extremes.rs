//! The highest and the lowest price since an alert was armed.

use market::Price;
use market::split::SplitRatio;

/// The highest and the lowest judged price since an alert was armed: `high_since_armed` and `low_since_armed`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ArmedExtremes {
    high: Price,
    low: Price,
}

impl ArmedExtremes {
    /// Returns the extremes of one price: the newest one at the moment of arming.
    #[must_use]
    pub const fn new(price: Price) -> Self {
        Self {
            high: price,
            low: price,
        }
    }

    /// Returns the extremes of two prices; `None` if the first is below the second.
    #[must_use]
    pub fn restored(high: Price, low: Price) -> Option<Self> {
        (high >= low).then_some(Self { high, low })
    }

    /// Returns the highest price.
    #[must_use]
    pub const fn high(self) -> Price {
        self.high
    }

    /// Returns the lowest price.
    #[must_use]
    pub const fn low(self) -> Price {
        self.low
    }

    /// Returns the extremes with one more price.
    #[must_use]
    pub fn with(self, price: Price) -> Self {
        Self {
            high: self.high.max(price),
            low: self.low.min(price),
        }
    }

    /// Returns the extremes in the shares after a split.
    #[must_use]
    pub fn after_split(self, ratio: SplitRatio) -> Self {
        Self {
            high: self.high.after_split(ratio),
            low: self.low.after_split(ratio),
        }
    }
}
