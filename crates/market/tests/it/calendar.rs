//! Edge cases of the calendar: the seconds around open and close, daylight saving changes, the always-open calendar,
//! extra closures, and years beyond published lists.

use jiff::civil::{Date, date};
use jiff::{Timestamp, ToSpan};
use market::calendar::{Calendar, Closure, Holiday, Session, new_york};

const SATURDAY: Date = date(2024, 7, 6);
const FRIDAY: Date = date(2024, 7, 5);
const MONDAY: Date = date(2024, 7, 8);

fn nyse() -> Calendar {
    Calendar::nyse()
}

fn instant(text: &str) -> Timestamp {
    text.parse().expect("an instant that the test wrote")
}

fn session_date(session: Option<Session>) -> Option<Date> {
    session.map(|session| session.date)
}

#[test]
fn session_includes_its_open_and_close_exactly() {
    for (at, open) in [
        ("2024-07-05T13:29:59Z", false),
        ("2024-07-05T13:29:59.999999999Z", false),
        ("2024-07-05T13:30:00Z", true),
        ("2024-07-05T13:30:01Z", true),
        ("2024-07-05T19:59:59Z", true),
        ("2024-07-05T20:00:00Z", true),
        ("2024-07-05T20:00:00.000000001Z", false),
        ("2024-07-05T20:00:01Z", false),
    ] {
        assert_eq!(
            session_date(nyse().session_at(instant(at))),
            open.then_some(FRIDAY),
            "{at}"
        );
    }
}

#[test]
fn early_close_ends_the_session_at_13_00() {
    let day = date(2024, 7, 3);
    let session = nyse().session(day).unwrap();
    assert_eq!(session.open, instant("2024-07-03T13:30:00Z"));
    assert_eq!(session.close, instant("2024-07-03T17:00:00Z"));
    assert!(session.early_close);
    assert_eq!(nyse().session_at(instant("2024-07-03T17:00:00Z")), Some(session));
    assert_eq!(nyse().session_at(instant("2024-07-03T17:00:01Z")), None);
    assert_eq!(nyse().session_at(instant("2024-07-03T19:59:00Z")), None);
}

#[test]
fn open_stays_at_09_30_in_new_york_across_clock_changes() {
    for (day, open, close) in [
        (date(2024, 3, 8), "2024-03-08T14:30:00Z", "2024-03-08T21:00:00Z"),
        (date(2024, 3, 11), "2024-03-11T13:30:00Z", "2024-03-11T20:00:00Z"),
        (date(2024, 11, 1), "2024-11-01T13:30:00Z", "2024-11-01T20:00:00Z"),
        (date(2024, 11, 4), "2024-11-04T14:30:00Z", "2024-11-04T21:00:00Z"),
        (date(2055, 7, 1), "2055-07-01T13:30:00Z", "2055-07-01T20:00:00Z"),
        (date(2055, 12, 1), "2055-12-01T14:30:00Z", "2055-12-01T21:00:00Z"),
    ] {
        let session = nyse().session(day).unwrap();
        assert_eq!((session.open, session.close), (instant(open), instant(close)), "{day}");
        assert!(!session.early_close, "{day}");
    }
}

#[test]
fn new_year_on_a_saturday_closes_no_weekday() {
    assert!(nyse().session(date(2021, 12, 31)).is_some());
    assert_eq!(nyse().closure(date(2022, 1, 1)), Some(Closure::Weekend));
    assert!(nyse().session(date(2022, 1, 3)).is_some());
    assert_eq!(
        nyse().closure(date(2023, 1, 2)),
        Some(Closure::Holiday(Holiday::NewYearsDay))
    );
}

#[test]
fn every_closure_has_a_reason() {
    let added = date(2027, 3, 3);
    let calendar = nyse().with_extra_closures([added]);
    for (day, reason) in [
        (SATURDAY, "the weekend"),
        (date(2024, 11, 28), "Thanksgiving Day"),
        (date(2026, 7, 3), "Independence Day"),
        (date(2001, 9, 13), "the attacks of September 11"),
        (date(2012, 10, 30), "Hurricane Sandy"),
        (date(2025, 1, 9), "the national day of mourning for Jimmy Carter"),
        (added, "a closure that was added to the calendar"),
    ] {
        assert_eq!(
            calendar.closure(day).map(|why| why.to_string()).as_deref(),
            Some(reason)
        );
        assert_eq!(calendar.session(day), None, "{day}");
        assert_eq!(calendar.session_at(new_york(day, 12, 0)), None, "{day}");
    }
    assert_eq!(calendar.closure(FRIDAY), None);
}

#[test]
fn extra_closure_closes_only_its_day() {
    let calendar = nyse()
        .with_extra_closures([FRIDAY])
        .with_extra_closures([MONDAY, SATURDAY]);
    assert_eq!(calendar.closure(FRIDAY), Some(Closure::Extra));
    assert_eq!(calendar.closure(SATURDAY), Some(Closure::Weekend));
    let thursday = date(2024, 7, 4);
    assert_eq!(
        session_date(calendar.next_session_after(thursday)),
        Some(date(2024, 7, 9))
    );
    assert_eq!(
        session_date(calendar.previous_session_before(MONDAY)),
        Some(date(2024, 7, 3))
    );
    assert_eq!(session_date(nyse().next_session_after(thursday)), Some(FRIDAY));
}

