//! The search for the value at which a monotone comparison changes.

/// A comparison at one value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Sample {
    /// Whether it is as at the start.
    pub(super) is_same: bool,
    /// The difference of its sides; `None` without a value.
    pub(super) difference: Option<f64>,
}

/// The number of interpolations before the interval is halved. Most comparisons are linear in the price and need one.
const INTERPOLATIONS: usize = 3;

/// Returns a value from which on, up to `from`, the comparison is the same: `limit` if it is there, otherwise close to the last such
/// value.
///
/// It must be the same at `from`, and between `from` and `limit` it must change at most once. A value that is nearer than necessary
/// only costs later evaluations, so the search ends at a millionth of `from`.
pub(super) fn farthest(from: i64, limit: i64, sample: impl Fn(i64) -> Sample) -> i64 {
    let far = sample(limit);
    if far.is_same {
        return limit;
    }
    let value = |distance: u64| {
        if limit < from {
            from.saturating_sub_unsigned(distance)
        } else {
            from.saturating_add_unsigned(distance)
        }
    };
    let precision = (from.unsigned_abs() >> 20).max(1);
    let mut interval = Interval {
        same: (0, sample(from).difference),
        different: (from.abs_diff(limit), far.difference),
    };
    for _ in 0..INTERPOLATIONS {
        let Some(root) = interval.root().filter(|_| interval.width() > precision) else {
            break;
        };
        for distance in [root.saturating_sub(precision / 2), root.saturating_add(precision / 2)] {
            interval.narrow(distance, &|distance| sample(value(distance)));
        }
    }
    let mut step = (from.unsigned_abs() >> 8).max(1);
    while interval.width() > precision {
        let middle = interval.width() / 2;
        let distance = interval.same.0 + step.min(middle);
        interval.narrow(distance, &|distance| sample(value(distance)));
        step = step.saturating_mul(2);
    }
    value(interval.same.0)
}

/// The distances between which a comparison changes, each with the difference of its sides.
struct Interval {
    same: (u64, Option<f64>),
    different: (u64, Option<f64>),
}

impl Interval {
    const fn width(&self) -> u64 {
        self.different.0 - self.same.0
    }

    /// Returns the distance at which a linear difference is zero; `None` if that is not between the ends.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a guess, which is verified"
    )]
    fn root(&self) -> Option<u64> {
        let (at_same, at_different) = self.same.1.zip(self.different.1)?;
        let share = at_same / (at_same - at_different);
        (0.0..=1.0)
            .contains(&share)
            .then(|| self.same.0 + (self.width() as f64 * share) as u64)
    }

    /// Replaces an end by a distance between them.
    fn narrow(&mut self, distance: u64, sample: &impl Fn(u64) -> Sample) {
        if self.same.0 < distance && distance < self.different.0 {
            let found = sample(distance);
            let end = (distance, found.difference);
            if found.is_same {
                self.same = end;
            } else {
                self.different = end;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples a truth with a difference of sides that is not linear, or unknown.
    fn sampled(is_same: impl Fn(i64) -> bool, difference: impl Fn(i64) -> Option<f64>) -> impl Fn(i64) -> Sample {
        move |value| Sample {
            is_same: is_same(value),
            difference: difference(value),
        }
    }

    fn unknown(is_same: impl Fn(i64) -> bool) -> impl Fn(i64) -> Sample {
        sampled(is_same, |_| None)
    }

    #[test]
    fn limit_is_returned_if_nothing_changes_before_it() {
        assert_eq!(farthest(100, 1, unknown(|_| true)), 1);
        assert_eq!(farthest(100, i64::MAX, unknown(|_| true)), i64::MAX);
    }

    #[test]
    fn change_is_found_within_a_millionth() {
        for level in [1, 2, 99_999_999, 150_000_000, 199_999_998] {
            let found = farthest(200_000_000, 1, unknown(|price| price > level));
            assert!(found > level && found - level <= 200, "{level}: {found}");
        }
        for level in [200_000_001, 200_000_002, 300_000_000, i64::MAX - 1] {
            let found = farthest(200_000_000, i64::MAX, unknown(|price| price < level));
            assert!(found < level && level - found <= 200, "{level}: {found}");
        }
    }

    #[test]
    fn change_next_to_the_start_is_found() {
        assert_eq!(farthest(5, 1, unknown(|price| price >= 5)), 5);
        assert_eq!(farthest(5, 9, unknown(|price| price <= 5)), 5);
    }

    #[test]
    fn linear_change_is_found_with_few_samples() {
        let count = std::cell::Cell::new(0);
        for level in [99_999_999, 150_000_000, 199_999_998, 300_000_000] {
            count.set(0);
            let limit = if level < 200_000_000 { 1 } else { 1_000_000_000_000_000 };
            let sample = sampled(
                |price| (price > level) == (level < 200_000_000),
                |price| {
                    count.set(count.get() + 1);
                    Some((price - level) as f64 / 1e6)
                },
            );
            let found = farthest(200_000_000, limit, sample);
            assert!(found.abs_diff(level) <= 200, "{level}: {found}");
            assert!(count.get() <= 5, "{level}: {} samples", count.get());
        }
    }

    #[test]
    fn misleading_differences_do_not_prevent_the_search() {
        for difference in [0.0, f64::NAN, f64::INFINITY, -1e300] {
            let sample = sampled(|price| price > 150_000_000, move |_| Some(difference));
            let found = farthest(200_000_000, 1, sample);
            assert!(found.abs_diff(150_000_000) <= 200, "{difference}: {found}");
        }
        let root = |price: i64| Some((price as f64 / 1e6).sqrt() - 150_f64.sqrt());
        let found = farthest(200_000_000, 1, sampled(|price| price > 150_000_000, root));
        assert!(found.abs_diff(150_000_000) <= 200, "{found}");
    }
}
