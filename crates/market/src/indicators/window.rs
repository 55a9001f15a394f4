//! The sum of the last so many values.

/// The sum of the last `len` values of a series, kept exact by adding the newest and taking the oldest away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowSum {
    len: usize,
    sum: i64,
}

impl WindowSum {
    /// The sum of the last `len` values of `series` (oldest first), or of all of them while there are fewer.
    pub fn new(len: usize, series: impl DoubleEndedIterator<Item = i64>) -> Self {
        Self {
            len,
            sum: series.rev().take(len).sum(),
        }
    }

    /// How many values are summed.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether it sums nothing at all.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The sum.
    #[must_use]
    pub const fn sum(&self) -> i64 {
        self.sum
    }

    /// Takes in `newest`; `leaving` is the value that was the `len`-th from the end until now, if there was one.
    pub fn push(&mut self, newest: i64, leaving: Option<i64>) {
        if self.len > 0 {
            self.sum += newest - leaving.unwrap_or(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_incremental_sum_equals_the_sum_from_scratch(
            series in prop::collection::vec(0_i64..1_000_000_000_000, 0..300), len in 0_usize..120
        ) {
            let mut window = WindowSum::new(len, [].into_iter());
            for end in 0..series.len() {
                window.push(series[end], end.checked_sub(len).map(|at| series[at]));
                prop_assert_eq!(window, WindowSum::new(len, series[..=end].iter().copied()));
            }
        }
    }
}
