//! Wilder's relative strength index.
//!
//! Source: J. Welles Wilder, *New Concepts in Technical Trading Systems* (1978). The first average gain (loss) is
//! the mean of the first fourteen changes; after that `average = (13 × average + today's) ÷ 14`. RSI = 100 × gain ÷
//! (gain + loss).

use crate::split::SplitRatio;

/// The number of sessions over which gains and losses are smoothed.
pub const RSI_PERIOD: u32 = 14;

/// Wilder's RSI of a series of closes; by default the RSI of [`RSI_PERIOD`] sessions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rsi {
    period: u32,
    /// The number of changes so far, counted up to the period.
    changes: u32,
    /// The last close, in millionths; 0 before the first one.
    last_close: i64,
    /// The sums before `period` changes, the averages afterwards; in millionths.
    gain: f64,
    loss: f64,
}

impl Default for Rsi {
    fn default() -> Self {
        Self::new(RSI_PERIOD)
    }
}

impl Rsi {
    /// Creates the RSI of an empty series. A period of 0 counts as 1.
    #[must_use]
    pub const fn new(period: u32) -> Self {
        Self {
            period: if period == 0 { 1 } else { period },
            changes: 0,
            last_close: 0,
            gain: 0.0,
            loss: 0.0,
        }
    }

