//! Prices as the exchange quotes them.
//!
//! Source of the tick sizes: Regulation NMS, Rule 612 (17 CFR 242.612, "Minimum pricing increment"): one cent from
//! one dollar on, a hundredth of a cent below. Under one cent that would be too coarse to tell levels apart, so the
//! tick is the smallest step of a [`Price`].

use alerts::condition::Side;
use market::price::MAX_PRICE_MICROS;
use market::{Decimal, MICROS_PER_UNIT, Price};

/// The tick size at `price_micros`, in millionths of a dollar.
#[must_use]
pub const fn tick_micros(price_micros: i64) -> i64 {
    if price_micros >= MICROS_PER_UNIT {
        10_000
    } else if price_micros >= 10_000 {
        100
    } else {
        1
    }
}

/// The number of decimals of a quoted price near `price`.
#[must_use]
pub const fn decimals(price: Price) -> usize {
    match tick_micros(price.micros()) {
        10_000 => 2,
        100 => 4,
        _ => 6,
    }
}

/// Returns the quoted price nearest to `dollars`, or `None` if there is none.
#[must_use]
pub fn nearest(dollars: f64) -> Option<Price> {
    let micros = Decimal::from_f64(dollars).ok()?.micros();
    let tick = tick_micros(micros);
    Price::from_micros((micros + tick / 2) / tick * tick).ok()
}

/// Returns the quoted price nearest to `dollars` that is strictly on `side` of `price`. If rounding ends at `price`
/// or across it, returns the first quoted price beyond. `None` if there is no such price.
#[must_use]
pub fn beyond(price: Price, side: Side, dollars: f64) -> Option<Price> {
    let is_beyond = |level: &Price| side.pick(*level > price, *level < price);
    nearest(dollars).filter(is_beyond).or_else(|| next(price, side, 1))
}

/// Returns the quoted price that is `steps` (1 or more) ticks from `price` on `side`, counted from the first one
/// beyond it.
#[must_use]
pub fn next(price: Price, side: Side, steps: i64) -> Option<Price> {
    let micros = price.micros();
    let level = match side {
        Side::Above => {
            let tick = tick_micros(micros);
            (micros / tick).checked_add(steps)?.checked_mul(tick)?
        }
        Side::Below => {
            // Just under a dollar the tick is that of prices under a dollar.
            let tick = tick_micros(micros - 1);
            ((micros + tick - 1) / tick).checked_sub(steps)?.checked_mul(tick)?
        }
    };
    (level <= MAX_PRICE_MICROS).then(|| Price::from_micros(level).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn price(text: &str) -> Price {
        text.parse().unwrap()
    }

    #[test]
    fn prices_are_rounded_to_ticks() {
        for (dollars, quoted) in [
            (123.456, "123.46"),
            (1.004, "1"),
            (0.99996, "1"),
            (0.12344, "0.1234"),
            (0.001_234_4, "0.001234"),
        ] {
            assert_eq!(nearest(dollars), Some(price(quoted)), "{dollars}");
        }
        for none in [0.0, -1.0, f64::NAN, f64::INFINITY, 2e9] {
            assert_eq!(nearest(none), None, "{none}");
        }
    }

    #[test]
    fn level_that_rounds_to_the_price_moves_one_tick_beyond() {
        assert_eq!(beyond(price("10"), Side::Above, 10.004), Some(price("10.01")));
        assert_eq!(beyond(price("10.003"), Side::Below, 10.002), Some(price("10")));
        assert_eq!(beyond(price("1"), Side::Below, 0.999_999), Some(price("0.9999")));
        assert_eq!(beyond(price("10"), Side::Above, 9.0), Some(price("10.01")));
    }

    #[test]
    fn no_price_beyond_the_lowest_and_highest() {
        assert_eq!(beyond(price("0.000001"), Side::Below, 0.000_000_5), None);
        assert_eq!(beyond(price("1000000000"), Side::Above, 1e12), None);
    }

    proptest! {
        #[test]
        fn beyond_returns_a_quoted_price_strictly_beyond(micros in 1_i64..2_000_000_000, factor in 0.2_f64..5.0) {
            let from = Price::from_micros(micros).unwrap();
            for (side, dollars) in [(Side::Above, from.as_f64() * factor), (Side::Below, from.as_f64() * factor)] {
                let Some(level) = beyond(from, side, dollars) else {
                    prop_assert!(side == Side::Below && micros == 1);
                    continue;
                };
                prop_assert!(side.pick(level > from, level < from));
                prop_assert_eq!(level.micros() % tick_micros(level.micros()), 0);
            }
        }
    }
}
