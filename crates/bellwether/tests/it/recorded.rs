//! Replays of years of market data: recorded data if it is there, otherwise the sample.
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use alerts::ConditionKind;
use bellwether::alerts_file::parse_bodies;
use bellwether::replay::{Replay, ReplayFiring, ReplayPeriod, ReplaySummary};
use jiff::civil::{Date, date};
use market::Calendar;
use market::records::MentionRow;
use serde_json::{Value, json};
use sources::folder::{self, MarketData};

fn read(source: &testdata::TestMarketData, name: &str) -> MarketData {
    folder::read(&source.path(name), &Calendar::nyse(), |_| ()).unwrap().0
}

fn replay(
    data: &MarketData,
    from: Option<Date>,
    to: Option<Date>,
    bodies: &[Value],
) -> (ReplaySummary, Vec<ReplayFiring>) {
    let calendar = Calendar::nyse();
    let period = ReplayPeriod::of(data, from, to).unwrap();
    let alerts = parse_bodies(bodies, &calendar, period.start()).unwrap();
    let mut firings = Vec::new();
    let replay = Replay::new(data, &calendar, period, alerts, |firing| {
        firings.push(firing);
        ControlFlow::Continue(())
    });
    (replay.run(|_| ()), firings)
}

/// Returns alerts that would fire falsely if a 4-for-1 split were taken for a price drop.
fn split_sensitive_alerts(symbol: &str, old_price: f64) -> Vec<Value> {
    let alert =
        |condition: &str, threshold: f64| json!({"symbol": symbol, "condition": condition, "threshold": threshold});
    let plain = |condition: &str| json!({"symbol": symbol, "condition": condition});
    vec![
        alert("price_change_down", 50.0),
        alert("price_below", old_price),
        plain("new_low"),
        plain("ma_crossover_death"),
        alert("ma_touch_below", 50.0),
        alert("volume_change", 250.0),
        json!({"symbol": symbol, "condition": "rsi_limit", "threshold": 20, "parameters": {"direction": "below"}}),
    ]
}

#[test]
fn four_for_one_split_does_not_fire_price_drops() {
    let source = testdata::TestMarketData::find();
    let mut data = read(&source, "unadjusted");
    let symbol = source.pick("AAPL", "ZQSP");
    let before: market::Symbol = symbol.parse().unwrap();
    let before = data.bars[&before]
        .daily
        .iter()
        .rfind(|bar| bar.date < date(2020, 8, 24))
        .unwrap();
    let days = (Some(date(2020, 8, 24)), Some(date(2020, 9, 1)));
    let bodies = split_sensitive_alerts(symbol, (before.close.as_f64() * 60.0).round() / 100.0);
    let (_, firings) = replay(&data, days.0, days.1, &bodies);
    assert_eq!(firings, [], "with the split");
    data.splits.clear();
    let (_, firings) = replay(&data, days.0, days.1, &bodies);
    let fooled: BTreeSet<_> = firings.iter().map(|firing| firing.condition).collect();
    assert!(
        fooled.contains(&ConditionKind::PriceChangeDown) && fooled.contains(&ConditionKind::NewLow),
        "{fooled:?}"
    );
    assert!(fooled.len() >= 5, "{fooled:?}");
}

/// Returns an alert of each condition on every stock, with levels around its first price.
fn one_alert_per_condition(data: &MarketData) -> Vec<Value> {
    let mut bodies = Vec::new();
    for (symbol, bars) in &data.bars {
        let first = bars.daily[0].open.as_f64();
        for kind in ConditionKind::ALL {
            let mut body = json!({"symbol": symbol.as_str(), "condition": kind.name()});
            let around = |factor: f64| json!((first * factor * 100.0).round() / 100.0);
            match kind.name() {
                "price_above" => body["threshold"] = around(1.3),
                "price_below" => body["threshold"] = around(0.8),
                "price_change_up" | "price_change_down" => body["threshold"] = json!(15),
                "ma_touch_above" | "ma_touch_below" => body["threshold"] = json!(50),
                "rsi_limit" => body["threshold"] = json!(30),
                "volume_change" => body["threshold"] = json!(200),
                "insider_transactions" => body["threshold"] = json!(1_000_000),
                "earnings_announcement" => body["threshold"] = json!(5),
                "social_buzz" => body["parameters"] = json!({"direction": "rising"}),
                "reminder" => body["parameters"] = json!({"date": "2021-07-04"}),
                "expression" => body["parameters"] = json!({"when": "rsi(14) < 30 and price > sma(200)"}),
                name if name.contains("pe_") => body["threshold"] = json!(20),
                _ => {}
            }
            bodies.push(body);
        }
    }
    bodies
}

