//! Price changes in dollars and percent.

use crate::{Decimal, Price};

/// The change between two prices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PriceChange {
    /// In US dollars; negative when it fell.
    pub absolute: Decimal,
    /// In percent of the first price, rounded towards zero to a millionth.
    pub percent: Decimal,
}

impl PriceChange {
    /// Returns the change from `from` to `to`.
    #[must_use]
    pub fn between(from: Price, to: Price) -> Self {
        let moved = to.micros() - from.micros();
        let percent = i128::from(moved) * 100_000_000 / i128::from(from.micros());
        Self {
            absolute: Decimal::from_micros(moved),
            percent: Decimal::from_micros(i64::try_from(percent).unwrap_or(i64::MAX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_is_relative_to_the_first_price() {
        let price = |micros| Price::from_micros(micros).unwrap();
        let change = PriceChange::between(price(200_000_000), price(199_000_000));
        assert_eq!(
            (change.absolute.micros(), change.percent.micros()),
            (-1_000_000, -500_000)
        );
    }
}
