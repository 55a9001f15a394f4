//! The day's return, convention by convention.

use paper::{DayReturn, Events, Tracker, TrackerError};
use uuid::Uuid;

use crate::week::{
    FRIDAY, MONDAY, NEXT_MONDAY, SATURDAY, THURSDAY, TUESDAY, WEDNESDAY, check, closed, day, dividend, events, follow,
    long, short, split, take,
};

const WEEK: [i8; 5] = [MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY];

#[test]
fn on_its_first_day_a_trade_goes_from_the_entry_price_to_the_close() {
    let closes = [(MONDAY, "KO", "51"), (TUESDAY, "KO", "52.02")];
    let trades = [long(1, "KO", MONDAY, (12, 0), "50")];
    check(&follow(&WEEK[..2], &trades, &closes, &Events::default()), &[0.02, 0.02]);
}

#[test]
fn a_short_gains_what_a_long_loses() {
    let closes = [(MONDAY, "KO", "49"), (TUESDAY, "KO", "53.9")];
    let trades = [short(1, "KO", MONDAY, (12, 0), "50")];
    check(&follow(&WEEK[..2], &trades, &closes, &Events::default()), &[0.02, -0.1]);
}

#[test]
fn trades_weigh_as_much_as_they_were_worth_at_the_close_before() {
    let closes = [
        (MONDAY, "KO", "75"),
        (MONDAY, "PEP", "20"),
        (TUESDAY, "KO", "90"),
        (TUESDAY, "PEP", "18"),
    ];
    let trades = [
        long(1, "KO", MONDAY, (12, 0), "50"),
        short(2, "PEP", MONDAY, (12, 0), "20"),
    ];
    // 1,000 and 1,000, then 1,500 and 1,000.
    check(
        &follow(&WEEK[..2], &trades, &closes, &Events::default()),
        &[0.25, (1500.0 * 0.2 + 1000.0 * 0.1) / 2500.0],
    );
}

#[test]
fn a_day_without_a_close_is_made_up_for_by_the_next() {
    let closes = [(MONDAY, "KO", "50"), (WEDNESDAY, "KO", "55")];
    let trades = [long(1, "KO", MONDAY, (12, 0), "50")];
    check(
        &follow(&WEEK[..3], &trades, &closes, &Events::default()),
        &[0.0, 0.0, 0.1],
    );
}

#[test]
fn an_entry_day_without_a_close_stands_at_the_entry_price() {
    let closes = [(TUESDAY, "KO", "55")];
    let trades = [long(1, "KO", MONDAY, (12, 0), "50")];
    check(&follow(&WEEK[..2], &trades, &closes, &Events::default()), &[0.0, 0.1]);
}

#[test]
fn a_split_on_a_day_without_a_close_changes_nothing() {
    let events = events(&[split("KO", TUESDAY, "1.253")], &[]);
    let closes = [(MONDAY, "KO", "0.01"), (WEDNESDAY, "KO", "0.01")];
    let trades = [long(1, "KO", MONDAY, (12, 0), "0.01")];
    check(&follow(&WEEK[..3], &trades, &closes, &events), &[0.0, 0.0, 0.253]);
}

#[test]
fn a_dividend_makes_up_for_the_fall_of_the_ex_date_for_longs_and_shorts() {
    let events = events(&[], &[dividend("KO", TUESDAY, "2")]);
    let closes = [(MONDAY, "KO", "50"), (TUESDAY, "KO", "48")];
    for trade in [
        long(1, "KO", MONDAY, (12, 0), "50"),
        short(1, "KO", MONDAY, (12, 0), "50"),
    ] {
        check(&follow(&WEEK[..2], &[trade], &closes, &events), &[0.0, 0.0]);
    }
    // Bought at yesterday's close before the open: with the dividend. Bought after the open: without.
    for (time, expected) in [((9, 0), 0.0), ((9, 30), -0.04)] {
        let trades = [long(1, "KO", TUESDAY, time, "50")];
        check(&follow(&WEEK[1..2], &trades, &closes, &events), &[expected]);
    }
}

#[test]
fn an_exit_during_the_day_ends_the_trade_at_its_price_and_the_close_no_longer_matters() {
    let closes = [(MONDAY, "KO", "50"), (TUESDAY, "KO", "10")];
    let trades = [closed(long(1, "KO", MONDAY, (12, 0), "50"), TUESDAY, (11, 0), "55")];
    check(
        &follow(&WEEK[..3], &trades, &closes, &Events::default()),
        &[0.0, 0.1, 0.0],
    );
}

#[test]
fn an_exit_overnight_belongs_to_the_next_session_and_gets_no_dividend_of_it() {
    let events = events(&[], &[dividend("KO", TUESDAY, "2")]);
    let closes = [(MONDAY, "KO", "50"), (TUESDAY, "KO", "10")];
    let trades = [closed(long(1, "KO", MONDAY, (12, 0), "50"), TUESDAY, (8, 0), "50")];
    check(&follow(&WEEK[..2], &trades, &closes, &events), &[0.0, 0.0]);
}

