//! The standard deviation of the population, and the Bollinger bands.
//!
//! Sources: TA-Lib, functions `STDDEV` and `BBANDS`. The variance is `(n × Σx² − (Σx)²) ÷ n²`, in integers up to the root; the
//! bands are the mean plus and minus a number of deviations.

use std::collections::VecDeque;

/// The last closes of a series with their sum and their sum of squares.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StandardDeviation {
    period: usize,
    closes: VecDeque<i64>,
    sums: Sums,
}

/// The Bollinger bands, in millionths of a dollar.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BollingerBands {
    /// The mean plus the deviations.
    pub upper: f64,
    /// The mean minus the deviations.
    pub lower: f64,
}

/// Four hundred prices of a billion dollars stay below 2^127.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Sums {
    sum: i128,
    squares: i128,
}

impl Sums {
    fn add(self, close: i64) -> Self {
        let close = i128::from(close);
        Self {
            sum: self.sum + close,
            squares: self.squares + close * close,
        }
    }

    fn remove(self, close: i64) -> Self {
        let close = i128::from(close);
        Self {
            sum: self.sum - close,
            squares: self.squares - close * close,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "the root is a float")]
    fn deviation(self, count: usize) -> f64 {
        let scaled = self.squares * count as i128 - self.sum * self.sum;
        (scaled as f64).sqrt() / count as f64
    }

    #[expect(clippy::cast_precision_loss, reason = "the root is a float")]
    fn bands(self, count: usize, width: f64) -> BollingerBands {
        let mean = self.sum as f64 / count as f64;
        let distance = width * self.deviation(count);
        BollingerBands {
            upper: mean + distance,
            lower: mean - distance,
        }
    }
}

impl StandardDeviation {
    /// Creates the deviation of no closes. A period of 0 counts as 1; periods are at most 400.
    #[must_use]
    pub fn new(period: u16) -> Self {
        Self {
            period: usize::from(period.max(1)),
            closes: VecDeque::new(),
            sums: Sums::default(),
        }
    }

    /// Adds the next close, in millionths of a dollar.
    pub fn push(&mut self, close: i64) {
        if self.closes.len() == self.period
            && let Some(leaving) = self.closes.pop_front()
        {
            self.sums = self.sums.remove(leaving);
        }
        self.closes.push_back(close);
        self.sums = self.sums.add(close);
    }

    /// The deviation in millionths of a dollar; `None` before the n-th close.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        (self.closes.len() == self.period).then(|| self.sums.deviation(self.period))
    }

    /// The deviation if the next close were `close`.
    #[must_use]
    pub fn with(&self, close: i64) -> Option<f64> {
        Some(self.sums_with(close)?.deviation(self.period))
    }

    /// The bands of `width` deviations if the next close were `close`.
    #[must_use]
    pub fn bands_with(&self, close: i64, width: f64) -> Option<BollingerBands> {
        Some(self.sums_with(close)?.bands(self.period, width))
    }

    fn sums_with(&self, close: i64) -> Option<Sums> {
        if self.closes.len() + 1 < self.period {
            return None;
        }
        let leaving = self.closes.front().filter(|_| self.closes.len() == self.period);
        Some(
            leaving
                .map_or(self.sums, |&leaving| self.sums.remove(leaving))
                .add(close),
        )
    }
}

/// Returns the sums of the last `period` closes; `None` if there are fewer.
fn sums_of_last(closes: &[i64], period: u16) -> Option<Sums> {
    let first = closes.len().checked_sub(usize::from(period.max(1)))?;
    Some(
        closes
            .get(first..)?
            .iter()
            .fold(Sums::default(), |sums, &close| sums.add(close)),
    )
}

/// Returns the standard deviation of the last `period` closes; `None` if there are fewer.
#[must_use]
pub fn standard_deviation(closes: &[i64], period: u16) -> Option<f64> {
    Some(sums_of_last(closes, period)?.deviation(usize::from(period.max(1))))
}

/// Returns the Bollinger bands of the last `period` closes; `None` if there are fewer.
#[must_use]
pub fn bollinger_bands(closes: &[i64], period: u16, width: f64) -> Option<BollingerBands> {
    Some(sums_of_last(closes, period)?.bands(usize::from(period.max(1)), width))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn deviation_is_that_of_the_population() {
        // The mean is 5; the squares of the distances are 9, 1, 1, 1, 0, 0, 4, 16.
        let closes = [2, 4, 4, 4, 5, 5, 7, 9];
        assert_eq!(standard_deviation(&closes, 8), Some(2.0));
        assert_eq!(standard_deviation(&closes, 9), None);
        assert_eq!(standard_deviation(&closes, 1), Some(0.0));
        let bands = bollinger_bands(&closes, 8, 1.5);
        assert_eq!(bands, Some(BollingerBands { upper: 8.0, lower: 2.0 }));
    }

    #[test]
    fn largest_prices_do_not_overflow() {
        let closes: Vec<i64> = (0..400)
            .map(|at| if at % 2 == 0 { 1 } else { crate::price::MAX_PRICE_MICROS })
            .collect();
        let deviation = standard_deviation(&closes, 400).unwrap();
        assert!((deviation - 5e14).abs() < 1e3, "{deviation}");
    }

    proptest! {
        #[test]
        fn incremental_deviation_equals_the_plain_one(
            closes in prop::collection::vec(1_i64..1_000_000_000_000, 1..120), period in 1_u16..40
        ) {
            let mut state = StandardDeviation::new(period);
            for end in 1..=closes.len() {
                let close = closes[end - 1];
                prop_assert_eq!(state.with(close), standard_deviation(&closes[..end], period));
                prop_assert_eq!(state.bands_with(close, 2.0), bollinger_bands(&closes[..end], period, 2.0));
                state.push(close);
                prop_assert_eq!(state.value(), standard_deviation(&closes[..end], period));
            }
        }
    }
}
