//! Stock splits.

use std::fmt;
use std::str::FromStr;

use crate::decimal::{Decimal, DecimalError, MICROS_PER_UNIT, div_round};

/// The number of new shares per old share: 4 for a four-for-one split, 0.125 for a one-for-eight reverse split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SplitRatio(i64);

/// The reason why a number is not a split ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SplitRatioError {
    /// It is not a decimal number.
    #[error(transparent)]
    Decimal(#[from] DecimalError),
    /// It is outside 0.0001..=10000.
    #[error("is out of range; a split ratio is new shares per old share, 0.0001 to 10000")]
    OutOfRange,
}

impl SplitRatio {
    /// The ratio in millionths.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Converts an amount per share from before the split to today's shares, rounded half away from zero.
    #[must_use]
    pub fn divide(self, per_share_micros: i64) -> i64 {
        div_round(
            i128::from(per_share_micros) * i128::from(MICROS_PER_UNIT),
            i128::from(self.0),
        )
    }

    /// Converts a number of shares from before the split to today's shares, rounded half away from zero.
    #[must_use]
    pub fn multiply(self, shares: i64) -> i64 {
        div_round(i128::from(shares) * i128::from(self.0), i128::from(MICROS_PER_UNIT))
    }

    /// The ratio as a float, for averages that are floats.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        Decimal::from_micros(self.0).as_f64()
    }
}

impl TryFrom<Decimal> for SplitRatio {
    type Error = SplitRatioError;

    fn try_from(ratio: Decimal) -> Result<Self, SplitRatioError> {
        if (100..=10_000 * MICROS_PER_UNIT).contains(&ratio.micros()) {
            Ok(Self(ratio.micros()))
        } else {
            Err(SplitRatioError::OutOfRange)
        }
    }
}

impl FromStr for SplitRatio {
    type Err = SplitRatioError;

    fn from_str(text: &str) -> Result<Self, SplitRatioError> {
        text.parse::<Decimal>()?.try_into()
    }
}

impl fmt::Display for SplitRatio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Decimal::from_micros(self.0).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_divides_prices_and_multiplies_shares() {
        let ratio: SplitRatio = "0.125".parse().unwrap();
        assert_eq!(ratio.divide(13_000_000), 104_000_000);
        assert_eq!(ratio.multiply(800), 100);
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        let two: SplitRatio = "2".parse().unwrap();
        assert_eq!((two.divide(3), two.divide(-3)), (2, -2));
    }

    #[test]
    fn rejects_zero_negative_and_absurd_ratios() {
        for text in ["0", "-4", "0.00009", "10000.1"] {
            assert_eq!(text.parse::<SplitRatio>(), Err(SplitRatioError::OutOfRange), "{text}");
        }
    }
}