    /// Adds the next close, in millionths of a dollar.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a change of price is far below 2^53 millionths"
    )]
    pub fn push(&mut self, close_micros: i64) {
        let change = close_micros - self.last_close;
        let first = self.last_close == 0;
        self.last_close = close_micros;
        if first {
            return;
        }
        let (gain, loss) = (change.max(0) as f64, (-change).max(0) as f64);
        let period = f64::from(self.period);
        if self.changes >= self.period {
            self.gain = (self.gain * (period - 1.0) + gain) / period;
            self.loss = (self.loss * (period - 1.0) + loss) / period;
            return;
        }
        self.gain += gain;
        self.loss += loss;
        self.changes += 1;
        if self.changes == self.period {
            self.gain /= period;
            self.loss /= period;
        }
    }

    /// The RSI at the last close, 0–100; `None` before `period` + 1 closes, and while the stock has not moved at all.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        let moved = self.gain + self.loss;
        (self.changes >= self.period && moved > 0.0).then(|| 100.0 * self.gain / moved)
    }

    /// The RSI if the running session closed at `price_micros`.
    #[must_use]
    pub fn value_at(&self, price_micros: i64) -> Option<f64> {
        let mut provisional = *self;
        provisional.push(price_micros);
        provisional.value()
    }

    /// The RSI at a provisional price in millionths of a point, 0–100,000,000. Thresholds are compared with this
    /// number.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the value lies in 0..=100")]
    pub fn micros_at(&self, price_micros: i64) -> Option<i64> {
        self.value_at(price_micros).map(|value| (value * 1e6).round() as i64)
    }

    /// The number of closes that are missing before a provisional price has an RSI.
    #[must_use]
    pub fn closes_missing(&self) -> u32 {
        let seen = if self.last_close == 0 { 0 } else { self.changes + 1 };
        self.period.saturating_sub(seen)
    }

    /// Returns two prices such that every provisional price strictly between them has an RSI strictly between the two
    /// thresholds (in millionths of a point; `None` for no threshold). The band is conservative: it may be too narrow
    /// by far less than a cent, and it is empty if it cannot be determined.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "the band is cautious by more than the rounding"
    )]
    pub fn quiet_band(&self, above: Option<i64>, below: Option<i64>) -> (i64, i64) {
        if self.changes + 1 < self.period {
            return (i64::MIN, i64::MAX);
        }
        if self.changes < self.period {
            return (i64::MAX, i64::MIN);
        }
        let hi = above.map_or(i64::MAX, |micros| self.price_near((micros - 2) as f64 / 1e6, -1.0));
        let lo = below.map_or(i64::MIN, |micros| self.price_near((micros + 2) as f64 / 1e6, 1.0));
        (lo, hi)
    }

    /// Returns a price with an RSI of about `target`, moved by a safety margin in the direction of `cautious`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "floats saturate"
    )]
    fn price_near(&self, target: f64, cautious: f64) -> i64 {
        if target <= 0.0 {
            return if cautious < 0.0 {
                i64::MIN
            } else {
                self.price_near(1e-9, cautious)
            };
        }
        if target >= 100.0 {
            return if cautious < 0.0 {
                self.price_near(100.0 - 1e-9, cautious)
            } else {
                i64::MAX
            };
        }
        let rest = f64::from(self.period - 1);
        let odds = target / (100.0 - target);
        // Solve (13 gain + g) = odds × (13 loss + l) for a rise g (then l = 0) or a fall l (then g = 0).
        let rise = rest * (odds * self.loss - self.gain);
        let change = if rise >= 0.0 {
            rise
        } else {
            -rest * (self.gain / odds - self.loss)
        };
        let price = self.last_close as f64 + change;
        let margin = 2.0 + price.abs() * 1e-9 + change.abs() * 1e-6;
        (price + cautious * margin) as i64
    }

    /// Converts the series to shares after a split.
    #[must_use]
    pub fn after_split(self, ratio: SplitRatio) -> Self {
        Self {
            last_close: if self.last_close == 0 {
                0
            } else {
                ratio.divide(self.last_close).max(1)
            },
            gain: self.gain / ratio.as_f64(),
            loss: self.loss / ratio.as_f64(),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The series of the classic worked example of a 14-day RSI, with its first values.
    #[test]
    fn textbook_series_has_the_textbook_values() {
        let closes = [
            4434, 4409, 4415, 4361, 4433, 4483, 4510, 4542, 4584, 4608, 4589, 4603, 4561, 4628, 4628, 4600, 4603,
        ];
        let mut rsi = Rsi::default();
        let mut values = Vec::new();
        for cents in closes {
            rsi.push(cents * 10_000);
            values.extend(rsi.value());
        }
        let rounded: Vec<_> = values.iter().map(|value| (value * 100.0).round() / 100.0).collect();
        assert_eq!(rounded, [70.46, 66.25, 66.48]);
    }

    #[test]
    fn rsi_needs_fourteen_closes_and_a_provisional_price() {
        let mut rsi = Rsi::default();
        for day in 0..13 {
            rsi.push(10_000_000 + day);
        }
        assert_eq!((rsi.value_at(11_000_000), rsi.closes_missing()), (None, 1));
        rsi.push(10_000_000);
        assert!(rsi.value_at(11_000_000).is_some());
        assert_eq!(rsi.closes_missing(), 0);
    }

    #[test]
    fn flat_stock_has_no_rsi() {
        let mut rsi = Rsi::default();
        for _ in 0..40 {
            rsi.push(10_000_000);
        }
        assert_eq!(rsi.value(), None);
        assert_eq!(rsi.micros_at(10_000_001), Some(100_000_000));
    }

    proptest! {
        #[test]
        fn prices_inside_the_quiet_band_reach_no_threshold(
            closes in prop::collection::vec(1_000_000_i64..2_000_000, 14..60),
            threshold in 0_i64..=100_000_000,
            prices in prop::collection::vec(900_000_i64..2_200_000, 50)
        ) {
            let mut rsi = Rsi::default();
            closes.iter().for_each(|&close| rsi.push(close));
            let (_, hi) = rsi.quiet_band(Some(threshold), None);
            let (lo, _) = rsi.quiet_band(None, Some(threshold));
            for price in prices.into_iter().chain((-5..5).flat_map(|d| [hi.saturating_add(d), lo.saturating_add(d)])) {
                if !(1..10_000_000).contains(&price) { continue }
                let Some(value) = rsi.micros_at(price) else { continue };
                prop_assert!(price >= hi || value < threshold, "{price} < {hi} has {value} ≥ {threshold}");
                prop_assert!(price <= lo || value > threshold, "{price} > {lo} has {value} ≤ {threshold}");
            }
        }
    }
}
