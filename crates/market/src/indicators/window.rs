//! The sum of the last values of a series.

/// The exact sum of the last `len` values of a series: each push adds the newest value and subtracts the oldest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowSum {
    len: usize,
    sum: i64,
}

impl WindowSum {
    /// Sums the last `len` values of `series` (oldest first), or all of them if there are fewer.
    pub fn new(len: usize, series: impl DoubleEndedIterator<Item = i64>) -> Self {
        Self {
            len,
            sum: series.rev().take(len).sum(),
        }
    }

    /// The number of values in the window.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the window has no length.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The sum.
    #[must_use]
    pub const fn sum(&self) -> i64 {
        self.sum
    }

    /// Adds `newest`; `leaving` is the value that was the `len`-th from the end until now, if there was one.
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
        fn incremental_sum_equals_the_full_sum(
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
