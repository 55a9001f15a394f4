//! The moves after a firing.

use jiff::civil::date;
use market::Calendar;
use market::calendar::new_york;
use paper::{CorporateActions, DailyCloses, FiredAlertRecord, HORIZON_SESSIONS, PriceHistory, Scorecard, scorecard};

use crate::small::week::{
    FRIDAY, MONDAY, SATURDAY, THURSDAY, TUESDAY, WEDNESDAY, actions, at, day, dividend, near, price, split, symbol,
};

/// Closes of March 2024: 100, 101, … from the 4th on, session by session.
fn rising() -> DailyCloses {
    let calendar = Calendar::nyse();
    let sessions = calendar
        .sessions(day(MONDAY), date(2024, 4, 30))
        .map(|session| session.date);
    sessions
        .zip(100..)
        .map(|(date, dollars)| (date, price(&dollars.to_string())))
        .collect()
}

fn closes(rows: &[(i8, &str)]) -> DailyCloses {
    rows.iter().map(|(on, close)| (day(*on), price(close))).collect()
}

fn judge(
    firing: FiredAlertRecord,
    stock: &DailyCloses,
    benchmark: &DailyCloses,
    actions: &CorporateActions,
    through: jiff::civil::Date,
) -> Scorecard {
    let record = |name, closes| PriceHistory {
        symbol: symbol(name),
        closes,
        actions,
    };
    scorecard(
        &Calendar::nyse(),
        firing,
        record("KO", stock),
        record("SPY", benchmark),
        through,
    )
}

fn fired(on: i8, time: (i8, i8), paid: Option<&str>) -> FiredAlertRecord {
    FiredAlertRecord {
        at: at(on, time),
        price: paid.map(price),
    }
}

#[test]
fn horizons_compare_stock_and_benchmark_from_the_close_of_the_firing() {
    let benchmark = closes(&[(MONDAY, "500"), (TUESDAY, "505"), (11, "490")]);
    let card = judge(
        fired(MONDAY, (12, 0), Some("80")),
        &rising(),
        &benchmark,
        &CorporateActions::default(),
        date(2024, 4, 30),
    );
    assert_eq!(
        (card.base_date, card.base_close),
        (Some(day(MONDAY)), Some(price("100")))
    );
    assert_eq!(card.horizons.map(|horizon| horizon.sessions), HORIZON_SESSIONS);
    // Five sessions after Monday is the next one; twenty after, with Good Friday in between, the 2nd of April.
    let dates = card.horizons.map(|horizon| horizon.date.unwrap());
    assert_eq!(dates, [day(TUESDAY), day(11), date(2024, 4, 2)]);
    let [one, five, twenty] = card.horizons.map(|horizon| horizon.reached.unwrap());
    near(one.move_pct, 1.0);
    near(one.benchmark_pct.unwrap(), 1.0);
    near(one.excess_pct.unwrap(), 0.0);
    near(one.since_firing_pct.unwrap(), 26.25);
    near(five.move_pct, 5.0);
    near(five.excess_pct.unwrap(), 7.0);
    assert_eq!(twenty.close, price("120"));
    near(twenty.move_pct, 20.0);
}

#[test]
fn future_horizons_are_none() {
    let judge = |through| {
        judge(
            fired(MONDAY, (12, 0), None),
            &rising(),
            &rising(),
            &CorporateActions::default(),
            through,
        )
    };
    let reached = |card: &Scorecard| card.horizons.map(|horizon| horizon.reached.is_some());
    let before = judge(date(2024, 3, 1));
    assert_eq!((before.base_close, reached(&before)), (None, [false; 3]));
    assert_eq!(before.horizons[2].date, Some(date(2024, 4, 2)));
    let same_day = judge(day(MONDAY));
    assert_eq!(
        (same_day.base_close, reached(&same_day)),
        (Some(price("100")), [false; 3])
    );
    assert_eq!(reached(&judge(day(TUESDAY))), [true, false, false]);
    assert_eq!(reached(&judge(day(FRIDAY))), [true, false, false]);
    assert_eq!(reached(&judge(day(11))), [true, true, false]);
    assert_eq!(reached(&judge(date(2024, 4, 1))), [true, true, false]);
    assert_eq!(reached(&judge(date(2024, 4, 2))), [true, true, true]);
}