#[test]
fn a_trade_of_a_weekend_begins_with_the_next_session() {
    let closes = [(FRIDAY, "KO", "50"), (NEXT_MONDAY, "KO", "51")];
    let trades = [long(1, "KO", SATURDAY, (12, 0), "50")];
    assert_eq!(
        Tracker::first_session(&market::Calendar::nyse(), &trades),
        Some(day(NEXT_MONDAY))
    );
    check(
        &follow(&[FRIDAY, NEXT_MONDAY], &trades, &closes, &Events::default()),
        &[0.0, 0.02],
    );
}

#[test]
fn a_swap_counts_both_trades_on_its_day() {
    let closes = [(MONDAY, "KO", "50"), (TUESDAY, "KO", "53.9")];
    let trades = [
        closed(long(1, "KO", MONDAY, (12, 0), "50"), TUESDAY, (11, 0), "55"),
        short(2, "KO", TUESDAY, (11, 0), "55"),
    ];
    check(
        &follow(&WEEK[..2], &trades, &closes, &Events::default()),
        &[0.0, (100.0 + 20.0) / 2000.0],
    );
}

#[test]
fn a_trade_of_minutes_counts_on_its_day() {
    let trades = [closed(long(1, "KO", MONDAY, (12, 0), "50"), MONDAY, (12, 5), "49")];
    check(&follow(&WEEK[..2], &trades, &[], &Events::default()), &[-0.02, 0.0]);
}

#[test]
fn the_close_itself_belongs_to_its_session() {
    let closes = [(MONDAY, "KO", "50"), (TUESDAY, "KO", "51")];
    let trades = [long(1, "KO", MONDAY, (16, 0), "50")];
    assert_eq!(
        Tracker::first_session(&market::Calendar::nyse(), &trades),
        Some(day(MONDAY))
    );
    check(&follow(&WEEK[..2], &trades, &closes, &Events::default()), &[0.0, 0.02]);
}

#[test]
fn a_session_needs_only_what_changed_since_the_last() {
    let closes = [(MONDAY, "KO", "50"), (TUESDAY, "KO", "51"), (WEDNESDAY, "KO", "60")];
    let open = long(1, "KO", MONDAY, (12, 0), "50");
    let ended = closed(open, WEDNESDAY, (12, 0), "52.02");
    let mut tracker = Tracker::default();
    let mut next = |on, trades: &[_]| take(&mut tracker, on, trades, &closes, &Events::default()).unwrap();
    let returns = [
        next(MONDAY, &[open]),
        next(TUESDAY, &[]),
        next(WEDNESDAY, &[ended]),
        next(THURSDAY, &[]),
    ];
    check(&returns, &[0.0, 0.02, 0.02, 0.0]);
    assert!(tracker.symbols().is_empty());
    assert_eq!(tracker.through(), Some(day(THURSDAY)));
}

#[test]
fn a_session_out_of_order_a_closed_day_and_a_late_trade_are_refused_and_change_nothing() {
    let closes = [(MONDAY, "KO", "50")];
    let open = long(1, "KO", MONDAY, (12, 0), "50");
    let mut tracker = Tracker::default();
    let mut next = |on, trades: &[_]| {
        let before = tracker.clone();
        let answer: Result<DayReturn, TrackerError> = take(&mut tracker, on, trades, &closes, &Events::default());
        assert!(answer.is_ok() || tracker == before);
        answer
    };
    assert_eq!(next(SATURDAY, &[open]), Err(TrackerError::NotASession(day(SATURDAY))));
    assert!(next(MONDAY, &[open]).is_ok());
    for wrong in [MONDAY, WEDNESDAY] {
        let (expected, got) = (day(TUESDAY), day(wrong));
        assert_eq!(next(wrong, &[open]), Err(TrackerError::OutOfOrder { expected, got }));
    }
    let late = Err(TrackerError::Late(Uuid::from_u128(2)));
    // Not heard of on Monday, and still open, or closed on Tuesday.
    let missed = long(2, "PEP", MONDAY, (15, 0), "20");
    assert_eq!(next(TUESDAY, &[open, missed]), late);
    assert_eq!(next(TUESDAY, &[open, closed(missed, TUESDAY, (12, 0), "21")]), late);
    // Still open on Monday, but closed then as it turns out.
    let ended = closed(open, MONDAY, (13, 0), "52");
    assert_eq!(next(TUESDAY, &[ended]), Err(TrackerError::Late(Uuid::from_u128(1))));
    // Over before: no longer of interest.
    assert!(next(TUESDAY, &[open, closed(missed, MONDAY, (15, 30), "21")]).is_ok());
}

#[test]
fn without_trades_days_are_flat() {
    check(&follow(&WEEK, &[], &[], &Events::default()), &[0.0; 5]);
    assert_eq!(Tracker::first_session(&market::Calendar::nyse(), &[]), None);
}