#[test]
fn five_years_of_500_stocks_replay_with_every_condition() {
    let source = testdata::TestMarketData::find();
    let data = read(&source, "us500");
    let stocks = source.pick(511, 4);
    let bodies = one_alert_per_condition(&data);
    let (summary, firings) = replay(&data, None, None, &bodies);
    assert_eq!(
        (summary.sessions, summary.alerts),
        (1305, stocks * ConditionKind::ALL.len())
    );
    assert_eq!(summary.observations, source.pick(656_713, 5_220) * 4);
    assert!(firings.windows(2).all(|pair| pair[0].time <= pair[1].time));
    let mut fired: BTreeMap<ConditionKind, usize> = BTreeMap::new();
    firings
        .iter()
        .for_each(|firing| *fired.entry(firing.condition).or_default() += 1);
    // The folder has no forward earnings, mentions or payment dates.
    let silent: Vec<_> = ConditionKind::ALL
        .iter()
        .filter(|kind| !fired.contains_key(kind))
        .map(|kind| kind.name())
        .collect();
    assert_eq!(
        silent,
        [
            "forward_pe_below",
            "forward_pe_above",
            "social_buzz",
            "dividend_payment"
        ]
    );
    assert_eq!(fired[&ConditionKind::DailyReminder], stocks * 1305);
    assert_eq!(fired[&ConditionKind::Reminder], stocks);
}

#[test]
fn social_buzz_rises_and_falls() {
    let data = read(&testdata::TestMarketData::find(), "mentions");
    let symbols: BTreeSet<_> = data.mentions.iter().map(|row| row.symbol).collect();
    let body = |symbol: &market::Symbol, direction: &str| json!({"symbol": symbol.as_str(), "condition": "social_buzz", "parameters": {"direction": direction}});
    let bodies: Vec<_> = symbols
        .iter()
        .flat_map(|symbol| [body(symbol, "rising"), body(symbol, "falling")])
        .collect();
    let (_, firings) = replay(&data, None, None, &bodies);
    assert!(!firings.is_empty());
    for firing in &firings {
        let earlier = data
            .mentions
            .iter()
            .filter(|row| row.symbol == firing.symbol && row.time <= firing.time);
        let in_hours = |from: i64, to: i64| -> u64 {
            let age = |row: &&MentionRow| (firing.time.as_second() - row.time.as_second()) / 3600;
            earlier
                .clone()
                .filter(|row| (from..to).contains(&age(row)))
                .map(|row| u64::from(row.mentions))
                .sum()
        };
        let (day, week) = (in_hours(0, 24), in_hours(24, 192));
        let rose = day >= 20 && day * 7 >= 2 * week;
        let faded = week >= 140 && day * 14 <= week;
        assert!(rose || faded, "{firing:?}: {day} in a day, {week} in the week before");
    }
}

/// Returns the firings from `day` on, in order.
fn from_day(firings: &[ReplayFiring], day: Date) -> Vec<&ReplayFiring> {
    let start = market::calendar::new_york(day, 0, 0);
    firings.iter().filter(|firing| firing.time >= start).collect()
}

