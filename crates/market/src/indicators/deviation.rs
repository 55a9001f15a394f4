//! The mean and the standard deviation of the last n closes.
//!
//! The deviation is that of the population: √(Σx² ÷ n − (Σx ÷ n)²). Source: TA-Lib's `STDDEV`. The sums are integers, so only
//! the root and the division round.

use std::collections::VecDeque;

/// The mean and the standard deviation of n closes, in millionths of a dollar.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Moments {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of the population.
    pub deviation: f64,
}

/// The sums of the last n − 1 closes and of their squares, so that a provisional price is the n-th.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deviation {
    period: usize,
    closes: VecDeque<i64>,
    sum: i128,
    squares: i128,
}

impl Deviation {
    /// Creates the state of an empty series. A period of 0 counts as 1.
    #[must_use]
    pub fn new(period: u32) -> Self {
        Self {
            period: usize::try_from(period.max(1)).unwrap_or(1),
            closes: VecDeque::new(),
            sum: 0,
            squares: 0,
        }
    }

    /// Returns the state after these closes, of which the last n − 1 count.
    #[must_use]
    pub fn of(period: u32, closes: impl DoubleEndedIterator<Item = i64>) -> Self {
        let mut state = Self::new(period);
        let mut counted: Vec<i64> = closes.rev().take(state.period - 1).collect();
        counted.reverse();
        counted.into_iter().for_each(|close| state.push(close));
        state
    }

    /// Adds the next close, in millionths of a dollar.
    pub fn push(&mut self, close_micros: i64) {
        self.closes.push_back(close_micros);
        self.sum += i128::from(close_micros);
        self.squares += square(close_micros);
        if self.closes.len() >= self.period
            && let Some(leaving) = self.closes.pop_front()
        {
            self.sum -= i128::from(leaving);
            self.squares -= square(leaving);
        }
    }

    /// The moments if the running session closed at this price; `None` if there are fewer than n − 1 closes.
    #[must_use]
    pub fn with(&self, price_micros: i64) -> Option<Moments> {
        (self.closes.len() + 1 >= self.period).then(|| {
            moments_of_sums(
                self.period,
                self.sum + i128::from(price_micros),
                self.squares + square(price_micros),
            )
        })
    }
}

/// Returns the moments of the last `period` closes; `None` if there are fewer.
#[must_use]
pub fn moments(closes: &[i64], period: usize) -> Option<Moments> {
    let start = closes.len().checked_sub(period).filter(|_| period > 0)?;
    let window = &closes[start..];
    let sum = window.iter().map(|&close| i128::from(close)).sum();
    Some(moments_of_sums(
        period,
        sum,
        window.iter().map(|&close| square(close)).sum(),
    ))
}

fn square(close: i64) -> i128 {
    i128::from(close) * i128::from(close)
}

#[expect(clippy::cast_precision_loss, reason = "a deviation is a float")]
fn moments_of_sums(period: usize, sum: i128, squares: i128) -> Moments {
    let n = period as f64;
    // n² × variance; 400 prices of a billion dollars fit in 128 bits.
    let scaled = period as i128 * squares - sum * sum;
    Moments {
        mean: sum as f64 / n,
        deviation: (scaled.max(0) as f64).sqrt() / n,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn deviation_is_that_of_the_population() {
        let mut state = Deviation::new(4);
        [99, 2, 4, 4].into_iter().for_each(|close| state.push(close));
        // The mean of 2, 4, 4 and 10 is 5; the squared distances are 9, 1, 1 and 25, so the variance is 9.
        assert_eq!(
            state.with(10),
            Some(Moments {
                mean: 5.0,
                deviation: 3.0
            })
        );
        assert_eq!(Deviation::new(2).with(5), None);
    }

    proptest! {
        #[test]
        fn incremental_moments_equal_the_plain_function(
            closes in prop::collection::vec(1_i64..=crate::price::MAX_PRICE_MICROS, 1..450), period in 1_u32..=400
        ) {
            let mut state = Deviation::new(period);
            for end in 0..closes.len() {
                prop_assert_eq!(state.with(closes[end]), moments(&closes[..=end], period as usize));
                state.push(closes[end]);
            }
        }
    }
}
