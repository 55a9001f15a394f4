//! The day's return, convention by convention.

use paper::{CorporateActions, DayReturn, ReturnTracker, ReturnTrackerError};
use uuid::Uuid;

use crate::small::week::{
    FRIDAY, MONDAY, NEXT_MONDAY, SATURDAY, THURSDAY, TUESDAY, WEDNESDAY, actions, check, closed, day, dividend, follow,
    long, short, split, take,
};

const WEEK: [i8; 5] = [MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY];

#[test]
fn first_day_runs_from_the_entry_price_to_the_close() {
    let closes = [(MONDAY, "KO", "51"), (TUESDAY, "KO", "52.02")];
    let trades = [long(1, "KO", MONDAY, (12, 0), "50")];
    check(
        &follow(&WEEK[..2], &trades, &closes, &CorporateActions::default()),
        &[0.02, 0.02],
    );
}

#[test]
fn short_gains_what_a_long_loses() {
    let closes = [(MONDAY, "KO", "49"), (TUESDAY, "KO", "53.9")];
    let trades = [short(1, "KO", MONDAY, (12, 0), "50")];
    check(
        &follow(&WEEK[..2], &trades, &closes, &CorporateActions::default()),
        &[0.02, -0.1],
    );
}

#[test]
fn trades_are_weighted_by_their_value_at_the_previous_close() {
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
        &follow(&WEEK[..2], &trades, &closes, &CorporateActions::default()),
        &[0.25, (1500.0 * 0.2 + 1000.0 * 0.1) / 2500.0],
    );
}

#[test]
fn close_after_a_missing_day_includes_its_return() {
    let closes = [(MONDAY, "KO", "50"), (WEDNESDAY, "KO", "55")];
    let trades = [long(1, "KO", MONDAY, (12, 0), "50")];
    check(
        &follow(&WEEK[..3], &trades, &closes, &CorporateActions::default()),
        &[0.0, 0.0, 0.1],
    );
}

#[test]
fn entry_day_without_a_close_keeps_the_entry_price() {
    let closes = [(TUESDAY, "KO", "55")];
    let trades = [long(1, "KO", MONDAY, (12, 0), "50")];
    check(
        &follow(&WEEK[..2], &trades, &closes, &CorporateActions::default()),
        &[0.0, 0.1],
    );
}

#[test]
fn split_on_a_day_without_a_close_does_not_change_the_value() {
    let actions = actions(&[split("KO", TUESDAY, "1.253")], &[]);
    let closes = [(MONDAY, "KO", "0.01"), (WEDNESDAY, "KO", "0.01")];
    let trades = [long(1, "KO", MONDAY, (12, 0), "0.01")];
    check(&follow(&WEEK[..3], &trades, &closes, &actions), &[0.0, 0.0, 0.253]);
}

#[test]
fn dividend_offsets_the_drop_on_the_ex_date() {
    let actions = actions(&[], &[dividend("KO", TUESDAY, "2")]);
    let closes = [(MONDAY, "KO", "50"), (TUESDAY, "KO", "48")];
    for trade in [
        long(1, "KO", MONDAY, (12, 0), "50"),
        short(1, "KO", MONDAY, (12, 0), "50"),
    ] {
        check(&follow(&WEEK[..2], &[trade], &closes, &actions), &[0.0, 0.0]);
    }
    // Bought at yesterday's close before the open: with the dividend. Bought after the open: without.
    for (time, expected) in [((9, 0), 0.0), ((9, 30), -0.04)] {
        let trades = [long(1, "KO", TUESDAY, time, "50")];
        check(&follow(&WEEK[1..2], &trades, &closes, &actions), &[expected]);
    }
}

#[test]
fn exit_during_a_session_uses_the_exit_price() {
    let closes = [(MONDAY, "KO", "50"), (TUESDAY, "KO", "10")];
    let trades = [closed(long(1, "KO", MONDAY, (12, 0), "50"), TUESDAY, (11, 0), "55")];
    check(
        &follow(&WEEK[..3], &trades, &closes, &CorporateActions::default()),
        &[0.0, 0.1, 0.0],
    );
}

#[test]
fn overnight_exit_counts_in_the_next_session_without_its_dividend() {
    let actions = actions(&[], &[dividend("KO", TUESDAY, "2")]);
    let closes = [(MONDAY, "KO", "50"), (TUESDAY, "KO", "10")];
    let trades = [closed(long(1, "KO", MONDAY, (12, 0), "50"), TUESDAY, (8, 0), "50")];
    check(&follow(&WEEK[..2], &trades, &closes, &actions), &[0.0, 0.0]);
}

