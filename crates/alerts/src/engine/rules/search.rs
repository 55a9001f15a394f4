//! The search for the value at which a monotone comparison changes.

/// Returns a value from which on, up to `from`, `is_same` holds: `limit` if it holds there, otherwise close to the last such value.
///
/// `is_same(from)` must hold, and between `from` and `limit` it must change at most once. A value that is nearer than necessary only
/// costs later evaluations, so the search ends at a millionth of `from`.
pub(super) fn farthest(from: i64, limit: i64, is_same: impl Fn(i64) -> bool) -> i64 {
    if is_same(limit) {
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
    let (mut same, mut different) = (0, from.abs_diff(limit));
    let mut step = (from.unsigned_abs() >> 8).max(1);
    while same + step < different && is_same(value(same + step)) {
        same += step;
        step *= 2;
    }
    different = different.min(same + step);
    while different - same > precision {
        let middle = same + (different - same) / 2;
        if is_same(value(middle)) {
            same = middle;
        } else {
            different = middle;
        }
    }
    value(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_is_returned_if_nothing_changes_before_it() {
        assert_eq!(farthest(100, 1, |_| true), 1);
        assert_eq!(farthest(100, i64::MAX, |_| true), i64::MAX);
    }

    #[test]
    fn change_is_found_within_a_millionth() {
        for level in [1, 2, 99_999_999, 150_000_000, 199_999_998] {
            let found = farthest(200_000_000, 1, |price| price > level);
            assert!(found > level && found - level <= 200, "{level}: {found}");
        }
        for level in [200_000_001, 200_000_002, 300_000_000, i64::MAX - 1] {
            let found = farthest(200_000_000, i64::MAX, |price| price < level);
            assert!(found < level && level - found <= 200, "{level}: {found}");
        }
    }

    #[test]
    fn change_next_to_the_start_is_found() {
        assert_eq!(farthest(5, 1, |price| price >= 5), 5);
        assert_eq!(farthest(5, 9, |price| price <= 5), 5);
    }
}