#[test]
fn firing_between_sessions_counts_from_the_previous_close() {
    for (on, time) in [(FRIDAY, (16, 1)), (SATURDAY, (9, 30)), (11, (9, 0))] {
        let card = judge(
            fired(on, time, None),
            &rising(),
            &rising(),
            &CorporateActions::default(),
            day(15),
        );
        assert_eq!(card.base_date, Some(day(FRIDAY)), "{on}");
        assert_eq!(card.horizons[0].date, Some(day(11)));
        assert_eq!(card.horizons[0].reached.unwrap().since_firing_pct, None);
    }
    let at_the_open = judge(
        fired(11, (9, 30), None),
        &rising(),
        &rising(),
        &CorporateActions::default(),
        day(15),
    );
    assert_eq!(at_the_open.base_date, Some(day(11)));
}

#[test]
fn splits_and_dividends_are_not_moves() {
    let stock = closes(&[(MONDAY, "100"), (TUESDAY, "25"), (WEDNESDAY, "25")]);
    let actions = actions(
        &[split("KO", TUESDAY, "4"), split("SPY", WEDNESDAY, "2")],
        &[dividend("KO", TUESDAY, "5")],
    );
    let card = judge(
        fired(MONDAY, (12, 0), Some("80")),
        &stock,
        &rising(),
        &actions,
        day(TUESDAY),
    );
    let moved = card.horizons[0].reached.unwrap();
    near(moved.move_pct, 0.0);
    near(moved.since_firing_pct.unwrap(), 25.0);
    near(moved.benchmark_pct.unwrap(), 1.0);
}

#[test]
fn missing_close_uses_the_previous_close_since_the_firing() {
    let stock = closes(&[(MONDAY, "100"), (THURSDAY, "110")]);
    let card = judge(
        fired(MONDAY, (12, 0), None),
        &stock,
        &rising(),
        &CorporateActions::default(),
        day(11),
    );
    assert_eq!(card.horizons[0].reached, None);
    let five = card.horizons[1].reached.unwrap();
    assert_eq!(five.close, price("110"));
    near(five.move_pct, 10.0);
    near(five.benchmark_pct.unwrap(), 5.0);
}

#[test]
fn split_after_the_last_close_of_a_halted_stock_does_not_count() {
    let stock = closes(&[(MONDAY, "100"), (TUESDAY, "110")]);
    let actions = actions(&[split("KO", THURSDAY, "2")], &[]);
    let card = judge(
        fired(MONDAY, (12, 0), Some("100")),
        &stock,
        &rising(),
        &actions,
        day(11),
    );
    let five = card.horizons[1].reached.unwrap();
    near(five.move_pct, 10.0);
    near(five.since_firing_pct.unwrap(), 10.0);
}

#[test]
fn firing_price_before_the_open_of_a_split_day_is_per_new_share() {
    let stock = closes(&[(FRIDAY, "100"), (11, "26"), (12, "27")]);
    let actions = actions(&[split("KO", 11, "4")], &[]);
    let card = judge(fired(11, (9, 0), Some("25")), &stock, &rising(), &actions, day(12));
    let one = card.horizons[0].reached.unwrap();
    assert_eq!((card.base_date, one.close), (Some(day(FRIDAY)), price("26")));
    near(one.move_pct, 4.0);
    near(one.since_firing_pct.unwrap(), 4.0);
}

#[test]
fn move_without_a_benchmark_has_no_excess() {
    let card = judge(
        FiredAlertRecord {
            at: new_york(day(MONDAY), 12, 0),
            price: None,
        },
        &rising(),
        &DailyCloses::default(),
        &CorporateActions::default(),
        day(TUESDAY),
    );
    let one = card.horizons[0].reached.unwrap();
    near(one.move_pct, 1.0);
    assert_eq!((one.benchmark_pct, one.excess_pct), (None, None));
}
