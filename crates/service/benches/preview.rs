//! The processor time of a preview: five years of one symbol, after three years that warm up the indicators.
//!
//! `cargo bench -p service --bench preview`. The goal is 20 ms. The run is one thread without I/O, so the elapsed time of the fastest
//! of some runs is its processor time.

#![allow(clippy::unwrap_used, missing_docs, reason = "a bench may fail so")]

use std::time::{Duration, Instant};

use alerts::engine::EngineConfig;
use alerts::request::{ParseContext, parse_create};
use jiff::SignedDuration;
use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use market::{Bar, Calendar, IntradayBar, Price};
use serde_json::{Value, json};
use service::alerts::preview::{PreviewInput, PreviewPlan, run};
use sources::folder::MarketData;
use sources::simulated;

const FIRST_BAR: Date = date(2016, 1, 4);
const FROM: Date = date(2019, 1, 2);
const TO: Date = date(2023, 12, 29);
const RUNS: usize = 21;
/// The sessions that are stored in minutes, about those of 30 days.
const MINUTE_SESSIONS: usize = 21;
/// The maximum processor time of a preview.
const GOAL: Duration = Duration::from_millis(20);

fn main() {
    let calendar = Calendar::nyse();
    let mut market = simulated::generate_history(7, &calendar, FIRST_BAR, TO);
    let symbol = *market.bars.keys().next().unwrap();
    let other = *market.bars.keys().nth(1).unwrap();
    market.bars.retain(|of, _| *of == symbol || *of == other);
    // A preview reads the facts of its stocks only, and those two only if the alert uses them.
    market.mentions.clear();
    market.insiders.clear();
    market.splits.retain(|row| row.symbol == symbol);
    market.fundamentals.retain(|row| row.symbol == symbol);
    market.earnings.retain(|row| row.symbol == symbol);
    market.dividends.retain(|row| row.symbol == symbol);
    let mut one = market.clone();
    one.bars.retain(|of, _| *of == symbol);
    let mut in_minutes = one.clone();
    let bars = in_minutes.bars.get_mut(&symbol).unwrap();
    let month = bars.daily.iter().rev().take(MINUTE_SESSIONS).rev();
    bars.intraday = month.flat_map(|day| minutes(day, &calendar)).collect();
    let last = one.bars[&symbol].daily.last().unwrap().close.as_f64();
    let expression = |when: &str| json!({"condition": "expression", "parameters": {"when": when}});
    let two = format!("change_pct(open) <= -2 and {other}.price < {other}.sma(50)");
    for (name, mut alert, data) in [
        (
            "price_below",
            json!({"condition": "price_below", "threshold": last}),
            &one,
        ),
        ("sma and rsi", expression("rsi(14) < 30 and price > sma(200)"), &one),
        (
            "breakout",
            expression("price crosses above 1.02 * high(20) and rvol(20) > 1.5"),
            &one,
        ),
        (
            "macd and bands",
            expression("macd crosses above macd_signal or price < bb_lower(20, 2)"),
            &one,
        ),
        (
            "volatility stop",
            expression("price < high(22) - 3 * atr(22) and ema(50) > ema(200)"),
            &one,
        ),
        ("trailing stop", expression("price <= 0.92 * high_since_armed"), &one),
        (
            "sma and rsi, a month of it in minutes",
            expression("rsi(14) < 30 and price > sma(200)"),
            &in_minutes,
        ),
        (
            "macd and bands, a month of it in minutes",
            expression("macd crosses above macd_signal or price < bb_lower(20, 2)"),
            &in_minutes,
        ),
        ("without a value", expression("bid > 10 and pe < 15"), &one),
        ("golden cross", json!({"condition": "ma_crossover_golden"}), &one),
        ("two symbols", expression(&two), &market),
    ] {
        alert["symbol"] = symbol.as_str().into();
        let input = input(&alert, data, &calendar);
        let (time, count) = fastest(&input);
        let holds = if time <= GOAL { "holds " } else { "MISSED" };
        let found = time.as_secs_f64() * 1_000.0;
        println!("  {holds} a preview takes at most 20 ms: {found:.1} ms, {count} firings: {name}");
    }
}

/// Returns the minutes of a session: from the open to the low, on to the high, and to the close.
fn minutes(day: &Bar, calendar: &Calendar) -> Vec<IntradayBar> {
    let open = calendar.session(day.date).unwrap().open;
    let corners = [day.open, day.low, day.high, day.close].map(Price::micros);
    let price = |minute: i64| {
        let (leg, step) = (usize::try_from(minute / 130).unwrap(), minute % 130);
        let (from, to) = (corners[leg.min(2)], corners[leg.min(2) + 1]);
        let step = if leg > 2 { 130 } else { step };
        Price::from_micros(from + (to - from) * step / 130).unwrap()
    };
    let minute = |minute: i64| {
        let (first, last) = (price(minute), price(minute + 1));
        let bar = Bar {
            open: first,
            high: first.max(last),
            low: first.min(last),
            close: last,
            volume: day.volume / 390,
            ..*day
        };
        IntradayBar::of(&bar, open + SignedDuration::from_mins(minute))
    };
    (0..390).map(minute).collect()
}

fn input(alert: &Value, data: &MarketData, calendar: &Calendar) -> PreviewInput {
    let context = ParseContext {
        now: "2024-01-02T15:00:00Z".parse().unwrap(),
        time_zone: &TimeZone::UTC,
        calendar,
    };
    PreviewInput {
        plan: PreviewPlan::of(parse_create(alert, &context).unwrap()),
        data: data.clone(),
        from: FROM,
        to: TO,
        benchmark: "SPY".parse().unwrap(),
        benchmark_data: MarketData::default(),
        calendar: calendar.clone(),
        config: EngineConfig::default(),
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench measures the time")]
fn fastest(input: &PreviewInput) -> (Duration, usize) {
    let mut count = 0;
    let times = (0..RUNS).map(|_| {
        let begun = Instant::now();
        count = std::hint::black_box(run(std::hint::black_box(input))).count;
        begun.elapsed()
    });
    (times.min().unwrap_or_default(), count)
}
