//! The one-time closures and early closes since 1998, which no rule covers.
//!
//! A later closure is added here once the exchange announces it. Until a release contains it, the operator adds it
//! with [`with_extra_closures`](super::Calendar::with_extra_closures).

use jiff::civil::{Date, date};

const SEPTEMBER_11_ATTACKS: &str = "the attacks of September 11";
const HURRICANE_SANDY: &str = "Hurricane Sandy";

/// The days without a session, each with its reason, in order.
const CLOSURES: [(Date, &str); 10] = [
    (date(2001, 9, 11), SEPTEMBER_11_ATTACKS),
    (date(2001, 9, 12), SEPTEMBER_11_ATTACKS),
    (date(2001, 9, 13), SEPTEMBER_11_ATTACKS),
    (date(2001, 9, 14), SEPTEMBER_11_ATTACKS),
    (date(2004, 6, 11), "the national day of mourning for Ronald Reagan"),
    (date(2007, 1, 2), "the national day of mourning for Gerald Ford"),
    (date(2012, 10, 29), HURRICANE_SANDY),
    (date(2012, 10, 30), HURRICANE_SANDY),
    (date(2018, 12, 5), "the national day of mourning for George H. W. Bush"),
    (date(2025, 1, 9), "the national day of mourning for Jimmy Carter"),
];

/// The sessions that ended at 13:00 once: the last before the year 2000, and the day after a Thursday Christmas.
const EARLY_CLOSES: [Date; 2] = [date(1999, 12, 31), date(2003, 12, 26)];

/// Returns the reason of a one-time closure on `date`.
pub(super) fn closure(date: Date) -> Option<&'static str> {
    let place = CLOSURES.binary_search_by_key(&date, |&(closed, _)| closed).ok()?;
    CLOSURES.get(place).map(|&(_, reason)| reason)
}

/// Whether the session on `date` had a one-time early close at 13:00.
pub(super) fn closes_early(date: Date) -> bool {
    EARLY_CLOSES.contains(&date)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::rules;

    #[test]
    fn closures_are_sorted() {
        assert!(CLOSURES.is_sorted_by(|(earlier, _), (later, _)| earlier < later));
    }

    #[test]
    fn special_days_are_not_covered_by_rules() {
        for day in CLOSURES.map(|(day, _)| day).into_iter().chain(EARLY_CLOSES) {
            assert!(!rules::is_weekend(day) && rules::holiday(day).is_none(), "{day}");
        }
    }
}
