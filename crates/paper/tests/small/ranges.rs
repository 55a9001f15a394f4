//! Ranges, benchmarks and what is at their edges.

use jiff::civil::date;
use paper::{Benchmark, Closes, DayReturn, Events, Performance, Range, Summary, performance};

use crate::week::{FRIDAY, MONDAY, THURSDAY, TUESDAY, WEDNESDAY, day, dividend, events, near, price, split, symbol};

fn week(values: &[f64]) -> Vec<DayReturn> {
    let days = [MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY];
    days.iter()
        .zip(values)
        .map(|(on, value)| DayReturn {
            date: day(*on),
            value: *value,
        })
        .collect()
}

fn against(returns: &[DayReturn], closes: &[(i8, &str)], events: &Events) -> Performance {
    let closes: Closes = closes.iter().map(|(on, close)| (day(*on), price(close))).collect();
    let benchmark = Benchmark {
        symbol: symbol("SPY"),
        closes: &closes,
        events,
    };
    performance(Range::Max, day(FRIDAY), returns, benchmark)
}

fn values(series: &[paper::Point]) -> Vec<f64> {
    series.iter().map(|point| point.value).collect()
}

#[test]
fn a_range_begins_so_many_months_ago_or_on_the_last_day_of_that_month() {
    let today = date(2024, 5, 31);
    assert_eq!(Range::ThreeMonths.start(today), date(2024, 2, 29));
    assert_eq!(Range::SixMonths.start(today), date(2023, 11, 30));
    assert_eq!(Range::Year.start(today), date(2023, 5, 31));
    for range in Range::ALL {
        assert_eq!(range.as_str().parse(), Ok(range));
    }
    assert_eq!(
        "2y".parse::<Range>().unwrap_err().to_string(),
        "is no range; it is 3m, 6m, 1y or max"
    );
}

#[test]
fn the_first_day_in_the_range_is_100_whatever_it_brought_itself() {
    let at = |date, value| DayReturn { date, value };
    let returns = [
        at(date(2023, 12, 7), 0.5),
        at(date(2023, 12, 8), 0.25),
        at(date(2023, 12, 11), 0.1),
        at(date(2024, 3, 8), 0.1),
        // Not yet: a caller's clock that is behind.
        at(date(2024, 3, 11), 0.9),
    ];
    let none = Benchmark {
        symbol: symbol("SPY"),
        closes: &Closes::default(),
        events: &Events::default(),
    };
    let found = performance(Range::ThreeMonths, date(2024, 3, 8), &returns, none);
    assert_eq!(found.base_date, Some(date(2023, 12, 8)));
    assert_eq!(found.watchlist.len(), 3);
    assert_eq!(found.watchlist[0].value.to_bits(), 100_f64.to_bits());
    near(found.watchlist[1].value, 110.0);
    near(found.summary.watchlist_return_pct, 21.0);
    assert_eq!(
        (found.summary.benchmark_return_pct, found.summary.alpha_pct),
        (None, None)
    );
    assert!(found.benchmark.is_empty());
}

#[test]
fn without_trades_everything_is_empty() {
    let found = against(&[], &[(MONDAY, "500")], &Events::default());
    assert_eq!(
        (found.base_date, found.watchlist.len(), found.benchmark.len()),
        (None, 0, 0)
    );
    assert_eq!(found.summary, Summary::default());
}

#[test]
fn a_loss_of_more_than_everything_ends_at_zero_for_good() {
    let found = against(&week(&[0.0, 0.1, -1.5, -1.2, 3.0]), &[], &Events::default());
    assert_eq!(values(&found.watchlist)[2..], [0.0, 0.0, 0.0]);
    near(found.summary.watchlist_return_pct, -100.0);
}

#[test]
fn a_benchmark_stands_where_it_has_no_close_and_starts_from_its_last_one() {
    let closes = [(1, "400"), (TUESDAY, "440"), (THURSDAY, "396")];
    let found = against(&week(&[0.0; 5]), &closes, &Events::default());
    for (ours, expected) in values(&found.benchmark).iter().zip([100.0, 110.0, 110.0, 99.0, 99.0]) {
        near(*ours, expected);
    }
    near(found.summary.alpha_pct.unwrap(), 1.0);
}

#[test]
fn a_benchmark_whose_closes_begin_later_is_none() {
    let found = against(&week(&[0.0; 5]), &[(TUESDAY, "440")], &Events::default());
    assert!(found.benchmark.is_empty());
    assert_eq!(found.summary.benchmark_return_pct, None);
}

#[test]
fn a_benchmark_is_counted_with_its_splits_and_dividends_but_for_those_of_the_first_day() {
    let closes = [
        (MONDAY, "400"),
        (TUESDAY, "100"),
        (WEDNESDAY, "99"),
        (THURSDAY, "99"),
        (FRIDAY, "99"),
    ];
    let events = events(
        &[split("SPY", TUESDAY, "4")],
        &[dividend("SPY", MONDAY, "40"), dividend("SPY", WEDNESDAY, "1")],
    );
    let found = against(&week(&[0.0; 5]), &closes, &events);
    for ours in values(&found.benchmark) {
        near(ours, 100.0);
    }
    assert_eq!(found.benchmark.len(), 5);
}
