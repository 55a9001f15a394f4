//! Replays of recorded real data, which lies beside the project; where it does not, the tests say that they were skipped.
#![allow(clippy::unwrap_used, reason = "a test may fail so")]

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use alerts::ConditionKind;
use bellwether::alerts_file::parse_bodies;
use bellwether::replay::{Firing, Replay, Span, Summary};
use jiff::civil::{Date, date};
use market::Calendar;
use market::records::MentionRow;
use serde_json::{Value, json};
use sources::folder::{self, MarketData};

fn recorded(name: &str) -> Option<MarketData> {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data")
        .join(name);
    if !path.exists() {
        eprintln!("skipped: there is no recorded data at {}", path.display());
        return None;
    }
    Some(folder::read(&path, &Calendar::nyse(), |_| ()).unwrap().0)
}

fn replay(data: &MarketData, from: Option<Date>, to: Option<Date>, bodies: &[Value]) -> (Summary, Vec<Firing>) {
    let calendar = Calendar::nyse();
    let span = Span::of(data, from, to).unwrap();
    let alerts = parse_bodies(bodies, &calendar, span.start()).unwrap();
    let mut firings = Vec::new();
    let replay = Replay::new(data, &calendar, span, alerts, |firing| {
        firings.push(firing);
        ControlFlow::Continue(())
    });
    (replay.run(|_| ()), firings)
}

/// What would notice a fall of three quarters that is none.
fn alerts_that_a_split_could_fool() -> Vec<Value> {
    let alert =
        |condition: &str, threshold: f64| json!({"symbol": "AAPL", "condition": condition, "threshold": threshold});
    let plain = |condition: &str| json!({"symbol": "AAPL", "condition": condition});
    vec![
        alert("price_change_down", 50.0),
        alert("price_below", 300.0),
        plain("new_low"),
        plain("ma_crossover_death"),
        alert("ma_touch_below", 50.0),
        alert("volume_change", 250.0),
        json!({"symbol": "AAPL", "condition": "rsi_limit", "threshold": 20, "parameters": {"direction": "below"}}),
    ]
}

#[test]
fn a_stock_that_splits_four_for_one_overnight_fires_no_false_fall() {
    let Some(mut data) = recorded("unadjusted") else { return };
    let days = (Some(date(2020, 8, 24)), Some(date(2020, 9, 1)));
    let bodies = alerts_that_a_split_could_fool();
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

/// Each condition on every stock, with levels around its first price.
fn alerts_of_every_family(data: &MarketData) -> Vec<Value> {
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
                name if name.contains("pe_") => body["threshold"] = json!(20),
                _ => {}
            }
            bodies.push(body);
        }
    }
    bodies
}

#[test]
fn five_years_of_five_hundred_stocks_run_to_their_end_under_alerts_of_every_family() {
    let Some(data) = recorded("us500") else { return };
    let bodies = alerts_of_every_family(&data);
    let (summary, firings) = replay(&data, None, None, &bodies);
    assert_eq!((summary.sessions, summary.alerts), (1305, 511 * 23));
    assert_eq!(summary.observations, 656_713 * 4);
    assert!(firings.windows(2).all(|pair| pair[0].time <= pair[1].time));
    let mut fired: BTreeMap<ConditionKind, usize> = BTreeMap::new();
    firings
        .iter()
        .for_each(|firing| *fired.entry(firing.condition).or_default() += 1);
    // The folder has neither forward earnings, nor mentions, nor payment dates.
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
    assert_eq!(fired[&ConditionKind::DailyReminder], 511 * 1305);
    assert_eq!(fired[&ConditionKind::Reminder], 511);
}

#[test]
fn talk_about_ten_stocks_rises_and_fades() {
    let Some(data) = recorded("mentions") else { return };
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
