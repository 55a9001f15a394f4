//! Ranges, benchmarks and their edge cases.

use jiff::civil::date;
use paper::{
    CorporateActions, DailyCloses, DayReturn, Performance, PerformanceRange, PriceHistory, ReturnSummary, performance,
};

use crate::small::week::{
    FRIDAY, MONDAY, THURSDAY, TUESDAY, WEDNESDAY, actions, day, dividend, near, price, split, symbol,
};

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

fn against(returns: &[DayReturn], closes: &[(i8, &str)], actions: &CorporateActions) -> Performance {
    let closes: DailyCloses = closes.iter().map(|(on, close)| (day(*on), price(close))).collect();
    let benchmark = PriceHistory {
        symbol: symbol("SPY"),
        closes: &closes,
        actions,
    };
    performance(PerformanceRange::Max, day(FRIDAY), returns, benchmark)
}

fn values(series: &[paper::SeriesPoint]) -> Vec<f64> {
    series.iter().map(|point| point.value).collect()
}

#[test]
fn range_starts_whole_months_ago() {
    let today = date(2024, 5, 31);
    assert_eq!(PerformanceRange::ThreeMonths.start(today), date(2024, 2, 29));
    assert_eq!(PerformanceRange::SixMonths.start(today), date(2023, 11, 30));
    assert_eq!(PerformanceRange::Year.start(today), date(2023, 5, 31));
    for range in PerformanceRange::ALL {
        assert_eq!(range.as_str().parse(), Ok(range));
    }
    assert_eq!(
        "2y".parse::<PerformanceRange>().unwrap_err().to_string(),
        "is not a range; use 3m, 6m, 1y or max"
    );
}

#[test]
fn first_day_of_the_range_is_100() {
    let at = |date, value| DayReturn { date, value };
    let returns = [
        at(date(2023, 12, 7), 0.5),
        at(date(2023, 12, 8), 0.25),
        at(date(2023, 12, 11), 0.1),
        at(date(2024, 3, 8), 0.1),
        // In the future: the caller's clock is behind.
        at(date(2024, 3, 11), 0.9),
    ];
    let none = PriceHistory {
        symbol: symbol("SPY"),
        closes: &DailyCloses::default(),
        actions: &CorporateActions::default(),
    };
    let found = performance(PerformanceRange::ThreeMonths, date(2024, 3, 8), &returns, none);
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
    let found = against(&[], &[(MONDAY, "500")], &CorporateActions::default());
    assert_eq!(
        (found.base_date, found.watchlist.len(), found.benchmark.len()),
        (None, 0, 0)
    );
    assert_eq!(found.summary, ReturnSummary::default());
}

#[test]
fn loss_of_more_than_everything_stays_at_zero() {
    let found = against(&week(&[0.0, 0.1, -1.5, -1.2, 3.0]), &[], &CorporateActions::default());
    assert_eq!(values(&found.watchlist)[2..], [0.0, 0.0, 0.0]);
    near(found.summary.watchlist_return_pct, -100.0);
}

#[test]
fn benchmark_without_a_close_keeps_its_last_value() {
    let closes = [(1, "400"), (TUESDAY, "440"), (THURSDAY, "396")];
    let found = against(&week(&[0.0; 5]), &closes, &CorporateActions::default());
    for (ours, expected) in values(&found.benchmark).iter().zip([100.0, 110.0, 110.0, 99.0, 99.0]) {
        near(*ours, expected);
    }
    near(found.summary.alpha_pct.unwrap(), 1.0);
}

#[test]
fn benchmark_without_a_close_at_the_start_is_empty() {
    let found = against(&week(&[0.0; 5]), &[(TUESDAY, "440")], &CorporateActions::default());
    assert!(found.benchmark.is_empty());
    assert_eq!(found.summary.benchmark_return_pct, None);
}

#[test]
fn benchmark_includes_splits_and_dividends_after_the_first_day() {
    let closes = [
        (MONDAY, "400"),
        (TUESDAY, "100"),
        (WEDNESDAY, "99"),
        (THURSDAY, "99"),
        (FRIDAY, "99"),
    ];
    let actions = actions(
        &[split("SPY", TUESDAY, "4")],
        &[dividend("SPY", MONDAY, "40"), dividend("SPY", WEDNESDAY, "1")],
    );
    let found = against(&week(&[0.0; 5]), &closes, &actions);
    for ours in values(&found.benchmark) {
        near(ours, 100.0);
    }
    assert_eq!(found.benchmark.len(), 5);
}
