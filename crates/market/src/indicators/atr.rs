//! Wilder's average true range.
//!
//! The true range is the largest of high − low, |high − previous close| and |low − previous close|. The first average is the
//! mean of the first n true ranges, which begin with the second session; after that `((n − 1) × average + range) ÷ n`. Source:
//! J. Welles Wilder, *New Concepts in Technical Trading Systems* (1978); TA-Lib's `ATR`.

use crate::bar::Bar;
use crate::split::SplitRatio;

/// Wilder's average true range of a series of sessions, in millionths of a dollar.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Atr {
    period: u32,
    /// The number of true ranges so far, counted up to the period.
    ranges: u32,
    last_close: Option<i64>,
    /// The sum before `period` ranges, the average afterwards.
    average: f64,
}

impl Atr {
    /// Creates the average of an empty series. A period of 0 counts as 1.
    #[must_use]
    pub const fn new(period: u32) -> Self {
        Self {
            period: if period == 0 { 1 } else { period },
            ranges: 0,
            last_close: None,
            average: 0.0,
        }
    }

    /// Adds the next session.
    pub fn push(&mut self, bar: &Bar) {
        self.add_range(bar.high.micros(), bar.low.micros());
        self.last_close = Some(bar.close.micros());
    }

    #[expect(clippy::cast_precision_loss, reason = "the average is a float")]
    fn add_range(&mut self, high: i64, low: i64) {
        let Some(close) = self.last_close else {
            return;
        };
        let range = true_range(high, low, close) as f64;
        let period = f64::from(self.period);
        if self.ranges >= self.period {
            self.average = (self.average * (period - 1.0) + range) / period;
            return;
        }
        self.average += range;
        self.ranges += 1;
        if self.ranges == self.period {
            self.average /= period;
        }
    }

    /// The average at the last session; `None` before `period` + 1 sessions.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        (self.ranges >= self.period).then_some(self.average)
    }

    /// The average with a running session of this high and low so far.
    #[must_use]
    pub fn with(&self, high_micros: i64, low_micros: i64) -> Option<f64> {
        let mut provisional = *self;
        provisional.last_close?;
        provisional.add_range(high_micros, low_micros);
        provisional.value()
    }

    /// Converts the series to shares after a split.
    #[must_use]
    pub fn after_split(self, ratio: SplitRatio) -> Self {
        Self {
            last_close: self.last_close.map(|close| ratio.divide(close).max(1)),
            average: self.average / ratio.as_f64(),
            ..self
        }
    }
}

fn true_range(high: i64, low: i64, previous_close: i64) -> i64 {
    high.max(previous_close) - low.min(previous_close)
}

/// Returns the average true range of a whole series of sessions; `None` if there are fewer than `period` + 1.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "the average is a float")]
pub fn atr(bars: &[Bar], period: usize) -> Option<f64> {
    let ranges: Vec<f64> = bars
        .windows(2)
        .map(|pair| true_range(pair[1].high.micros(), pair[1].low.micros(), pair[0].close.micros()) as f64)
        .collect();
    let (first, rest) = ranges.split_at_checked(period).filter(|_| period > 0)?;
    let n = period as f64;
    let start = first.iter().sum::<f64>() / n;
    Some(
        rest.iter()
            .fold(start, |average, range| (average * (n - 1.0) + range) / n),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::price::Price;
    use proptest::prelude::*;

    fn bar(low: i64, range: i64, above_low: i64) -> Bar {
        let price = |micros| Price::from_micros(micros).unwrap();
        let close = price(low + above_low.min(range));
        Bar {
            date: jiff::civil::date(2020, 1, 1),
            open: close,
            high: price(low + range),
            low: price(low),
            close,
            volume: 0,
        }
    }

    #[test]
    fn gap_counts_as_range() {
        let mut state = Atr::new(1);
        state.push(&bar(100, 10, 10));
        assert_eq!(state.value(), None);
        assert_eq!(state.with(130, 125), Some(20.0));
        assert_eq!(state.with(90, 80), Some(30.0));
        assert_eq!(Atr::new(1).with(130, 125), None);
    }

    proptest! {
        #[test]
        fn incremental_range_equals_the_plain_function(
            sessions in prop::collection::vec((1_i64..1_000_000_000, 0_i64..100_000, 0_i64..100_000), 1..200), period in 1_u32..40
        ) {
            let bars: Vec<_> = sessions.iter().map(|&(low, range, above)| bar(low, range, above)).collect();
            let mut state = Atr::new(period);
            for end in 0..bars.len() {
                let provisional = state.with(bars[end].high.micros(), bars[end].low.micros());
                state.push(&bars[end]);
                prop_assert_eq!(provisional, state.value());
                let plain = atr(&bars[..=end], period as usize);
                prop_assert_eq!(plain.is_some(), provisional.is_some());
                if let Some((plain, incremental)) = plain.zip(provisional) {
                    prop_assert!((plain - incremental).abs() <= 1e-12 * plain);
                }
            }
        }
    }
}
