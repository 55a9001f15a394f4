//! The calendar under random instants and random extra closures.

use jiff::civil::{Date, date};
use jiff::{Span, Timestamp, ToSpan};
use market::calendar::{Calendar, Session, new_york, new_york_date};
use proptest::prelude::*;

fn days() -> impl Strategy<Value = Date> {
    // From 1998-01-01, for about ninety years.
    (0..33_000_i64).prop_map(|days| date(1998, 1, 1) + days.days())
}

/// Instants at any hour, half of them within two seconds of an open, a close or a midnight.
fn instants() -> impl Strategy<Value = Timestamp> {
    let edges = prop::sample::select(vec![(0, 0), (9, 30), (13, 0), (16, 0)]);
    let at_an_edge = (days(), edges, -2_000_i64..=2_000)
        .prop_map(|(day, (hour, minute), millis)| new_york(day, hour, minute) + Span::new().milliseconds(millis));
    let anywhere =
        (days(), 0..86_400_i64).prop_map(|(day, seconds)| new_york(day, 0, 0) + Span::new().seconds(seconds));
    prop_oneof![at_an_edge, anywhere]
}

/// The exchange's calendar, with up to four extra closures near `day`.
fn calendar_with_closures(day: Date, offsets: &[i64]) -> Calendar {
    Calendar::nyse().with_extra_closures(offsets.iter().map(|&offset| day + offset.days()))
}

proptest! {
    #[test]
    fn session_at_agrees_with_a_scan_of_the_days_around(
        at in instants(),
        closed in prop::collection::vec(-3..=3_i64, 0..5),
    ) {
        let day = at.to_zoned(jiff::tz::TimeZone::UTC).date();
        let calendar = calendar_with_closures(day, &closed);
        let scanned = (-2..=2_i64)
            .filter_map(|offset| calendar.session(day + offset.days()))
            .find(|session| session.open <= at && at <= session.close);
        prop_assert_eq!(calendar.session_at(at), scanned);
    }

    #[test]
    fn always_open_calendar_has_a_session_at_every_instant(at in instants()) {
        let calendar = Calendar::nyse().always_open();
        let session = calendar.session_at(at);
        prop_assert_eq!(session.map(|session| session.date), Some(new_york_date(at)));
        prop_assert_eq!(session, calendar.session(new_york_date(at)));
    }

    #[test]
    fn instant_is_between_the_midnights_of_its_new_york_date(at in instants()) {
        let day = new_york_date(at);
        prop_assert!(new_york(day, 0, 0) <= at);
        prop_assert!(at < new_york(day + 1.day(), 0, 0));
    }

    #[test]
    fn day_has_either_a_session_or_a_closure(
        day in days(),
        closed in prop::collection::vec(-3..=3_i64, 0..5),
    ) {
        let calendar = calendar_with_closures(day, &closed);
        match calendar.session(day) {
            None => prop_assert!(calendar.closure(day).is_some()),
            Some(session) => {
                prop_assert_eq!(calendar.closure(day), None);
                prop_assert_eq!(session.date, day);
                prop_assert_eq!(session.open, new_york(day, 9, 30));
                let hour = if session.early_close { 13 } else { 16 };
                prop_assert_eq!(session.close, new_york(day, hour, 0));
            }
        }
    }

    #[test]
    fn next_and_previous_session_are_consistent(day in days()) {
        let calendar = Calendar::nyse();
        let next = calendar.next_session_after(day).expect("a session to come");
        let previous = calendar.previous_session_before(next.date).expect("a session that was");
        prop_assert!(previous.date <= day && day < next.date);
        prop_assert_eq!(calendar.next_session_after(previous.date), Some(next));
        prop_assert_eq!(calendar.sessions(previous.date, next.date).count(), 2);
    }

    #[test]
    fn next_open_and_close_skip_none(at in instants()) {
        let calendar = Calendar::nyse();
        let near: Vec<Session> = (-2..=10_i64)
            .filter_map(|offset| calendar.session(new_york_date(at) + offset.days()))
            .collect();
        let opens = near.iter().map(|session| session.open).find(|&open| open > at);
        let closes = near.iter().map(|session| session.close).find(|&close| close > at);
        prop_assert_eq!(calendar.next_open(at), opens);
        prop_assert_eq!(calendar.next_close(at), closes);
    }
}