#[test]
fn weekend_entry_counts_from_the_next_session() {
    let closes = [(FRIDAY, "KO", "50"), (NEXT_MONDAY, "KO", "51")];
    let trades = [long(1, "KO", SATURDAY, (12, 0), "50")];
    assert_eq!(
        ReturnTracker::first_session(&market::Calendar::nyse(), &trades),
        Some(day(NEXT_MONDAY))
    );
    check(
        &follow(&[FRIDAY, NEXT_MONDAY], &trades, &closes, &CorporateActions::default()),
        &[0.0, 0.02],
    );
}

#[test]
fn direction_change_counts_both_trades_on_its_day() {
    let closes = [(MONDAY, "KO", "50"), (TUESDAY, "KO", "53.9")];
    let trades = [
        closed(long(1, "KO", MONDAY, (12, 0), "50"), TUESDAY, (11, 0), "55"),
        short(2, "KO", TUESDAY, (11, 0), "55"),
    ];
    check(
        &follow(&WEEK[..2], &trades, &closes, &CorporateActions::default()),
        &[0.0, (100.0 + 20.0) / 2000.0],
    );
}

#[test]
fn trade_of_minutes_counts_on_its_day() {
    let trades = [closed(long(1, "KO", MONDAY, (12, 0), "50"), MONDAY, (12, 5), "49")];
    check(
        &follow(&WEEK[..2], &trades, &[], &CorporateActions::default()),
        &[-0.02, 0.0],
    );
}

#[test]
fn entry_at_the_close_belongs_to_its_session() {
    let closes = [(MONDAY, "KO", "50"), (TUESDAY, "KO", "51")];
    let trades = [long(1, "KO", MONDAY, (16, 0), "50")];
    assert_eq!(
        ReturnTracker::first_session(&market::Calendar::nyse(), &trades),
        Some(day(MONDAY))
    );
    check(
        &follow(&WEEK[..2], &trades, &closes, &CorporateActions::default()),
        &[0.0, 0.02],
    );
}

#[test]
fn session_needs_only_trades_changed_since_the_last() {
    let closes = [(MONDAY, "KO", "50"), (TUESDAY, "KO", "51"), (WEDNESDAY, "KO", "60")];
    let open = long(1, "KO", MONDAY, (12, 0), "50");
    let ended = closed(open, WEDNESDAY, (12, 0), "52.02");
    let mut tracker = ReturnTracker::default();
    let mut next = |on, trades: &[_]| take(&mut tracker, on, trades, &closes, &CorporateActions::default()).unwrap();
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
fn rejects_unordered_sessions_closed_days_and_late_trades() {
    let closes = [(MONDAY, "KO", "50")];
    let open = long(1, "KO", MONDAY, (12, 0), "50");
    let mut tracker = ReturnTracker::default();
    let mut next = |on, trades: &[_]| {
        let before = tracker.clone();
        let answer: Result<DayReturn, ReturnTrackerError> =
            take(&mut tracker, on, trades, &closes, &CorporateActions::default());
        assert!(answer.is_ok() || tracker == before);
        answer
    };
    assert_eq!(
        next(SATURDAY, &[open]),
        Err(ReturnTrackerError::NotASession(day(SATURDAY)))
    );
    assert!(next(MONDAY, &[open]).is_ok());
    for wrong in [MONDAY, WEDNESDAY] {
        let (expected, got) = (day(TUESDAY), day(wrong));
        assert_eq!(
            next(wrong, &[open]),
            Err(ReturnTrackerError::OutOfOrder { expected, got })
        );
    }
    let late = Err(ReturnTrackerError::LateTrade(Uuid::from_u128(2)));
    // Unknown on Monday, and still open or closed on Tuesday.
    let missed = long(2, "PEP", MONDAY, (15, 0), "20");
    assert_eq!(next(TUESDAY, &[open, missed]), late);
    assert_eq!(next(TUESDAY, &[open, closed(missed, TUESDAY, (12, 0), "21")]), late);
    // Open as of Monday, but reported as closed then.
    let ended = closed(open, MONDAY, (13, 0), "52");
    assert_eq!(
        next(TUESDAY, &[ended]),
        Err(ReturnTrackerError::LateTrade(Uuid::from_u128(1)))
    );
    // Closed earlier: irrelevant.
    assert!(next(TUESDAY, &[open, closed(missed, MONDAY, (15, 30), "21")]).is_ok());
}

#[test]
fn returns_without_trades_are_zero() {
    check(&follow(&WEEK, &[], &[], &CorporateActions::default()), &[0.0; 5]);
    assert_eq!(ReturnTracker::first_session(&market::Calendar::nyse(), &[]), None);
}