/// Compares the runs of each pair of first days, including the first day of the data. A run with a later first day fires nothing
/// before it, so both runs must agree on each alert that has not fired before that day.
fn compare_first_days(data: &MarketData, days: &[Date], bodies: &[Value]) {
    let runs: Vec<_> = days
        .iter()
        .map(|&day| replay(data, Some(day), None, bodies).1)
        .collect();
    for (earlier, run) in runs.iter().enumerate() {
        for (later, &day) in days.iter().enumerate().skip(earlier + 1) {
            let start = market::calendar::new_york(day, 0, 0);
            let repeats = |firing: &ReplayFiring| firing.condition == ConditionKind::DailyReminder;
            let done: BTreeSet<_> = run
                .iter()
                .filter(|firing| firing.time < start && !repeats(firing))
                .map(|firing| firing.alert_index)
                .collect();
            let of_both = |firings: Vec<&ReplayFiring>| -> Vec<ReplayFiring> {
                let both = firings.into_iter().filter(|firing| !done.contains(&firing.alert_index));
                both.cloned().collect()
            };
            let expected = of_both(from_day(run, day));
            assert_eq!(
                of_both(from_day(&runs[later], day)),
                expected,
                "{} and {day}",
                days[earlier]
            );
            assert!(!expected.is_empty());
            assert_eq!(
                from_day(&runs[later], day).len(),
                runs[later].len(),
                "it fired before {day}"
            );
        }
    }
}

#[test]
fn later_first_day_gives_the_same_firings_from_that_day_on() {
    let data = read(&testdata::TestMarketData::find(), "unadjusted");
    let created = [
        "2019-03-01T15:00:00Z",
        "2020-08-28T23:00:00Z",
        "2020-08-31T12:00:00Z",
        "2021-02-03T16:31:00Z",
    ];
    let mut bodies = Vec::new();
    for symbol in data.bars.keys() {
        for at in created {
            let instant: jiff::Timestamp = at.parse().unwrap();
            let bars = &data.bars[symbol].daily;
            let day = market::calendar::new_york_date(instant);
            let Some(price) = bars
                .iter()
                .rev()
                .find(|bar| bar.date < day)
                .map(|bar| bar.close.as_f64())
            else {
                continue;
            };
            let mut add = |condition: &str, threshold: Value, parameters: Value| {
                bodies.push(
                    json!({"symbol": symbol.as_str(), "condition": condition, "threshold": threshold,
                    "parameters": parameters, "created_at": at}),
                );
            };
            for percent in [3, 12, 35, 80] {
                add("price_change_up", json!(percent), Value::Null);
                add("price_change_down", json!(percent), Value::Null);
                let level = |factor: f64| json!((price * factor * 100.0).round() / 100.0);
                add("price_above", level(1.0 + f64::from(percent) / 100.0), Value::Null);
                add("price_below", level(1.0 - f64::from(percent) / 100.0), Value::Null);
                add("rsi_limit", json!(50 + percent / 3), json!({"direction": "both"}));
                add("ma_touch_above", json!(percent * 5), Value::Null);
                add("ma_touch_below", json!(percent * 5), Value::Null);
                add("volume_change", json!(percent * 4), Value::Null);
            }
            for when in ["price crosses above sma(60)", "drawdown(30) >= 12"] {
                add("expression", Value::Null, json!({"when": when}));
            }
            for condition in [
                "new_high",
                "new_low",
                "ma_crossover_golden",
                "ma_crossover_death",
                "daily_reminder",
            ] {
                add(condition, Value::Null, Value::Null);
            }
        }
    }
    let days = [
        date(2019, 1, 2),
        date(2020, 8, 28),
        date(2020, 8, 31),
        date(2020, 9, 1),
        date(2021, 2, 3),
        date(2022, 6, 6),
    ];
    compare_first_days(&data, &days, &bodies);
}

#[test]
fn split_on_the_first_replayed_day_adjusts_older_alerts() {
    let Some(source) = testdata::TestMarketData::recorded() else {
        return;
    };
    let data = read(&source, "unadjusted");
    let alert = |condition: &str, threshold: f64| json!({"symbol": "AAPL", "condition": condition, "threshold": threshold, "created_at": "2020-08-28T12:00:00Z"});
    let day = Some(date(2020, 8, 31));
    let (_, firings) = replay(
        &data,
        day,
        day,
        &[alert("price_below", 400.0), alert("price_above", 510.0)],
    );
    let fired: Vec<_> = firings
        .iter()
        .map(|firing| (firing.alert_index, firing.threshold))
        .collect();
    assert_eq!(fired, [(1, Some("127.5".parse().unwrap()))]);
}
