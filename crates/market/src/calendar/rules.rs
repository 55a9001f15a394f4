//! The yearly rules: holidays and days with an early close.
//!
//! Each rule selects its dates by month, day and weekday, so it needs no table of years and holds for future years. A
//! rule that began or ended names its year. They are the exchange's rules from 1998 on. For earlier years the rules
//! that already existed apply, which is a close but incomplete approximation.

use std::fmt;

use jiff::civil::{Date, Weekday};

use super::special;

/// A holiday on which the exchange is closed every year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Holiday {
    /// January 1st; if that is a Sunday, the Monday after; if it is a Saturday, no day is observed.
    NewYearsDay,
    /// The third Monday in January, since 1998.
    MartinLutherKingDay,
    /// The third Monday in February.
    WashingtonsBirthday,
    /// The Friday before Easter.
    GoodFriday,
    /// The last Monday in May.
    MemorialDay,
    /// June 19th, since 2022; moved from a weekend to the nearer weekday.
    Juneteenth,
    /// July 4th; moved from a weekend to the nearer weekday.
    IndependenceDay,
    /// The first Monday in September.
    LaborDay,
    /// The fourth Thursday in November.
    Thanksgiving,
    /// December 25th; moved from a weekend to the nearer weekday.
    Christmas,
}

impl Holiday {
    /// The holiday's name as the exchange writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NewYearsDay => "New Year's Day",
            Self::MartinLutherKingDay => "Martin Luther King, Jr. Day",
            Self::WashingtonsBirthday => "Washington's Birthday",
            Self::GoodFriday => "Good Friday",
            Self::MemorialDay => "Memorial Day",
            Self::Juneteenth => "Juneteenth National Independence Day",
            Self::IndependenceDay => "Independence Day",
            Self::LaborDay => "Labor Day",
            Self::Thanksgiving => "Thanksgiving Day",
            Self::Christmas => "Christmas Day",
        }
    }
}

impl fmt::Display for Holiday {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Whether `date` is a Saturday or a Sunday.
pub(super) fn is_weekend(date: Date) -> bool {
    matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday)
}

/// Returns the holiday for which the exchange is closed on `date`, a day from Monday to Friday.
pub(super) fn holiday(date: Date) -> Option<Holiday> {
    use Weekday::{Friday, Monday, Thursday};

    let year = date.year();
    // A fixed holiday is observed on its own date, on the Friday before a Saturday, and on the Monday after a Sunday.
    // The day of the month gives a Monday's number among the month's Mondays: the third is the one from the 15th to
    // the 21st.
    match (date.month(), date.day(), date.weekday()) {
        (1, 1, _) | (1, 2, Monday) => Some(Holiday::NewYearsDay),
        (1, 15..=21, Monday) if year >= 1998 => Some(Holiday::MartinLutherKingDay),
        (2, 15..=21, Monday) => Some(Holiday::WashingtonsBirthday),
        (3 | 4, _, Friday) if is_good_friday(date) => Some(Holiday::GoodFriday),
        (5, 25..=31, Monday) => Some(Holiday::MemorialDay),
        (6, 18, Friday) | (6, 19, _) | (6, 20, Monday) if year >= 2022 => Some(Holiday::Juneteenth),
        (7, 3, Friday) | (7, 4, _) | (7, 5, Monday) => Some(Holiday::IndependenceDay),
        (9, 1..=7, Monday) => Some(Holiday::LaborDay),
        (11, 22..=28, Thursday) => Some(Holiday::Thanksgiving),
        (12, 24, Friday) | (12, 25, _) | (12, 26, Monday) => Some(Holiday::Christmas),
        _ => None,
    }
}

/// Whether the session on `date`, a day on which the exchange is open, ends at 13:00.
pub(super) fn closes_early(date: Date) -> bool {
    use Weekday::{Friday, Monday, Thursday, Tuesday, Wednesday};

    match (date.month(), date.day(), date.weekday()) {
        // Before Independence Day. If that was a Thursday, the early close used to be on the Friday after.
        (7, 3, Monday | Tuesday | Thursday) => true,
        (7, 3, Wednesday) => date.year() >= 2013,
        (7, 5, Friday) => date.year() < 2013,
        // After Thanksgiving.
        (11, 23..=29, Friday) => true,
        // Christmas Eve.
        (12, 24, Monday | Tuesday | Wednesday | Thursday) => true,
        _ => special::closes_early(date),
    }
}

