//! Dates as day numbers.

use jiff::civil::Date;

/// Returns the number of days from 1970-01-01 to `date`, so that differences of dates are subtractions.
///
/// Source: Howard Hinnant, "chrono-compatible low-level date algorithms", `days_from_civil`.
#[must_use]
pub fn day_number(date: Date) -> i32 {
    let (month, day) = (i32::from(date.month()), i32::from(date.day()));
    let year = i32::from(date.year()) - i32::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use proptest::prelude::*;

    #[test]
    fn epoch_is_day_zero() {
        assert_eq!(day_number(date(1970, 1, 1)), 0);
        assert_eq!(day_number(date(2000, 3, 1)), 11_017);
    }

    proptest! {
        #[test]
        fn differences_of_day_numbers_are_differences_of_dates(days in -900_000_i64..900_000) {
            let epoch = date(1970, 1, 1);
            let other = epoch.checked_add(jiff::Span::new().days(days)).unwrap();
            prop_assert_eq!(i64::from(day_number(other)), days);
        }
    }
}
