//! The levels of alerts: the arithmetic that reduces a condition to a key in a group of its stock.

use market::Price;

use super::group::{GroupKey, HUNDRED_PERCENT};
use crate::condition::Side;

/// Returns the price at which a change of `percent_micros` from `initial` is reached: exactly, or the nearest millionth beyond.
pub(crate) fn change_level(initial: Price, side: Side, percent_micros: i64) -> i64 {
    let hundred = i128::from(HUNDRED_PERCENT);
    let percent = i128::from(side.key(percent_micros));
    let scaled = i128::from(initial.micros()) * (hundred + percent);
    let level = match side {
        Side::Above => (scaled + hundred - 1).div_euclid(hundred),
        Side::Below => scaled.div_euclid(hundred),
    };
    i64::try_from(level).unwrap_or(i64::MAX)
}

/// Returns the group and the key of an RSI alert; `None` is a side that is not determined yet.
pub(super) fn rsi_key(side: Option<Side>, threshold: i64) -> (GroupKey, i64) {
    side.map_or((GroupKey::RsiUndecided, 0), |side| {
        (GroupKey::Rsi(side), side.key(threshold))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(initial: &str, side: Side, percent: &str) -> String {
        let percent: market::Decimal = percent.parse().unwrap();
        let level = change_level(initial.parse().unwrap(), side, percent.micros());
        market::Decimal::from_micros(level).to_string()
    }

    #[test]
    fn change_level_is_exact() {
        assert_eq!(level("189.20", Side::Above, "5"), "198.66");
        assert_eq!(level("189.20", Side::Below, "5"), "179.74");
        assert_eq!(level("100", Side::Below, "100"), "0");
    }

    #[test]
    fn change_level_between_millionths_is_rounded_away_from_the_initial_price() {
        assert_eq!(level("0.000003", Side::Above, "50"), "0.000005");
        assert_eq!(level("0.000003", Side::Below, "50"), "0.000001");
    }
}
