//! Prices and share volumes.

use std::fmt;
use std::num::NonZeroI64;
use std::str::FromStr;

use crate::decimal::{Decimal, DecimalError, MICROS_PER_UNIT};
use crate::split::SplitRatio;

/// The maximum price in millionths of a dollar (a billion dollars). The sum of four hundred closes still fits in an
/// `i64`.
pub const MAX_PRICE_MICROS: i64 = 1_000_000_000 * MICROS_PER_UNIT;

/// The maximum session volume in shares. The sum of a hundred sessions still fits in an `i64`.
pub const MAX_VOLUME: i64 = 10_i64.pow(15);

/// A price in US dollars, exact to six decimals, above zero. An `Option` of it takes no more memory, because a price is never zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Price(NonZeroI64);

const _: () = assert!(size_of::<Option<Price>>() == 8);

/// The reason why a number is not a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PriceError {
    /// It is not a decimal number or out of range.
    #[error(transparent)]
    Decimal(#[from] DecimalError),
    /// It is zero or negative.
    #[error("is not above zero; a price must be at least 0.000001")]
    NotPositive,
    /// It is above [`MAX_PRICE_MICROS`].
    #[error("is above the maximum price of 1000000000")]
    TooHigh,
}

impl Price {
    /// Returns the price of `micros` millionths of a dollar.
    ///
    /// # Errors
    /// [`PriceError`] outside 1..=[`MAX_PRICE_MICROS`].
    pub const fn from_micros(micros: i64) -> Result<Self, PriceError> {
        if micros > MAX_PRICE_MICROS {
            return Err(PriceError::TooHigh);
        }
        match NonZeroI64::new(micros) {
            Some(micros) if micros.get() > 0 => Ok(Self(micros)),
            _ => Err(PriceError::NotPositive),
        }
    }

    /// The price in millionths of a dollar.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0.get()
    }

    /// The price as a plain decimal.
    #[must_use]
    pub const fn decimal(self) -> Decimal {
        Decimal::from_micros(self.micros())
    }

    /// The nearest float, for display and statistics; never for comparison with a user's price.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.decimal().as_f64()
    }

    /// Converts a price before a split to today's shares: price ÷ ratio, rounded half up to a millionth and clamped
    /// to the range of prices.
    #[must_use]
    pub fn after_split(self, ratio: SplitRatio) -> Self {
        let micros = ratio.divide(self.micros()).clamp(1, MAX_PRICE_MICROS);
        // The range excludes zero.
        NonZeroI64::new(micros).map_or(self, Self)
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
    fn minimum_price_is_a_millionth() {
        assert_eq!("0.000001".parse::<Price>().map(Price::micros), Ok(1));
        assert_eq!("0".parse::<Price>(), Err(PriceError::NotPositive));
        assert_eq!("0.0000001".parse::<Price>(), Err(PriceError::NotPositive));
        assert_eq!("-1".parse::<Price>(), Err(PriceError::NotPositive));
    }

    #[test]
    fn maximum_price_is_a_billion_dollars() {
        assert!("1000000000".parse::<Price>().is_ok());
        assert_eq!("1000000000.000001".parse::<Price>(), Err(PriceError::TooHigh));
    }

    #[test]
    fn rejects_nan_and_infinity() {
        for text in ["NaN", "inf", "-inf", ""] {
            assert_eq!(
                text.parse::<Price>(),
                Err(PriceError::Decimal(DecimalError::NotANumber))
            );
        }
    }

    #[test]
    fn four_for_one_split_quarters_a_price() {
        let before: Price = "499.23".parse().unwrap();
        assert_eq!(before.after_split("4".parse().unwrap()).to_string(), "124.8075");
    }
}
