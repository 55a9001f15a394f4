//! Previews of made-up bars.

use super::*;
use alerts::request::{ParseContext, parse_create};
use jiff::civil::date;
use market::Bar;
use serde_json::{Value, json};
use sources::folder::SymbolBars;

pub(in crate::alerts::preview) fn alert(when: &str) -> alerts::NewAlert {
    parsed(json!({"symbol": "AAPL", "condition": "expression", "parameters": {"when": when}}))
}

fn parsed(body: Value) -> alerts::NewAlert {
    let context = ParseContext {
        now: "2024-12-31T22:00:00Z".parse().unwrap(),
        time_zone: &jiff::tz::TimeZone::UTC,
        calendar: &Calendar::nyse(),
    };
    parse_create(&body, &context).unwrap()
}

fn bars(from: Date, prices: &[&str]) -> SymbolBars {
    let calendar = Calendar::nyse();
    let sessions = calendar.sessions(from, date(2024, 12, 31));
    let daily = sessions.zip(prices).map(|(session, price)| {
        let price = price.parse().unwrap();
        Bar {
            date: session.date,
            open: price,
            high: price,
            low: price,
            close: price,
            volume: 10,
        }
    });
    SymbolBars {
        daily: daily.collect(),
        intraday: Vec::new(),
    }
}

fn preview(alert: alerts::NewAlert, stocks: &[(&str, Date, &[&str])]) -> Preview {
    let mut data = MarketData::default();
    for (symbol, from, prices) in stocks {
        data.bars.insert(symbol.parse().unwrap(), bars(*from, prices));
    }
    run(&PreviewInput {
        plan: PreviewPlan::of(alert),
        benchmark_data: data.clone(),
        data,
        from: date(2024, 3, 4),
        to: date(2024, 12, 31),
        benchmark: "SPY".parse().unwrap(),
        calendar: Calendar::nyse(),
        config: EngineConfig::default(),
    })
}

fn times(preview: &Preview) -> Vec<String> {
    preview
        .firings
        .iter()
        .map(|firing| new_york_date(firing.at).to_string())
        .collect()
}

#[test]
fn alert_that_fires_once_plays_as_if_it_fired_each_time() {
    let start = date(2024, 3, 1);
    let prices = ["10", "10", "9", "11", "9", "8"];
    for body in [
        json!({"symbol": "AAPL", "condition": "price_below", "threshold": 9}),
        json!({"symbol": "AAPL", "condition": "price_below", "threshold": 9, "options": {"max_firings": 1}}),
        json!({"symbol": "AAPL", "condition": "expression", "parameters": {"when": "price <= 9"}}),
    ] {
        let played = preview(parsed(body), &[("AAPL", start, &prices)]);
        assert_eq!(times(&played), ["2024-03-05", "2024-03-07"]);
        assert_eq!(played.count, 2);
    }
    let twice = json!({
        "symbol": "AAPL", "condition": "price_below", "threshold": 9,
        "options": {"repeat": "each_time", "max_firings": 1},
    });
    assert_eq!(preview(parsed(twice), &[("AAPL", start, &prices)]).count, 1);
}

#[test]
fn days_are_those_with_bars_of_all_stocks_and_gaps_are_reported() {
    let short: &[&str] = &["100", "100", "90", "90"];
    let mut played = preview(
        alert("price < 20 and SPY.price < 95"),
        &[
            ("AAPL", date(2024, 3, 1), &["10"; 10]),
            ("SPY", date(2024, 3, 6), short),
        ],
    );
    assert_eq!(played.coverage.days, Some((date(2024, 3, 6), date(2024, 3, 11))));
    assert_eq!(times(&played), ["2024-03-08"]);
    assert_eq!(played.coverage.gaps, []);
    assert_eq!(played.per_year, Some(365.25 / 6.0));
    played = preview(alert("SPY.price < 95"), &[("AAPL", date(2024, 3, 1), short)]);
    assert_eq!((played.coverage.days, played.count, played.per_year), (None, 0, None));
    assert_eq!(played.unknown_metrics, ["SPY.price"]);
}

#[test]
fn metrics_without_a_value_are_named() {
    let played = preview(
        alert("price < 20 and (pe < 15 or sma(3) > 5 or sma(100) > 5)"),
        &[("AAPL", date(2024, 3, 1), &["10"; 10])],
    );
    assert_eq!(played.unknown_metrics, ["pe", "sma(100)"]);
    assert_eq!(times(&played), ["2024-03-05"]);
}

#[test]
fn condition_that_can_never_be_true_says_so() {
    let stocks: [(&str, Date, &[&str]); 1] = [("AAPL", date(2024, 3, 1), &["10"; 10])];
    let played = preview(alert("price < 20 and pe < 15"), &stocks);
    assert_eq!(played.never_true, ["pe < 15 is unknown, because pe has no value"]);
    let moving = ["10", "11", "10", "12", "11", "13", "12", "14", "13", "15"];
    let played = preview(alert("rsi(5) > 100"), &[("AAPL", date(2024, 3, 1), &moving)]);
    assert_eq!(
        played.never_true,
        ["rsi(5) > 100 is impossible: rsi(5) is from 0 to 100"]
    );
    // It has never been true, but could be.
    assert_eq!(preview(alert("price < 5 or pe < 15"), &stocks).never_true, [""; 0]);
    assert_eq!(preview(alert("price < 20"), &[]).never_true, [""; 0]);
    assert_eq!(preview(alert("price < 0"), &[]).never_true.len(), 1);
}

#[test]
fn outcome_is_measured_from_the_close_of_the_session() {
    let prices = ["10", "10", "8", "12", "10", "10", "10", "4"];
    let spy = ["100", "100", "100", "101", "100", "100", "100", "50"];
    let played = preview(
        alert("price < 9"),
        &[
            ("AAPL", date(2024, 3, 1), &prices[..]),
            ("SPY", date(2024, 3, 1), &spy[..]),
        ],
    );
    assert_eq!(times(&played), ["2024-03-05", "2024-03-12"]);
    assert_eq!(played.outcome.mean_pct, [Some(50.0), Some(-50.0), None]);
    assert_eq!(played.outcome.hit_rate, [Some(1.0), Some(0.0), None]);
    assert_eq!(played.outcome.benchmark_pct[1], Some(-50.0));
}
