//! How far a price has moved.

use crate::{Decimal, Price};

/// How far a price has moved from another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// In US dollars; negative when it fell.
    pub absolute: Decimal,
    /// In percent of where it came from, rounded towards zero to a millionth.
    pub percent: Decimal,
}

impl Change {
    /// The way from `from` to `to`.
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
    fn a_change_is_counted_from_where_the_price_came_from() {
        let price = |micros| Price::from_micros(micros).unwrap();
        let change = Change::between(price(200_000_000), price(199_000_000));
        assert_eq!(
            (change.absolute.micros(), change.percent.micros()),
            (-1_000_000, -500_000)
        );
    }
}
