//! Daily bars.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::price::{MAX_VOLUME, Price};
use crate::split::SplitRatio;

/// One session of one stock: open, high, low and close price, and the shares traded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "UncheckedBar")]
pub struct Bar {
    /// The session's date in New York.
    pub date: Date,
    /// The first price.
    pub open: Price,
    /// The highest price.
    pub high: Price,
    /// The lowest price.
    pub low: Price,
    /// The last price.
    pub close: Price,
    /// The shares traded, 0..=[`MAX_VOLUME`].
    pub volume: i64,
}

/// The reason why four prices and a volume do not form a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BarError {
    /// The high is below the low.
    #[error("high {high} is below low {low}; are the columns in order?")]
    HighBelowLow {
        /// The bar's high.
        high: Price,
        /// The bar's low.
        low: Price,
    },
    /// The open or close is outside low..=high.
    #[error("{which} {price} lies outside low {low} to high {high}; correct the row at its source")]
    OutsideRange {
        /// `open` or `close`.
        which: &'static str,
        /// The price that lies outside.
        price: Price,
        /// The bar's low.
        low: Price,
        /// The bar's high.
        high: Price,
    },
    /// The volume is outside 0..=[`MAX_VOLUME`].
    #[error("volume {0} is out of range; it is the session's shares, 0 to {MAX_VOLUME}")]
    Volume(i64),
}

/// The members of a [`Bar`] as they are read.
#[derive(Deserialize)]
struct UncheckedBar {
    date: Date,
    open: Price,
    high: Price,
    low: Price,
    close: Price,
    volume: i64,
}

impl TryFrom<UncheckedBar> for Bar {
    type Error = BarError;

    fn try_from(read: UncheckedBar) -> Result<Self, BarError> {
        Self {
            date: read.date,
            open: read.open,
            high: read.high,
            low: read.low,
            close: read.close,
            volume: read.volume,
        }
        .checked()
    }
}

impl Bar {
    /// Returns the bar if it is consistent.
    ///
    /// # Errors
    /// [`BarError`] names the contradiction.
    pub fn checked(self) -> Result<Self, BarError> {
        let Self {
            open,
            high,
            low,
            close,
            volume,
            ..
        } = self;
        if high < low {
            return Err(BarError::HighBelowLow { high, low });
        }
        for (which, price) in [("open", open), ("close", close)] {
            if price < low || price > high {
                return Err(BarError::OutsideRange {
                    which,
                    price,
                    low,
                    high,
                });
            }
        }
        if !(0..=MAX_VOLUME).contains(&volume) {
            return Err(BarError::Volume(volume));
        }
        Ok(self)
    }

    /// Converts the bar to shares after a split.
    #[must_use]
    pub fn after_split(self, ratio: SplitRatio) -> Self {
        Self {
            date: self.date,
            open: self.open.after_split(ratio),
            high: self.high.after_split(ratio),
            low: self.low.after_split(ratio),
            close: self.close.after_split(ratio),
            volume: ratio.multiply(self.volume).min(MAX_VOLUME),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn bar(open: &str, high: &str, low: &str, close: &str, volume: i64) -> Result<Bar, BarError> {
        let price = |text: &str| text.parse().unwrap();
        Bar {
            date: date(2024, 3, 8),
            open: price(open),
            high: price(high),
            low: price(low),
            close: price(close),
            volume,
        }
        .checked()
    }

    #[test]
    fn accepts_a_bar_of_one_price_without_volume() {
        assert!(bar("5", "5", "5", "5", 0).is_ok());
    }

    #[test]
    fn rejects_a_high_below_the_low() {
        assert!(matches!(bar("5", "4", "6", "5", 0), Err(BarError::HighBelowLow { .. })));
    }

    #[test]
    fn rejects_an_open_or_close_outside_the_range() {
        assert!(matches!(
            bar("3.99", "6", "4", "5", 0),
            Err(BarError::OutsideRange { which: "open", .. })
        ));
        assert!(matches!(
            bar("5", "6", "4", "6.01", 0),
            Err(BarError::OutsideRange { which: "close", .. })
        ));
        assert!(bar("4", "6", "4", "6", 0).is_ok());
    }

    #[test]
    fn rejects_a_negative_volume() {
        assert_eq!(bar("5", "5", "5", "5", -1), Err(BarError::Volume(-1)));
    }
}
