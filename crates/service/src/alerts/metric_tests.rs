//! Metrics of alerts in an engine with a small data set.

use super::*;
use alerts::engine::{EngineConfig, Event, InsiderTrade, Quote};
use alerts::metrics::FundamentalFigures;
use alerts::request::{ParseContext, parse_create};
use alerts::transition::{self, OwnerVerification, PriceAvailability};
use alerts::{AlertId, Revision};
use jiff::civil::date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use market::{Bar, Calendar};
use serde_json::{Value, json};
use uuid::Uuid;

const SYMBOL: &str = "ACME";
const TODAY: Date = Date::constant(2024, 3, 8);

fn symbol() -> Symbol {
    SYMBOL.parse().unwrap()
}

fn price(text: &str) -> Price {
    text.parse().unwrap()
}

fn now() -> Timestamp {
    "2024-03-08T16:00:00Z".parse().unwrap()
}

/// Returns an engine with `sessions` completed sessions at `close` with 1,000 shares each, and a running one at
/// `last` with `volume` shares.
fn engine(sessions: usize, close: &str, last: &str, volume: i64) -> Engine {
    let calendar = Calendar::nyse();
    let mut engine = Engine::new(calendar.clone(), EngineConfig::default());
    let from = TODAY.checked_sub(Span::new().years(2)).unwrap();
    let days: Vec<_> = calendar
        .sessions(from, TODAY.yesterday().unwrap())
        .map(|session| session.date)
        .collect();
    for &date in &days[days.len() - sessions..] {
        let close = price(close);
        let bar = Bar {
            date,
            open: close,
            high: close,
            low: close,
            close,
            volume: 1_000,
        };
        tell(&mut engine, Event::Bar { symbol: symbol(), bar });
    }
    let stock = engine.stock(symbol());
    tell(
        &mut engine,
        Event::Snapshot(&[Quote::new(stock, price(last)).with_volume(volume)]),
    );
    engine
}

fn tell(engine: &mut Engine, event: Event<'_>) {
    engine.process(event, now(), &mut Vec::new()).unwrap();
}

fn alert(condition: &str, threshold: Value, parameters: Value, initial: &str) -> Alert {
    let body = json!({"symbol": SYMBOL, "condition": condition, "threshold": threshold, "parameters": parameters});
    let context = ParseContext {
        now: now(),
        time_zone: &TimeZone::UTC,
        calendar: &Calendar::nyse(),
    };
    let asked = parse_create(&body, &context).unwrap();
    let id = AlertId(Uuid::from_u128(1));
    let made = transition::create(
        asked,
        id,
        OwnerVerification::Verified,
        PriceAvailability::Awaited,
        now(),
    )
    .unwrap();
    assert_eq!(made.alert.revision, Revision::default());
    Alert {
        initial_price: Some(price(initial)),
        ..made.alert
    }
}

/// Returns metric and distance as text; `-` for none.
fn measured(engine: &Engine, alert: &Alert) -> (String, String) {
    let last = engine.last_price(alert.symbol);
    let AlertMetric { metric, distance_pct } = measure(engine, alert, last, market::calendar::new_york(TODAY, 12, 0));
    let text = |number: Option<Decimal>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    (text(metric), text(distance_pct))
}

fn check(engine: &Engine, alert: &Alert, metric: &str, distance: &str) {
    let expected = (metric.to_owned(), distance.to_owned());
    assert_eq!(measured(engine, alert), expected, "{:?}", alert.condition);
}

#[test]
fn price_distance_is_0_from_the_threshold_on() {
    let engine = engine(1, "200", "200", 0);
    let at = |condition: &str, threshold: f64| alert(condition, json!(threshold), Value::Null, "200");
    check(&engine, &at("price_above", 210.0), "200", "5");
    check(&engine, &at("price_above", 200.0), "200", "0");
    check(&engine, &at("price_above", 190.0), "200", "0");
    check(&engine, &at("price_below", 190.0), "200", "5");
    check(&engine, &at("price_below", 200.000_001), "200", "0");
}

#[test]
fn change_metric_is_in_percent_and_its_distance_is_of_the_price() {
    let engine = engine(1, "100", "104", 0);
    let at = |condition: &str, threshold: f64| alert(condition, json!(threshold), Value::Null, "100");
    check(&engine, &at("price_change_up", 30.0), "4", "25");
    check(&engine, &at("price_change_up", 4.0), "4", "0");
    check(&engine, &at("price_change_down", 22.0), "4", "25");
}

#[test]
fn extreme_distance_includes_the_running_session() {
    let mut engine = engine(10, "100", "110", 0);
    let stock = engine.stock(symbol());
    tell(&mut engine, Event::Snapshot(&[Quote::new(stock, price("88"))]));
    check(&engine, &alert("new_high", Value::Null, Value::Null, "100"), "88", "25");
    check(&engine, &alert("new_low", Value::Null, Value::Null, "100"), "88", "0");
}