/// Whether `date`, in March or April, is two days before Easter.
fn is_good_friday(date: Date) -> bool {
    let day_of_march = i16::from(date.day()) + if date.month() == 4 { 31 } else { 0 };
    day_of_march == easter(date.year()) - 2
}

/// Easter Sunday as a day of March: 22 is March 22nd, 32 is April 1st.
///
/// This is the Gregorian computus in the form given by Meeus: the full moon after the equinox follows from the year's
/// place in the 19-year lunar cycle and the corrections for the centuries; Easter is the Sunday after it.
fn easter(year: i16) -> i16 {
    let place_in_cycle = year.rem_euclid(19);
    let (century, of_century) = (year.div_euclid(100), year.rem_euclid(100));
    let moon_correction = (century - (century + 8).div_euclid(25) + 1).div_euclid(3);
    let full_moon = (19 * place_in_cycle + century - century.div_euclid(4) - moon_correction + 15).rem_euclid(30);
    let to_sunday = (32 + 2 * century.rem_euclid(4) + 2 * (of_century / 4) - full_moon - of_century % 4).rem_euclid(7);
    // Two late full moons count a day early; if that day is the Sunday, this is the surplus week.
    let week_too_late = (place_in_cycle + 11 * full_moon + 22 * to_sunday) / 451;
    22 + full_moon + to_sunday - 7 * week_too_late
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn easter_matches_almanacs() {
        for (year, month, day) in [
            (1818, 3, 22), // the earliest there can be
            (1943, 4, 25), // the latest there can be
            (1954, 4, 18), // the full moon that the correction moves
            (1981, 4, 19), // the other full moon that it moves
            (2000, 4, 23),
            (2008, 3, 23),
            (2024, 3, 31),
            (2025, 4, 20),
            (2038, 4, 25),
            (2040, 4, 1),
            (2100, 3, 28),
            (2285, 3, 22),
        ] {
            let day_of_march = if month == 4 { day + 31 } else { day };
            assert_eq!(easter(year), day_of_march, "{year}");
        }
    }

    #[test]
    fn easter_is_always_a_sunday_between_march_22_and_april_25() {
        for year in Date::MIN.year()..=Date::MAX.year() {
            let day_of_march = easter(year);
            assert!((22..=56).contains(&day_of_march), "{year}");
            let sunday = date(year, 3, 1) + jiff::Span::new().days(day_of_march - 1);
            assert_eq!(sunday.weekday(), Weekday::Sunday, "{year}");
        }
    }

    #[test]
    fn martin_luther_king_day_starts_in_1998_and_juneteenth_in_2022() {
        assert_eq!(holiday(date(1997, 1, 20)), None);
        assert_eq!(holiday(date(1998, 1, 19)), Some(Holiday::MartinLutherKingDay));
        assert_eq!(holiday(date(2021, 6, 18)), None);
        assert_eq!(holiday(date(2022, 6, 20)), Some(Holiday::Juneteenth));
    }

    #[test]
    fn fixed_holiday_on_a_weekend_moves_to_the_nearer_weekday() {
        for (kept, expected) in [
            (date(2027, 6, 18), Holiday::Juneteenth),
            (date(2022, 6, 20), Holiday::Juneteenth),
            (date(2020, 7, 3), Holiday::IndependenceDay),
            (date(2021, 7, 5), Holiday::IndependenceDay),
            (date(2021, 12, 24), Holiday::Christmas),
            (date(2022, 12, 26), Holiday::Christmas),
            (date(2023, 1, 2), Holiday::NewYearsDay),
        ] {
            assert_eq!(holiday(kept), Some(expected), "{kept}");
        }
    }

    #[test]
    fn early_close_around_a_thursday_independence_day_moved_in_2013() {
        assert!(!closes_early(date(2002, 7, 3)) && closes_early(date(2002, 7, 5)));
        assert!(closes_early(date(2013, 7, 3)) && !closes_early(date(2013, 7, 5)));
        assert!(closes_early(date(2019, 7, 3)) && !closes_early(date(2019, 7, 5)));
    }

    #[test]
    fn day_before_a_moved_holiday_is_a_full_day() {
        for full in [
            date(2020, 7, 2),
            date(2021, 7, 2),
            date(2021, 12, 23),
            date(2022, 12, 23),
        ] {
            assert!(!closes_early(full), "{full}");
        }
    }
}
