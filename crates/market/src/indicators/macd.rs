//! The moving average convergence/divergence.
//!
//! Source: TA-Lib, function `MACD`. The line is the fast minus the slow exponential average. Both averages have their first
//! value on the same close, the one that completes the slow period; so the fast one begins with the mean of the last closes
//! of that period. The signal is the exponential average of the line. As in TA-Lib, the shorter period is the fast one.

use super::ema::{Ema, ema};

/// The MACD line and its signal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Macd {
    /// The number of closes before the fast average begins.
    skipped: u16,
    fast: Ema,
    slow: Ema,
    signal: Ema,
}

/// The values of a MACD, in the unit of the closes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MacdValue {
    /// The fast minus the slow average.
    pub line: f64,
    /// The average of the line; `None` until it has enough values.
    pub signal: Option<f64>,
}

impl Macd {
    /// Creates the MACD of no closes.
    #[must_use]
    pub fn new(fast: u16, slow: u16, signal: u16) -> Self {
        let (fast, slow) = (fast.min(slow).max(1), fast.max(slow).max(1));
        Self {
            skipped: slow - fast,
            fast: Ema::new(fast),
            slow: Ema::new(slow),
            signal: Ema::new(signal),
        }
    }

    /// Adds the next close.
    pub fn push(&mut self, close: f64) {
        self.slow.push(close);
        if self.skipped > 0 {
            self.skipped -= 1;
        } else {
            self.fast.push(close);
        }
        if let Some(line) = self.line() {
            self.signal.push(line);
        }
    }

    fn line(&self) -> Option<f64> {
        Some(self.fast.value()? - self.slow.value()?)
    }

    /// The values; `None` before the slow period is complete.
    #[must_use]
    pub fn value(&self) -> Option<MacdValue> {
        Some(MacdValue {
            line: self.line()?,
            signal: self.signal.value(),
        })
    }

    /// The values if the next close were `close`.
    #[must_use]
    pub fn with(&self, close: f64) -> Option<MacdValue> {
        let mut provisional = *self;
        provisional.push(close);
        provisional.value()
    }
}

/// Returns the MACD at the last close; `None` before the slow period is complete.
#[must_use]
pub fn macd(closes: &[f64], fast: u16, slow: u16, signal: u16) -> Option<MacdValue> {
    let (fast, slow) = (fast.min(slow).max(1), fast.max(slow).max(1));
    let recent = closes.get(usize::from(slow - fast)..)?;
    let line_at = |missing: usize| {
        let end = |series: &[f64], period| ema(series.get(..series.len().checked_sub(missing)?)?, period);
        Some(end(recent, fast)? - end(closes, slow)?)
    };
    let mut line: Vec<f64> = (0..closes.len()).map_while(line_at).collect();
    line.reverse();
    Some(MacdValue {
        line: *line.last()?,
        signal: ema(&line, signal),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_averages_have_their_first_value_on_the_same_close() {
        // fast: (2 + 6) ÷ 2 = 4; slow: (1 + 2 + 6) ÷ 3 = 3
        let value = macd(&[1.0, 2.0, 6.0], 2, 3, 2);
        assert_eq!(
            value,
            Some(MacdValue {
                line: 1.0,
                signal: None
            })
        );
        assert_eq!(macd(&[1.0, 2.0], 2, 3, 2), None);
        // fast: 4 + (7 − 4) × 2/3 = 6; slow: 3 + (7 − 3) ÷ 2 = 5; signal: (1 + 1) ÷ 2
        let value = macd(&[1.0, 2.0, 6.0, 7.0], 2, 3, 2).unwrap();
        assert!((value.line - 1.0).abs() < 1e-12);
        assert!((value.signal.unwrap() - 1.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn incremental_macd_equals_the_plain_one(
            closes in prop::collection::vec(1.0..1e6_f64, 1..80), fast in 1_u16..20, slow in 1_u16..40, signal in 1_u16..20
        ) {
            let mut state = Macd::new(fast, slow, signal);
            for end in 1..=closes.len() {
                let plain = macd(&closes[..end], fast, slow, signal);
                let with = state.with(closes[end - 1]);
                state.push(closes[end - 1]);
                prop_assert_eq!(with, state.value());
                prop_assert_eq!(with.is_some(), plain.is_some());
                let (Some(with), Some(plain)) = (with, plain) else { continue };
                // A difference of averages is as exact as the averages themselves.
                prop_assert!((with.line - plain.line).abs() <= 1e6 * 1e-12);
                prop_assert_eq!(with.signal.is_some(), plain.signal.is_some());
                prop_assert!((with.signal.unwrap_or(0.0) - plain.signal.unwrap_or(0.0)).abs() <= 1e6 * 1e-12);
            }
        }
    }
}
