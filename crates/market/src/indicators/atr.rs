//! Wilder's average true range.
//!
//! Source: J. Welles Wilder, *New Concepts in Technical Trading Systems* (1978); TA-Lib, function `ATR`. The true range is the
//! largest of high − low, |high − previous close| and |low − previous close|; the first bar has none. The first average is the
//! mean of the first n true ranges; after that `average = ((n − 1) × average + today's) ÷ n`.

/// Prices of one session in millionths of a dollar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PriceRange {
    /// The highest price.
    pub high: i64,
    /// The lowest price.
    pub low: i64,
    /// The last price.
    pub close: i64,
}

/// The average true range of a series of sessions, in millionths of a dollar.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Atr {
    period: u16,
    /// The number of true ranges so far, counted up to the period.
    count: u16,
    previous_close: Option<i64>,
    /// The sum before `period` true ranges, the average afterwards.
    state: f64,
}

/// Returns the true range of a session.
#[expect(clippy::cast_precision_loss, reason = "prices are below 2^53 millionths")]
fn true_range(previous_close: i64, session: PriceRange) -> f64 {
    (session.high.max(previous_close) - session.low.min(previous_close)) as f64
}

impl Atr {
    /// Creates the average of no sessions. A period of 0 counts as 1.
    #[must_use]
    pub fn new(period: u16) -> Self {
        Self {
            period: period.max(1),
            count: 0,
            previous_close: None,
            state: 0.0,
        }
    }

    /// Adds the next session.
    pub fn push(&mut self, session: PriceRange) {
        let Some(previous_close) = self.previous_close.replace(session.close) else {
            return;
        };
        let (range, period) = (true_range(previous_close, session), f64::from(self.period));
        if self.count == self.period {
            self.state = (self.state * (period - 1.0) + range) / period;
            return;
        }
        self.state += range;
        self.count += 1;
        if self.count == self.period {
            self.state /= period;
        }
    }

    /// The average; `None` before n + 1 sessions.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        (self.count == self.period).then_some(self.state)
    }

    /// The average if the next session were `session`.
    #[must_use]
    pub fn with(&self, session: PriceRange) -> Option<f64> {
        let mut provisional = *self;
        provisional.push(session);
        provisional.value()
    }
}

/// Returns the average true range at the last session; `None` with fewer than `period` + 1 sessions.
#[must_use]
pub fn atr(sessions: &[PriceRange], period: u16) -> Option<f64> {
    let ranges: Vec<f64> = sessions
        .windows(2)
        .map(|pair| true_range(pair[0].close, pair[1]))
        .collect();
    let (first, rest) = ranges.split_at_checked(usize::from(period.max(1)))?;
    let period = f64::from(period.max(1));
    let start = first.iter().sum::<f64>() / period;
    Some(
        rest.iter()
            .fold(start, |average, range| average + (range - average) / period),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn session(high: i64, low: i64, close: i64) -> PriceRange {
        PriceRange { high, low, close }
    }

    #[test]
    fn true_range_includes_the_gap_from_the_previous_close() {
        // True ranges: 15 − 9 = 6 (a gap up); 14 − 8 = 6 (a gap down to 8 from 14).
        let sessions = [
            session(12, 8, 9),
            session(15, 13, 14),
            session(10, 8, 9),
            session(10, 9, 9),
        ];
        assert_eq!(atr(&sessions[..2], 2), None);
        assert_eq!(atr(&sessions[..3], 2), Some(6.0));
        // (6 + 1) ÷ 2
        assert_eq!(atr(&sessions, 2), Some(3.5));
    }

    proptest! {
        #[test]
        fn incremental_average_equals_the_plain_one(
            prices in prop::collection::vec((1_i64..1_000_000_000, 1_i64..1_000_000, 0_i64..1_000_000), 1..120),
            period in 1_u16..30
        ) {
            let sessions: Vec<_> = prices.iter().map(|&(low, up, down)| session(low + up + down, low, low + down)).collect();
            let mut state = Atr::new(period);
            for end in 1..=sessions.len() {
                let plain = atr(&sessions[..end], period);
                let with = state.with(sessions[end - 1]);
                state.push(sessions[end - 1]);
                prop_assert_eq!(with, state.value());
                prop_assert_eq!(with.is_some(), plain.is_some());
                let (with, plain) = (with.unwrap_or(0.0), plain.unwrap_or(0.0));
                prop_assert!((with - plain).abs() <= plain * 1e-12);
            }
        }
    }
}
