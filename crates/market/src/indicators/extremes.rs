//! The rolling maximum and minimum over a range of days.

use std::collections::VecDeque;

/// The kind of extreme.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extreme {
    /// The highest value.
    High,
    /// The lowest value.
    Low,
}

impl Extreme {
    /// Whether `value` makes `other` irrelevant from now on.
    fn beats(self, value: i64, other: i64) -> bool {
        match self {
            Self::High => value >= other,
            Self::Low => value <= other,
        }
    }
}

/// The extreme of the values from some day on, while that day moves forward.
///
/// A monotonic queue: each value exceeds all that follow it, so the first one is the extreme, and each value enters
/// and leaves once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RollingExtreme {
    kind: Extreme,
    queue: VecDeque<(i32, i64)>,
}

impl RollingExtreme {
    /// Creates an empty queue.
    #[must_use]
    pub const fn new(kind: Extreme) -> Self {
        Self {
            kind,
            queue: VecDeque::new(),
        }
    }

    /// Adds the value of `day`, which is later than all previous days.
    pub fn push(&mut self, day: i32, value: i64) {
        while self
            .queue
            .back()
            .is_some_and(|&(_, other)| self.kind.beats(value, other))
        {
            self.queue.pop_back();
        }
        self.queue.push_back((day, value));
    }

    /// Drops the days before `day` and returns the extreme of the others.
    pub fn since(&mut self, day: i32) -> Option<i64> {
        while self.queue.front().is_some_and(|&(seen, _)| seen < day) {
            self.queue.pop_front();
        }
        self.queue.front().map(|&(_, value)| value)
    }

    /// Returns the extreme of the kept days from `day` on, without dropping any.
    #[must_use]
    pub fn peek_since(&self, day: i32) -> Option<i64> {
        let at = self.queue.partition_point(|&(seen, _)| seen < day);
        self.queue.get(at).map(|&(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kept_since(seen: &[(i32, i64)], day: i32) -> impl Iterator<Item = i64> {
        seen.iter()
            .filter(move |(seen, _)| *seen >= day)
            .map(|&(_, value)| value)
    }

    proptest! {
        #[test]
        fn rolling_extreme_equals_a_scan(
            steps in prop::collection::vec((1_i32..9, 1_i64..50), 1..200), span in 0_i32..60
        ) {
            let (mut high, mut low) = (RollingExtreme::new(Extreme::High), RollingExtreme::new(Extreme::Low));
            let mut seen: Vec<(i32, i64)> = Vec::new();
            let mut day = 0;
            for (step, value) in steps {
                day += step;
                high.push(day, value);
                low.push(day, value);
                seen.push((day, value));
                let kept = || kept_since(&seen, day - span);
                prop_assert_eq!(high.peek_since(day - span), kept().max());
                prop_assert_eq!(low.peek_since(day - span / 2), kept_since(&seen, day - span / 2).min());
                prop_assert_eq!(high.since(day - span), kept().max());
                prop_assert_eq!(low.since(day - span), kept().min());
            }
        }
    }
}