#[test]
fn neighbouring_sessions_skip_closed_days() {
    let calendar = nyse();
    assert_eq!(session_date(calendar.next_session_after(FRIDAY)), Some(MONDAY));
    assert_eq!(session_date(calendar.next_session_after(SATURDAY)), Some(MONDAY));
    assert_eq!(session_date(calendar.previous_session_before(MONDAY)), Some(FRIDAY));
    assert_eq!(
        session_date(calendar.next_session_after(date(2001, 9, 10))),
        Some(date(2001, 9, 17))
    );
    assert_eq!(
        session_date(calendar.previous_session_before(date(2001, 9, 17))),
        Some(date(2001, 9, 10))
    );
}

#[test]
fn sessions_include_both_ends() {
    let dates = |from, to| nyse().sessions(from, to).map(|s| s.date).collect::<Vec<_>>();
    let expected = [date(2024, 7, 3), FRIDAY, MONDAY];
    assert_eq!(dates(date(2024, 7, 3), MONDAY), expected);
    assert_eq!(dates(FRIDAY, FRIDAY), [FRIDAY]);
    assert_eq!(dates(SATURDAY, SATURDAY), []);
    assert_eq!(dates(MONDAY, FRIDAY), []);
}

#[test]
fn next_open_and_close_are_strictly_later() {
    let calendar = nyse();
    let (open, close) = (instant("2024-07-05T13:30:00Z"), instant("2024-07-05T20:00:00Z"));
    let (monday_open, monday_close) = (instant("2024-07-08T13:30:00Z"), instant("2024-07-08T20:00:00Z"));
    assert_eq!(calendar.next_open(open - 1.nanosecond()), Some(open));
    assert_eq!(calendar.next_open(open), Some(monday_open));
    assert_eq!(calendar.next_close(open), Some(close));
    assert_eq!(calendar.next_close(close - 1.nanosecond()), Some(close));
    assert_eq!(calendar.next_close(close), Some(monday_close));
    // Late on Friday in New York it is already Saturday in London.
    assert_eq!(calendar.next_open(instant("2024-07-06T03:00:00Z")), Some(monday_open));
}

#[test]
fn always_open_calendar_has_a_session_on_saturday() {
    let calendar = nyse().always_open();
    assert!(calendar.is_always_open() && !nyse().is_always_open());
    let saturday = calendar.session(SATURDAY).unwrap();
    assert_eq!(saturday.open, instant("2024-07-06T13:30:00Z"));
    assert_eq!(saturday.close, instant("2024-07-06T20:00:00Z"));
    assert!(!saturday.early_close);
    for at in ["2024-07-06T04:00:00Z", "2024-07-06T15:00:00Z", "2024-07-07T03:59:59Z"] {
        assert_eq!(calendar.session_at(instant(at)), Some(saturday), "{at}");
    }
    assert_eq!(session_date(calendar.next_session_after(FRIDAY)), Some(SATURDAY));
    assert_eq!(
        session_date(calendar.previous_session_before(MONDAY)),
        Some(date(2024, 7, 7))
    );
    assert_eq!(calendar.next_open(instant("2024-07-05T20:00:00Z")), Some(saturday.open));
    assert_eq!(calendar.next_close(saturday.open), Some(saturday.close));
    assert_eq!(calendar.sessions(date(2024, 1, 1), date(2024, 12, 31)).count(), 366);
}

#[test]
fn always_open_calendar_keeps_early_closes_and_closures() {
    let calendar = nyse().with_extra_closures([FRIDAY]).always_open();
    let early = calendar.session(date(2024, 7, 3)).unwrap();
    assert!(early.early_close);
    assert_eq!(early.close, instant("2024-07-03T17:00:00Z"));
    assert_eq!(calendar.session_at(instant("2024-07-03T19:00:00Z")), Some(early));
    assert_eq!(calendar.closure(FRIDAY), Some(Closure::Extra));
    assert_eq!(session_date(calendar.session(FRIDAY)), Some(FRIDAY));
}

#[test]
fn daily_evaluation_time_is_09_30_in_new_york() {
    for calendar in [nyse(), nyse().always_open()] {
        assert_eq!(
            calendar.daily_evaluation_time(FRIDAY),
            nyse().session(FRIDAY).unwrap().open
        );
        assert_eq!(
            calendar.daily_evaluation_time(SATURDAY),
            instant("2024-07-06T13:30:00Z")
        );
        assert_eq!(
            calendar.daily_evaluation_time(date(2024, 12, 25)),
            instant("2024-12-25T14:30:00Z")
        );
        assert_eq!(
            calendar.daily_evaluation_time(date(2024, 3, 10)),
            instant("2024-03-10T13:30:00Z")
        );
        assert_eq!(
            calendar.daily_evaluation_time(date(2024, 11, 3)),
            instant("2024-11-03T14:30:00Z")
        );
    }
}

#[test]
fn ends_of_representable_time_do_not_panic() {
    for calendar in [nyse(), nyse().always_open()] {
        assert_eq!(calendar.next_session_after(Date::MAX), None);
        assert_eq!(calendar.previous_session_before(Date::MIN), None);
        assert_eq!(calendar.session(Date::MAX), None);
        assert_eq!(calendar.session(Date::MIN), None);
        assert_eq!(calendar.next_open(Timestamp::MAX), None);
        assert_eq!(calendar.next_close(Timestamp::MAX), None);
        assert!(calendar.next_open(Timestamp::MIN).is_some());
        for at in [Timestamp::MIN, Timestamp::MAX] {
            let _ = calendar.session_at(at);
        }
    }
}