#[test]
fn averages_use_the_price_as_todays_close_and_a_touch_comes_from_its_side() {
    let engine = engine(200, "100", "80", 0);
    let touch = |condition| alert(condition, json!(50), Value::Null, "100");
    // (49 × 100 + 80) ÷ 50, and from 80 up to 100, where the price meets its average.
    check(&engine, &touch("ma_touch_above"), "99.6", "25");
    check(&engine, &touch("ma_touch_below"), "99.6", "-");
    let cross = |condition| alert(condition, Value::Null, Value::Null, "100");
    // (199 × 100 + 80) ÷ 200 is 99.9.
    check(&engine, &cross("ma_crossover_golden"), "99.6", "0.301205");
    check(&engine, &cross("ma_crossover_death"), "99.6", "0");
}

#[test]
fn short_history_has_no_metric() {
    let engine = engine(10, "100", "80", 0);
    check(
        &engine,
        &alert("ma_touch_above", json!(50), Value::Null, "100"),
        "-",
        "-",
    );
    check(
        &engine,
        &alert("ma_crossover_golden", Value::Null, Value::Null, "100"),
        "-",
        "-",
    );
    check(&engine, &alert("rsi_limit", json!(70), Value::Null, "100"), "-", "-");
    check(
        &engine,
        &alert("volume_change", json!(50), Value::Null, "100"),
        "-",
        "-",
    );
}

#[test]
fn rsi_distance_is_unknown_until_the_side_is_decided() {
    let engine = engine(20, "100", "101", 0);
    let at = |direction| alert("rsi_limit", json!(70), json!({"direction": direction}), "100");
    check(&engine, &at("above"), "100", "0");
    check(&engine, &at("below"), "100", "30");
    check(&engine, &at("both"), "100", "-");
    let decided = Alert {
        rsi_side: Some(Side::Below),
        ..at("both")
    };
    check(&engine, &decided, "100", "30");
}

#[test]
fn volume_metric_is_percent_above_average_in_a_running_session() {
    let at = |threshold| alert("volume_change", json!(threshold), Value::Null, "100");
    let mut engine = engine(20, "100", "100", 800);
    check(&engine, &at(100), "-20", "150");
    let bar = *engine.history(symbol()).unwrap().last().unwrap();
    let today = Bar { date: TODAY, ..bar };
    let after_close = "2024-03-08T21:00:00Z".parse().unwrap();
    let event = Event::Bar {
        symbol: symbol(),
        bar: today,
    };
    engine.process(event, after_close, &mut Vec::new()).unwrap();
    check(&engine, &at(100), "-", "-");
}

#[test]
fn pe_ratio_needs_positive_earnings() {
    let mut engine = engine(1, "100", "100", 0);
    let eps = |text: &str| text.parse().ok();
    let event = Event::Fundamentals {
        symbol: symbol(),
        figures: FundamentalFigures {
            trailing_eps: eps("4"),
            forward_eps: eps("-1"),
            ..FundamentalFigures::default()
        },
    };
    tell(&mut engine, event);
    let at = |condition, threshold: f64| alert(condition, json!(threshold), Value::Null, "100");
    check(&engine, &at("pe_ratio_below", 20.0), "25", "20");
    check(&engine, &at("pe_ratio_above", 25.0), "25", "0");
    check(&engine, &at("forward_pe_above", 25.0), "-", "-");
}

#[test]
fn insider_metric_is_in_dollars_without_distance_for_too_few_insiders() {
    let mut engine = engine(1, "100", "100", 0);
    let trade = |insider: &str| InsiderTrade {
        filed_on: date(2024, 3, 7),
        insider: insider.to_owned(),
        bought: true,
        open_market: true,
        value_usd: Decimal::from_units(40_000).unwrap(),
    };
    let at = |threshold, executives| {
        let parameters = json!({"direction": "buy", "minExecutives": executives});
        alert("insider_transactions", json!(threshold), parameters, "100")
    };
    check(&engine, &at(100_000, 1), "0", "-");
    let event = Event::InsiderTrades {
        symbol: symbol(),
        trades: &[trade("Ann"), trade("Ann")],
    };
    tell(&mut engine, event);
    check(&engine, &at(100_000, 1), "80000", "25");
    check(&engine, &at(80_000, 1), "80000", "0");
    check(&engine, &at(80_000, 2), "80000", "-");
}

#[test]
fn date_metric_is_in_days_and_reminders_have_none() {
    let mut engine = engine(1, "100", "100", 0);
    let event = Event::Earnings {
        symbol: symbol(),
        dates: &[date(2024, 2, 1), date(2024, 3, 18)],
    };
    tell(&mut engine, event);
    let earnings = alert("earnings_announcement", json!(7), Value::Null, "100");
    check(&engine, &earnings, "10", "-");
    check(
        &engine,
        &alert("daily_reminder", Value::Null, Value::Null, "100"),
        "-",
        "-",
    );
    let buzz = alert("social_buzz", Value::Null, json!({"direction": "rising"}), "100");
    check(&engine, &buzz, "-", "-");
}
