//! The exponential moving average.
//!
//! Source: TA-Lib, function `EMA`. The first average is the mean of the first n values; after that
//! `average += (value − average) × 2 ÷ (n + 1)`.

/// The exponential moving average of a series of closes, or of any other values, in their unit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ema {
    period: u16,
    /// The number of values so far, counted up to the period.
    count: u16,
    /// The sum before `period` values, the average afterwards.
    state: f64,
}

impl Ema {
    /// Creates the average of no values. A period of 0 counts as 1.
    #[must_use]
    pub fn new(period: u16) -> Self {
        Self {
            period: period.max(1),
            count: 0,
            state: 0.0,
        }
    }

    /// Adds the next value.
    pub fn push(&mut self, value: f64) {
        let period = f64::from(self.period);
        if self.count == self.period {
            self.state += (value - self.state) * 2.0 / (period + 1.0);
            return;
        }
        self.state += value;
        self.count += 1;
        if self.count == self.period {
            self.state /= period;
        }
    }

    /// The average; `None` before the n-th value.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        (self.count == self.period).then_some(self.state)
    }

    /// The average if the next value were `value`.
    #[must_use]
    pub fn with(&self, value: f64) -> Option<f64> {
        let mut provisional = *self;
        provisional.push(value);
        provisional.value()
    }
}

/// Returns the exponential moving average at the last value; `None` with fewer than `period` values.
#[must_use]
pub fn ema(values: &[f64], period: u16) -> Option<f64> {
    let (first, rest) = values.split_at_checked(usize::from(period.max(1)))?;
    let period = f64::from(period.max(1));
    let (weight, start) = (2.0 / (period + 1.0), first.iter().sum::<f64>() / period);
    Some(
        rest.iter()
            .fold(start, |average, value| average * (1.0 - weight) + value * weight),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn begins_with_the_mean_of_the_first_values() {
        assert_eq!(ema(&[1.0, 2.0], 3), None);
        assert_eq!(ema(&[1.0, 2.0, 6.0], 3), Some(3.0));
        // 3 + (5 − 3) × 2 ÷ 4
        assert_eq!(ema(&[1.0, 2.0, 6.0, 5.0], 3), Some(4.0));
        assert_eq!(ema(&[1.0, 7.0], 1), Some(7.0));
    }

    proptest! {
        #[test]
        fn incremental_average_equals_the_plain_one(
            values in prop::collection::vec(1.0..1e6_f64, 1..300), period in 1_u16..60
        ) {
            let mut average = Ema::new(period);
            for end in 1..=values.len() {
                let plain = ema(&values[..end], period);
                let with = average.with(values[end - 1]);
                average.push(values[end - 1]);
                prop_assert_eq!(with, average.value());
                prop_assert_eq!(with.is_some(), plain.is_some());
                if let (Some(with), Some(plain)) = (with, plain) {
                    prop_assert!((with - plain).abs() <= plain * 1e-12, "{} {}", with, plain);
                }
            }
        }
    }
}
