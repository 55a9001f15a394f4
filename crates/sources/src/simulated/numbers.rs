//! Converts the floats of the simulation to exact numbers.

use market::price::MAX_VOLUME;
use market::{Decimal, Price};

/// The range of simulated prices, in dollars.
pub(super) const PRICE_RANGE: (f64, f64) = (1.0, 1e6);

/// Returns the nearest price in whole cents.
pub(super) fn price(dollars: f64) -> Price {
    Price::from_micros(whole(dollars * 100.0, 1, 100_000_000) * 10_000).expect("a cent to a million dollars")
}

/// Returns the nearest whole number of shares.
pub(super) fn volume(shares: f64) -> i64 {
    whole(shares, 0, MAX_VOLUME)
}

/// Returns the nearest count.
pub(super) fn count(count: f64) -> u32 {
    u32::try_from(whole(count, 0, 1_000_000)).unwrap_or(1_000_000)
}

/// Rounds `value` to the given number of decimals.
pub(super) fn decimal(value: f64, decimals: i32) -> Decimal {
    let scale = 10_f64.powi(decimals);
    Decimal::from_f64((value * scale).round() / scale).unwrap_or_default()
}

#[expect(clippy::cast_possible_truncation, reason = "clamped, and far below 2^53")]
#[expect(clippy::cast_precision_loss, reason = "the bounds are far below 2^53")]
fn whole(value: f64, least: i64, most: i64) -> i64 {
    (value.round().clamp(least as f64, most as f64)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_and_clamped() {
        assert_eq!(price(12.345_678).to_string(), "12.35");
        assert_eq!(price(0.0).to_string(), "0.01");
        assert_eq!(price(f64::INFINITY).to_string(), "1000000");
        assert_eq!(volume(-3.0), 0);
        assert_eq!(count(2.5), 3);
        assert_eq!(decimal(-1.2345, 2).to_string(), "-1.23");
    }
}
