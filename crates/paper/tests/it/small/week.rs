//! The week of 4 March 2024, Monday to Friday, and the Monday after it.

use jiff::Timestamp;
use jiff::civil::{Date, date};
use market::calendar::new_york;
use market::records::{DividendRow, SplitRow};
use market::{Calendar, Price, Symbol};
use paper::{CorporateActions, DayReturn, Direction, Fill, ReturnTracker, ReturnTrackerError, Trade};
use uuid::Uuid;

pub(crate) const MONDAY: i8 = 4;
pub(crate) const TUESDAY: i8 = 5;
pub(crate) const WEDNESDAY: i8 = 6;
pub(crate) const THURSDAY: i8 = 7;
pub(crate) const FRIDAY: i8 = 8;
pub(crate) const SATURDAY: i8 = 9;
pub(crate) const NEXT_MONDAY: i8 = 11;

pub(crate) fn day(day: i8) -> Date {
    date(2024, 3, day)
}

/// The instant of a time of day, such as (10, 30), on a day.
pub(crate) fn at(on: i8, (hour, minute): (i8, i8)) -> Timestamp {
    new_york(day(on), hour, minute)
}

pub(crate) fn symbol(text: &str) -> Symbol {
    text.parse().unwrap()
}

pub(crate) fn price(text: &str) -> Price {
    text.parse().unwrap()
}

pub(crate) fn split(of: &str, on: i8, ratio: &str) -> SplitRow {
    SplitRow {
        symbol: symbol(of),
        date: day(on),
        ratio: ratio.parse().unwrap(),
    }
}

pub(crate) fn dividend(of: &str, ex_date: i8, amount: &str) -> DividendRow {
    DividendRow {
        symbol: symbol(of),
        ex_date: day(ex_date),
        payment_date: None,
        amount: Some(amount.parse().unwrap()),
    }
}

pub(crate) fn actions(splits: &[SplitRow], dividends: &[DividendRow]) -> CorporateActions {
    CorporateActions::new(&Calendar::nyse(), splits, dividends)
}

/// An open trade.
pub(crate) fn trade(number: u128, direction: Direction, of: &str, on: i8, time: (i8, i8), paid: &str) -> Trade {
    let fill = Fill {
        at: at(on, time),
        price: price(paid),
    };
    Trade::open(Uuid::from_u128(number), symbol(of), direction, fill)
}

pub(crate) fn long(number: u128, of: &str, on: i8, time: (i8, i8), paid: &str) -> Trade {
    trade(number, Direction::Long, of, on, time, paid)
}

pub(crate) fn short(number: u128, of: &str, on: i8, time: (i8, i8), paid: &str) -> Trade {
    trade(number, Direction::Short, of, on, time, paid)
}

pub(crate) fn closed(mut trade: Trade, on: i8, time: (i8, i8), paid: &str) -> Trade {
    trade.close(at(on, time), Some(price(paid))).unwrap();
    trade
}

/// Closes by day and stock.
pub(crate) type CloseRows<'a> = &'a [(i8, &'a str, &'a str)];

/// Records one session.
pub(crate) fn take(
    tracker: &mut ReturnTracker,
    on: i8,
    trades: &[Trade],
    closes: CloseRows<'_>,
    actions: &CorporateActions,
) -> Result<DayReturn, ReturnTrackerError> {
    let close_of = |of: Symbol| {
        let mut closes = closes.iter();
        let found = closes.find(|(date, name, _)| *date == on && symbol(name) == of);
        found.map(|(_, _, close)| price(close))
    };
    tracker.record_session(&Calendar::nyse(), day(on), trades, close_of, actions)
}

/// Returns the daily returns of consecutive days.
pub(crate) fn follow(
    days: &[i8],
    trades: &[Trade],
    closes: CloseRows<'_>,
    actions: &CorporateActions,
) -> Vec<DayReturn> {
    let mut tracker = ReturnTracker::default();
    days.iter()
        .map(|on| take(&mut tracker, *on, trades, closes, actions).unwrap())
        .collect()
}

#[track_caller]
pub(crate) fn near(ours: f64, expected: f64) {
    assert!((ours - expected).abs() < 1e-12, "{ours}, expected {expected}");
}

#[track_caller]
pub(crate) fn check(returns: &[DayReturn], expected: &[f64]) {
    assert_eq!(returns.len(), expected.len());
    for (day, expected) in returns.iter().zip(expected) {
        assert!((day.value - expected).abs() < 1e-12, "{day:?}, expected {expected}");
    }
}
