//! The days since 1998 that no rule gives: closed once, or closed early once.
//!
//! A later one is added here when the exchange announces it; until a release has it, the operator
//! names it with [`with_extra_closures`](super::Calendar::with_extra_closures).

use jiff::civil::{Date, date};

const ATTACKS: &str = "the attacks of September 11";
const SANDY: &str = "Hurricane Sandy";

/// The days without a session, each with its reason, in order.
const CLOSURES: [(Date, &str); 10] = [
    (date(2001, 9, 11), ATTACKS),
    (date(2001, 9, 12), ATTACKS),
    (date(2001, 9, 13), ATTACKS),
    (date(2001, 9, 14), ATTACKS),
    (date(2004, 6, 11), "the national day of mourning for Ronald Reagan"),
    (date(2007, 1, 2), "the national day of mourning for Gerald Ford"),
    (date(2012, 10, 29), SANDY),
    (date(2012, 10, 30), SANDY),
    (date(2018, 12, 5), "the national day of mourning for George H. W. Bush"),
    (date(2025, 1, 9), "the national day of mourning for Jimmy Carter"),
];

/// The sessions that ended at 13:00: the last before the year 2000, and the day after a Thursday
/// Christmas.
const EARLY_CLOSES: [Date; 2] = [date(1999, 12, 31), date(2003, 12, 26)];

/// Why there was no session on `date`, when it was a closure of its own.
pub(super) fn closure(date: Date) -> Option<&'static str> {
    let place = CLOSURES.binary_search_by_key(&date, |&(closed, _)| closed).ok()?;
    CLOSURES.get(place).map(|&(_, reason)| reason)
}

/// Whether the session on `date` ended at 13:00 for once.
pub(super) fn closes_early(date: Date) -> bool {
    EARLY_CLOSES.contains(&date)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::rules;

    #[test]
    fn the_closures_stand_in_order() {
        assert!(CLOSURES.is_sorted_by(|(earlier, _), (later, _)| earlier < later));
    }

    #[test]
    fn no_special_day_is_one_that_a_rule_closes_anyway() {
        for day in CLOSURES.map(|(day, _)| day).into_iter().chain(EARLY_CLOSES) {
            assert!(!rules::is_weekend(day) && rules::holiday(day).is_none(), "{day}");
        }
    }
}
