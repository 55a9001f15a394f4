//! The exponential moving average.
//!
//! The first value is the mean of the first n closes; after that `average + (close − average) × 2 ÷ (n + 1)`. Source: TA-Lib's
//! `EMA` with its default (classic) start.

use crate::split::SplitRatio;

/// An exponential moving average of a series of closes in millionths of a dollar. Values are in millionths, too.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ema {
    period: u32,
    /// The number of closes so far, counted up to the period.
    closes: u32,
    /// The sum before `period` closes, the average afterwards.
    average: f64,
}

impl Ema {
    /// Creates the average of an empty series. A period of 0 counts as 1.
    #[must_use]
    pub const fn new(period: u32) -> Self {
        Self {
            period: if period == 0 { 1 } else { period },
            closes: 0,
            average: 0.0,
        }
    }

    /// The period.
    #[must_use]
    pub const fn period(&self) -> u32 {
        self.period
    }

    /// Adds the next close.
    #[expect(clippy::cast_precision_loss, reason = "an exponential average is a float")]
    pub fn push(&mut self, close_micros: i64) {
        self.push_value(close_micros as f64);
    }

    /// Adds the next value of a series of floats.
    pub(super) fn push_value(&mut self, value: f64) {
        let period = f64::from(self.period);
        if self.closes >= self.period {
            self.average += (value - self.average) * (2.0 / (period + 1.0));
            return;
        }
        self.average += value;
        self.closes += 1;
        if self.closes == self.period {
            self.average /= period;
        }
    }

    /// The average at the last close; `None` before `period` closes.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        (self.closes >= self.period).then_some(self.average)
    }

    /// The average if the running session closed at this price.
    #[must_use]
    pub fn with(&self, price_micros: i64) -> Option<f64> {
        let mut provisional = *self;
        provisional.push(price_micros);
        provisional.value()
    }

    /// Converts the series to shares after a split.
    #[must_use]
    pub fn after_split(self, ratio: SplitRatio) -> Self {
        Self {
            average: self.average / ratio.as_f64(),
            ..self
        }
    }
}

/// Returns the exponential average of a whole series of closes; `None` if there are fewer than `period`.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "an exponential average is a float")]
pub fn ema(closes: &[i64], period: usize) -> Option<f64> {
    let (first, rest) = closes.split_at_checked(period).filter(|_| period > 0)?;
    let start = first.iter().map(|&close| close as f64).sum::<f64>() / period as f64;
    let weight = 2.0 / (period as f64 + 1.0);
    Some(
        rest.iter()
            .fold(start, |average, &close| average + (close as f64 - average) * weight),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn first_value_is_the_mean_of_the_first_closes() {
        let mut average = Ema::new(3);
        [1_000_000, 2_000_000].into_iter().for_each(|close| average.push(close));
        assert_eq!(average.value(), None);
        assert_eq!(average.with(6_000_000), Some(3_000_000.0));
        average.push(6_000_000);
        assert_eq!(average.with(5_000_000), Some(4_000_000.0));
    }

    proptest! {
        #[test]
        fn incremental_average_equals_the_plain_function(
            closes in prop::collection::vec(1_i64..1_000_000_000_000, 1..300), period in 1_u32..60
        ) {
            let mut average = Ema::new(period);
            for end in 0..closes.len() {
                let provisional = average.with(closes[end]);
                average.push(closes[end]);
                prop_assert_eq!(provisional, average.value());
                let plain = ema(&closes[..=end], period as usize);
                prop_assert_eq!(plain.is_some(), provisional.is_some());
                if let Some((plain, incremental)) = plain.zip(provisional) {
                    prop_assert!((plain - incremental).abs() <= 1e-12 * plain);
                }
            }
        }
    }
}
