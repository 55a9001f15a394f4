//! Prices and share volumes.

use std::fmt;
use std::str::FromStr;

use crate::decimal::{Decimal, DecimalError, MICROS_PER_UNIT};
use crate::split::SplitRatio;

/// The highest price that is taken, in millionths of a dollar (a billion dollars): four hundred closes still add up
/// in an `i64`.
pub const MAX_PRICE_MICROS: i64 = 1_000_000_000 * MICROS_PER_UNIT;

/// The largest session volume that is taken, in shares: a hundred sessions still add up in an `i64`.
pub const MAX_VOLUME: i64 = 10_i64.pow(15);

/// A price in US dollars, exact to six decimals, more than zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Price(i64);

/// Why a number is no price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PriceError {
    /// No decimal number, or one out of range.
    #[error(transparent)]
    Decimal(#[from] DecimalError),
    /// Zero or negative.
    #[error("is not above zero; a price must be at least 0.000001")]
    NotPositive,
    /// Above [`MAX_PRICE_MICROS`].
    #[error("is above the highest price taken, 1000000000")]
    TooHigh,
}

impl Price {
    /// The price that is `micros` millionths of a dollar.
    ///
    /// # Errors
    /// [`PriceError`] outside 1..=[`MAX_PRICE_MICROS`].
    pub const fn from_micros(micros: i64) -> Result<Self, PriceError> {
        if micros <= 0 {
            Err(PriceError::NotPositive)
        } else if micros > MAX_PRICE_MICROS {
            Err(PriceError::TooHigh)
        } else {
            Ok(Self(micros))
        }
    }

    /// The price in millionths of a dollar.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// The price as a plain decimal.
    #[must_use]
    pub const fn decimal(self) -> Decimal {
        Decimal::from_micros(self.0)
    }

    /// The nearest float, for showing and for statistics, never for comparing with a user's price.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.decimal().as_f64()
    }

    /// What one of today's shares would have cost at this price of before the split: price ÷ ratio, rounded half up
    /// to a millionth and kept within what a price can be.
    #[must_use]
    pub fn after_split(self, ratio: SplitRatio) -> Self {
        Self(ratio.divide(self.0).clamp(1, MAX_PRICE_MICROS))
    }
}

impl TryFrom<Decimal> for Price {
    type Error = PriceError;

    fn try_from(decimal: Decimal) -> Result<Self, PriceError> {
        Self::from_micros(decimal.micros())
    }
}

impl FromStr for Price {
    type Err = PriceError;

    fn from_str(text: &str) -> Result<Self, PriceError> {
        text.parse::<Decimal>()?.try_into()
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.decimal().fmt(f)
    }
}

impl fmt::Debug for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Price({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_price_is_a_millionth_and_zero_is_none() {
        assert_eq!("0.000001".parse::<Price>().map(Price::micros), Ok(1));
        assert_eq!("0".parse::<Price>(), Err(PriceError::NotPositive));
        assert_eq!("0.0000001".parse::<Price>(), Err(PriceError::NotPositive));
        assert_eq!("-1".parse::<Price>(), Err(PriceError::NotPositive));
    }

    #[test]
    fn a_billion_dollars_is_the_highest_price() {
        assert!("1000000000".parse::<Price>().is_ok());
        assert_eq!("1000000000.000001".parse::<Price>(), Err(PriceError::TooHigh));
    }

    #[test]
    fn nan_and_infinity_are_no_prices() {
        for text in ["NaN", "inf", "-inf", ""] {
            assert_eq!(
                text.parse::<Price>(),
                Err(PriceError::Decimal(DecimalError::NotANumber))
            );
        }
    }

    #[test]
    fn a_four_for_one_split_quarters_a_price() {
        let before: Price = "499.23".parse().unwrap();
        assert_eq!(before.after_split("4".parse().unwrap()).to_string(), "124.8075");
    }
}
