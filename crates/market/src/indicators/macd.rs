//! The moving average convergence divergence.
//!
//! The line is the fast minus the slow exponential average. The fast average begins later, so that both have their first value
//! at the same close; the signal is the exponential average of the line from there. Line and signal have values from the
//! signal's first value on, and the shorter period is always the fast one. Source: TA-Lib's `MACD`.

use super::ema::Ema;
use crate::split::SplitRatio;

/// The line and the signal of a MACD, in millionths of a dollar.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MacdValue {
    /// The fast minus the slow average.
    pub line: f64,
    /// The exponential average of the line.
    pub signal: f64,
}

/// The MACD of a series of closes in millionths of a dollar.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Macd {
    /// The number of first closes that the fast average leaves out.
    skipped: u32,
    fast: Ema,
    slow: Ema,
    signal: Ema,
}

impl Macd {
    /// Creates the MACD of an empty series.
    #[must_use]
    pub fn new(fast: u32, slow: u32, signal: u32) -> Self {
        let (fast, slow) = (Ema::new(fast.min(slow)), Ema::new(fast.max(slow)));
        Self {
            skipped: slow.period() - fast.period(),
            fast,
            slow,
            signal: Ema::new(signal),
        }
    }

    /// Adds the next close.
    pub fn push(&mut self, close_micros: i64) {
        self.slow.push(close_micros);
        if self.skipped > 0 {
            self.skipped -= 1;
        } else {
            self.fast.push(close_micros);
        }
        if let Some(line) = self.line() {
            self.signal.push_value(line);
        }
    }

    fn line(&self) -> Option<f64> {
        Some(self.fast.value()? - self.slow.value()?)
    }

    /// The MACD at the last close; `None` before slow + signal − 1 closes.
    #[must_use]
    pub fn value(&self) -> Option<MacdValue> {
        let signal = self.signal.value()?;
        self.line().map(|line| MacdValue { line, signal })
    }

    /// The MACD if the running session closed at this price.
    #[must_use]
    pub fn with(&self, price_micros: i64) -> Option<MacdValue> {
        let mut provisional = *self;
        provisional.push(price_micros);
        provisional.value()
    }

    /// Converts the series to shares after a split.
    #[must_use]
    pub fn after_split(self, ratio: SplitRatio) -> Self {
        Self {
            skipped: self.skipped,
            fast: self.fast.after_split(ratio),
            slow: self.slow.after_split(ratio),
            signal: self.signal.after_split(ratio),
        }
    }
}

/// Returns the MACD of a whole series of closes; `None` if there are fewer than slow + signal − 1.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "an exponential average is a float")]
pub fn macd(closes: &[i64], fast: usize, slow: usize, signal: usize) -> Option<MacdValue> {
    let (fast, slow) = (fast.min(slow), fast.max(slow));
    let skipped = closes.get(slow - fast..)?;
    let series = |closes: &[i64], period| {
        let closes: Vec<f64> = closes.iter().map(|&close| close as f64).collect();
        averages(&closes, period)
    };
    let lines: Vec<f64> = series(skipped, fast)
        .iter()
        .zip(series(closes, slow))
        .map(|(fast, slow)| fast - slow)
        .collect();
    let signal = averages(&lines, signal).last().copied()?;
    lines.last().map(|&line| MacdValue { line, signal })
}

/// Returns the exponential averages from the `period`-th value on.
#[expect(clippy::cast_precision_loss, reason = "an exponential average is a float")]
fn averages(values: &[f64], period: usize) -> Vec<f64> {
    let Some((first, rest)) = values.split_at_checked(period).filter(|_| period > 0) else {
        return Vec::new();
    };
    let mut average = first.iter().sum::<f64>() / period as f64;
    let mut all = vec![average];
    for value in rest {
        average += (value - average) * (2.0 / (period as f64 + 1.0));
        all.push(average);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rising_closes_have_a_positive_line() {
        let mut state = Macd::new(1, 2, 2);
        [10, 20].into_iter().for_each(|close| state.push(close));
        // The slow average is 15 and then 25; the lines are 5 and 5.
        assert_eq!(state.value(), None);
        assert_eq!(state.with(30), Some(MacdValue { line: 5.0, signal: 5.0 }));
    }

    proptest! {
        #[test]
        fn incremental_macd_equals_the_plain_function(
            closes in prop::collection::vec(1_i64..1_000_000_000_000, 1..120),
            fast in 1_u32..20, slow in 1_u32..30, signal in 1_u32..12
        ) {
            let mut state = Macd::new(fast, slow, signal);
            for end in 0..closes.len() {
                let provisional = state.with(closes[end]);
                state.push(closes[end]);
                let plain = macd(&closes[..=end], fast as usize, slow as usize, signal as usize);
                prop_assert_eq!(provisional, state.value());
                prop_assert_eq!(plain.is_some(), provisional.is_some());
                if let Some((plain, incremental)) = plain.zip(provisional) {
                    // The line is a difference of averages as large as the closes, so the tolerance is relative to these.
                    let allowed = 1e-12 * closes[..=end].iter().copied().max().unwrap() as f64;
                    prop_assert!((plain.line - incremental.line).abs() <= allowed);
                    prop_assert!((plain.signal - incremental.signal).abs() <= allowed);
                }
            }
        }
    }
}
