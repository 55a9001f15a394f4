//! The calendar against the exchange's published holidays and early closes of whole years.

use jiff::civil::{Date, date};
use market::calendar::{Calendar, Closure, Holiday};

/// The published days of one year.
struct Year {
    year: i16,
    /// Month and day of every weekday without a session, in order.
    closed: &'static [(i8, i8, Closure)],
    /// Month and day of every session that ends at 13:00, in order.
    early: &'static [(i8, i8)],
}

const NEW_YEAR: Closure = Closure::Holiday(Holiday::NewYearsDay);
const KING: Closure = Closure::Holiday(Holiday::MartinLutherKingDay);
const WASHINGTON: Closure = Closure::Holiday(Holiday::WashingtonsBirthday);
const GOOD_FRIDAY: Closure = Closure::Holiday(Holiday::GoodFriday);
const MEMORIAL: Closure = Closure::Holiday(Holiday::MemorialDay);
const JUNETEENTH: Closure = Closure::Holiday(Holiday::Juneteenth);
const INDEPENDENCE: Closure = Closure::Holiday(Holiday::IndependenceDay);
const LABOR: Closure = Closure::Holiday(Holiday::LaborDay);
const THANKSGIVING: Closure = Closure::Holiday(Holiday::Thanksgiving);
const CHRISTMAS: Closure = Closure::Holiday(Holiday::Christmas);
const CARTER: Closure = Closure::Special("the national day of mourning for Jimmy Carter");

const YEARS: [Year; 4] = [
    Year {
        year: 2024,
        closed: &[
            (1, 1, NEW_YEAR),
            (1, 15, KING),
            (2, 19, WASHINGTON),
            (3, 29, GOOD_FRIDAY),
            (5, 27, MEMORIAL),
            (6, 19, JUNETEENTH),
            (7, 4, INDEPENDENCE),
            (9, 2, LABOR),
            (11, 28, THANKSGIVING),
            (12, 25, CHRISTMAS),
        ],
        early: &[(7, 3), (11, 29), (12, 24)],
    },
    Year {
        year: 2025,
        closed: &[
            (1, 1, NEW_YEAR),
            (1, 9, CARTER),
            (1, 20, KING),
            (2, 17, WASHINGTON),
            (4, 18, GOOD_FRIDAY),
            (5, 26, MEMORIAL),
            (6, 19, JUNETEENTH),
            (7, 4, INDEPENDENCE),
            (9, 1, LABOR),
            (11, 27, THANKSGIVING),
            (12, 25, CHRISTMAS),
        ],
        early: &[(7, 3), (11, 28), (12, 24)],
    },
    Year {
        year: 2026,
        closed: &[
            (1, 1, NEW_YEAR),
            (1, 19, KING),
            (2, 16, WASHINGTON),
            (4, 3, GOOD_FRIDAY),
            (5, 25, MEMORIAL),
            (6, 19, JUNETEENTH),
            (7, 3, INDEPENDENCE),
            (9, 7, LABOR),
            (11, 26, THANKSGIVING),
            (12, 25, CHRISTMAS),
        ],
        early: &[(11, 27), (12, 24)],
    },
    Year {
        year: 2027,
        closed: &[
            (1, 1, NEW_YEAR),
            (1, 18, KING),
            (2, 15, WASHINGTON),
            (3, 26, GOOD_FRIDAY),
            (5, 31, MEMORIAL),
            (6, 18, JUNETEENTH),
            (7, 5, INDEPENDENCE),
            (9, 6, LABOR),
            (11, 25, THANKSGIVING),
            (12, 24, CHRISTMAS),
        ],
        early: &[(11, 26)],
    },
];

fn dates_of(year: i16) -> impl Iterator<Item = Date> {
    date(year, 1, 1)
        .series(jiff::Span::new().days(1))
        .take_while(move |day| day.year() == year)
}

#[test]
fn closures_match_the_published_years() {
    let calendar = Calendar::nyse();
    for Year { year, closed, .. } in &YEARS {
        let found: Vec<(i8, i8, Closure)> = dates_of(*year)
            .filter_map(|day| Some((day.month(), day.day(), calendar.closure(day)?)))
            .filter(|&(_, _, why)| why != Closure::Weekend)
            .collect();
        assert_eq!(&found, closed, "{year}");
    }
}

#[test]
fn early_closes_match_the_published_years() {
    let calendar = Calendar::nyse();
    for Year { year, early, .. } in &YEARS {
        let found: Vec<(i8, i8)> = calendar
            .sessions(date(*year, 1, 1), date(*year, 12, 31))
            .filter(|session| session.early_close)
            .map(|session| (session.date.month(), session.date.day()))
            .collect();
        assert_eq!(&found, early, "{year}");
    }
}

#[test]
fn closures_and_early_closes_of_1998_and_1999_match() {
    let calendar = Calendar::nyse();
    let closed: Vec<Date> = dates_of(1998)
        .chain(dates_of(1999))
        .filter(|&day| calendar.closure(day).is_some_and(|why| why != Closure::Weekend))
        .collect();
    let expected = [
        date(1998, 1, 1),
        date(1998, 1, 19),
        date(1998, 2, 16),
        date(1998, 4, 10),
        date(1998, 5, 25),
        date(1998, 7, 3),
        date(1998, 9, 7),
        date(1998, 11, 26),
        date(1998, 12, 25),
        date(1999, 1, 1),
        date(1999, 1, 18),
        date(1999, 2, 15),
        date(1999, 4, 2),
        date(1999, 5, 31),
        date(1999, 7, 5),
        date(1999, 9, 6),
        date(1999, 11, 25),
        date(1999, 12, 24),
    ];
    assert_eq!(closed, expected);
    let early: Vec<Date> = calendar
        .sessions(date(1998, 1, 1), date(1999, 12, 31))
        .filter(|session| session.early_close)
        .map(|session| session.date)
        .collect();
    let expected = [
        date(1998, 11, 27),
        date(1998, 12, 24),
        date(1999, 11, 26),
        date(1999, 12, 31),
    ];
    assert_eq!(early, expected);
}

#[test]
fn rules_hold_for_years_without_published_lists() {
    let calendar = Calendar::nyse();
    for (day, why) in [
        (date(2038, 4, 23), GOOD_FRIDAY),
        (date(2040, 3, 30), GOOD_FRIDAY),
        (date(2040, 1, 2), NEW_YEAR),
        (date(2040, 1, 16), KING),
        (date(2040, 6, 19), JUNETEENTH),
        (date(2040, 7, 4), INDEPENDENCE),
        (date(2040, 11, 22), THANKSGIVING),
        (date(2040, 12, 25), CHRISTMAS),
        (date(2100, 3, 26), GOOD_FRIDAY),
    ] {
        assert_eq!(calendar.closure(day), Some(why), "{day}");
    }
    let early: Vec<Date> = calendar
        .sessions(date(2040, 1, 1), date(2040, 12, 31))
        .filter(|session| session.early_close)
        .map(|session| session.date)
        .collect();
    assert_eq!(early, [date(2040, 7, 3), date(2040, 11, 23), date(2040, 12, 24)]);
}
