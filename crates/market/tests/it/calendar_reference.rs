//! The calendar against reference lists of every session, holiday and early close from 2000 to 2030.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::{Date, date};
use market::calendar::{Calendar, Closure, Holiday, Session};
use testdata::TestMarketData;

const FIRST: Date = date(2000, 1, 1);
const LAST: Date = date(2030, 12, 31);

/// Splits the rows below a list's header into fields. None of the lists has quoted fields.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().skip(1).map(|line| line.split(',').collect())
}

/// Parses a list with the columns date, open, close and early close.
fn sessions(text: &str) -> Vec<Session> {
    let session = |fields: Vec<&str>| Session {
        date: fields[0].parse().expect("a date"),
        open: fields[1].parse::<Timestamp>().expect("an open"),
        close: fields[2].parse::<Timestamp>().expect("a close"),
        early_close: fields[3] == "1",
    };
    rows(text).map(session).collect()
}

#[test]
fn sessions_match_the_reference() {
    let text = TestMarketData::find().text("reference/nyse_sessions_2000_2030.csv.gz");

    let by_date = |list: Vec<Session>| -> BTreeMap<Date, Session> {
        list.into_iter().map(|session| (session.date, session)).collect()
    };
    let expected = by_date(sessions(&text));
    assert_eq!(expected.len(), 7_794);
    let calendar = Calendar::nyse();
    let found = by_date(calendar.sessions(FIRST, LAST).collect());

    let missing: Vec<_> = expected.keys().filter(|day| !found.contains_key(day)).collect();
    let surplus: Vec<_> = found.keys().filter(|day| !expected.contains_key(day)).collect();
    assert!(
        missing.is_empty() && surplus.is_empty(),
        "missing {missing:?}, surplus {surplus:?}"
    );
    for (day, session) in &expected {
        assert_eq!(found.get(day), Some(session), "{day}");
        assert_eq!(calendar.session_at(session.open), Some(*session), "{day}");
        assert_eq!(calendar.session_at(session.close), Some(*session), "{day}");
    }
}

#[test]
fn early_closes_match_the_reference() {
    let text = TestMarketData::find().text("reference/nyse_early_closes_2000_2030.csv");
    let found: Vec<Session> = Calendar::nyse()
        .sessions(FIRST, LAST)
        .filter(|session| session.early_close)
        .collect();
    assert_eq!(found, sessions(&text));
}

#[test]
fn holidays_match_the_reference() {
    let text = TestMarketData::find().text("reference/nyse_holidays_2000_2030.csv");
    let expected: Vec<(Date, String)> = rows(&text)
        .map(|row| (row[0].parse().unwrap(), row[2].trim().to_owned()))
        .collect();

    let calendar = Calendar::nyse();
    let found: Vec<(Date, String)> = FIRST
        .series(jiff::Span::new().days(1))
        .take_while(|&day| day <= LAST)
        .filter_map(|day| Some((day, reference_name(calendar.closure(day)?)?.to_owned())))
        .collect();
    assert_eq!(found, expected);
}

/// The name of a closure in the reference, which does not list weekends.
fn reference_name(closure: Closure) -> Option<&'static str> {
    Some(match closure {
        Closure::Weekend => return None,
        Closure::Special(_) | Closure::Extra => "AD HOC:",
        Closure::Holiday(holiday) => match holiday {
            Holiday::MartinLutherKingDay => "Dr. Martin Luther King Jr. Day",
            Holiday::WashingtonsBirthday => "President's Day",
            Holiday::IndependenceDay => "July 4th",
            Holiday::Thanksgiving => "Thanksgiving",
            Holiday::Christmas => "Christmas",
            named => named.name(),
        },
    })
}
