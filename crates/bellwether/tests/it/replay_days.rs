//! Tests of `bellwether replay`: the first and last replayed day, days without bars, and rows of the data folder.

use crate::support;

use std::fmt::Write;

use support::{ReplayCase, ReplayOutput};

/// The trading days of January 2024, from the 2nd.
const JANUARY: [u8; 21] = [
    2, 3, 4, 5, 8, 9, 10, 11, 12, 16, 17, 18, 19, 22, 23, 24, 25, 26, 29, 30, 31,
];

/// A daily bar with a constant price.
fn flat(date: &str, price: f64) -> String {
    format!("AAA,{date},{price},{price},{price},{price},1000\n")
}

fn with_and_without_from(case: ReplayCase, from: &str) -> (ReplayOutput, ReplayOutput) {
    let without = case.run().succeeded();
    let with = case.args(&["--from", from]).run().succeeded();
    (with, without)
}

#[test]
fn split_on_the_first_replayed_day_adjusts_older_alerts() {
    let alerts = r#"[
        {"symbol": "AAA", "condition": "price_below", "threshold": 400, "created_at": "2024-07-01T14:00:00Z"},
        {"symbol": "AAA", "condition": "price_above", "threshold": 510, "created_at": "2024-07-01T14:00:00Z"},
        {"symbol": "AAA", "condition": "price_below", "threshold": 400},
        {"symbol": "AAA", "condition": "price_change_down", "threshold": 50, "created_at": "2024-07-05T21:00:00Z"},
        {"symbol": "AAA", "condition": "price_below", "threshold": 124.5, "created_at": "2024-07-08T10:00:00Z"}
    ]"#;
    let output = ReplayCase::new(alerts)
        .bars("AAA,2024-07-05,500,500,500,500,1000\nAAA,2024-07-08,125,130,124,129,4000")
        .file("splits.csv", "symbol,date,ratio\nAAA,2024-07-08,4\n")
        .args(&["--from", "2024-07-08"])
        .run()
        .succeeded();
    assert_eq!(
        output.fired(),
        ["4@2024-07-08T15:40:00.000Z", "1@2024-07-08T17:50:00.000Z"]
    );
    assert_eq!(output.firings[0]["threshold"], 124.5);
    assert_eq!(output.firings[1]["threshold"], 127.5);
}

#[test]
fn percent_change_counts_from_the_last_observation_before_the_first_replayed_day() {
    let alerts = r#"[
        {"symbol": "AAA", "condition": "price_change_up", "threshold": 10, "created_at": "2024-07-05T12:00:00Z"},
        {"symbol": "AAA", "condition": "price_change_up", "threshold": 20, "created_at": "2024-06-01T12:00:00Z"},
        {"symbol": "AAA", "condition": "price_change_up", "threshold": 10.1, "created_at": "2024-07-05T12:00:00Z"}
    ]"#;
    let rows =
        flat("2024-07-02", 92.0) + &flat("2024-07-03", 100.0) + &flat("2024-07-05", 110.0) + &flat("2024-07-08", 110.5);
    let (with, without) = with_and_without_from(ReplayCase::new(alerts).bars(&rows), "2024-07-05");
    // The second alert counts from 92, the first observation after its creation; 20 % above that is 110.4.
    assert_eq!(
        with.fired(),
        [
            "0@2024-07-05T13:30:00.000Z",
            "1@2024-07-08T13:30:00.000Z",
            "2@2024-07-08T13:30:00.000Z"
        ]
    );
    assert_eq!(with.firings, without.firings);
}

#[test]
fn touch_compares_with_the_last_observation_before_the_first_replayed_day() {
    let alerts = r#"[
        {"symbol": "AAA", "condition": "ma_touch_above", "threshold": 2, "created_at": "2024-07-05T12:00:00Z"},
        {"symbol": "AAA", "condition": "ma_touch_below", "threshold": 2, "created_at": "2024-07-05T12:00:00Z"}
    ]"#;
    let rows = flat("2024-07-02", 100.0) + &flat("2024-07-03", 90.0) + &flat("2024-07-05", 95.0);
    let (with, without) = with_and_without_from(ReplayCase::new(alerts).bars(&rows), "2024-07-05");
    assert_eq!(with.fired(), ["0@2024-07-05T13:30:00.000Z"]);
    assert_eq!(with.firings, without.firings);
}

#[test]
fn rsi_alert_waits_for_the_side_decided_at_creation() {
    // The RSI is 100 until the 24th, falls afterwards, and is 74.3 on the 30th.
    let rows: String = (0_i32..)
        .zip(JANUARY)
        .map(|(nth, day)| flat(&format!("2024-01-{day:02}"), f64::from(100 + nth.min(30 - nth))))
        .collect();
    let alerts = r#"[
        {"symbol": "AAA", "condition": "rsi_limit", "threshold": 75, "parameters": {"direction": "both"},
            "created_at": "2024-01-23T22:00:00Z"},
        {"symbol": "AAA", "condition": "rsi_limit", "threshold": 75, "parameters": {"direction": "both"},
            "created_at": "2024-01-01T00:00:00Z"},
        {"symbol": "AAA", "condition": "rsi_limit", "threshold": 75, "parameters": {"direction": "both"},
            "created_at": "2024-01-30T22:00:00Z"}
    ]"#;
    let output = ReplayCase::new(alerts)
        .bars(&rows)
        .args(&["--from", "2024-01-31"])
        .run()
        .succeeded();
    // The third alert was created below 75, so it waits for the RSI to rise.
    assert_eq!(
        output.fired(),
        ["0@2024-01-31T14:30:00.000Z", "1@2024-01-31T14:30:00.000Z"]
    );
}

#[test]
fn older_alert_fires_from_the_first_replayed_day_only() {
    let alerts = r#"[
        {"symbol": "AAA", "condition": "price_above", "threshold": 100, "created_at": "2024-07-01T12:00:00Z"},
        {"symbol": "AAA", "condition": "price_above", "threshold": 100, "created_at": "2024-07-08T14:00:00Z"}
    ]"#;
    let rows = flat("2024-07-03", 100.0) + &flat("2024-07-05", 99.0) + &flat("2024-07-08", 100.0);
    let output = ReplayCase::new(alerts)
        .bars(&rows)
        .args(&["--from", "2024-07-05"])
        .run()
        .succeeded();
    assert_eq!(
        output.fired(),
        ["0@2024-07-08T13:30:00.000Z", "1@2024-07-08T15:40:00.000Z"]
    );
}

#[test]
fn reminders_and_payments_fire_after_the_last_bar_up_to_the_last_day() {
    let alerts = r#"[
        {"symbol": "AAA", "condition": "reminder", "parameters": {"date": "2024-07-10"}},
        {"symbol": "AAA", "condition": "dividend_payment"}
    ]"#;
    let run = |to: &[&str]| {
        let case = ReplayCase::new(alerts).bars(&flat("2024-07-05", 10.0)).file(
            "dividends.csv",
            "symbol,ex_date,payment_date,amount\nAAA,2024-07-03,2024-07-09,0.5\n",
        );
        case.args(to).run().succeeded().fired()
    };
    let (payment, reminder) = ("1@2024-07-09T13:30:00.000Z", "0@2024-07-10T13:30:00.000Z");
    assert_eq!(run(&["--to", "2024-07-10"]), [payment, reminder]);
    assert_eq!(run(&["--to", "2024-07-09"]), [payment]);
    assert!(run(&["--to", "2024-07-08"]).is_empty());
    assert!(run(&[]).is_empty());
    assert_eq!(run(&["--from", "2024-07-10", "--to", "2024-07-10"]), [reminder]);
}

#[test]
fn folder_without_bars_has_the_sessions_of_the_calendar() {
    let alerts = r#"[{"symbol": "AAA", "condition": "daily_reminder"}]"#;
    let output = ReplayCase::new(alerts)
        .file("dividends.csv", "symbol,ex_date\nAAA,2024-07-03\nAAA,2024-07-08\n")
        .run()
        .succeeded();
    let days: Vec<_> = output
        .firings
        .iter()
        .map(|firing| firing["time"].as_str().unwrap()[..10].to_owned())
        .collect();
    assert_eq!(days, ["2024-07-03", "2024-07-05", "2024-07-08"]);
    assert!(
        output.stderr.contains("3 sessions, 0 observations"),
        "{}",
        output.stderr
    );
}

#[test]
fn folder_without_dated_rows_replays_the_given_days() {
    let alerts = r#"[{"symbol": "AAA", "condition": "reminder", "parameters": {"date": "2024-07-03"}}]"#;
    let run = |args: &[&str]| {
        let case = ReplayCase::new(alerts).file("stocks.csv", "symbol,name\nAAA,Aaa\n");
        case.args(args).run()
    };
    let output = run(&["--from", "2024-07-01", "--to", "2024-07-03"]).succeeded();
    assert_eq!(output.fired(), ["0@2024-07-03T13:30:00.000Z"]);
    assert!(run(&["--from", "2024-07-01"]).failure().contains("--to"));
}

#[test]
fn empty_cell_keeps_the_earnings_that_were_known_before() {
    let alerts =
        r#"[{"symbol": "AAA", "condition": "pe_ratio_above", "threshold": 10, "created_at": "2024-07-05T12:00:00Z"}]"#;
    let run = |fundamentals: &str| {
        let case = ReplayCase::new(alerts)
            .bars(&(flat("2024-07-02", 40.0) + &flat("2024-07-03", 10.0) + &flat("2024-07-05", 10.0)))
            .file("splits.csv", "symbol,date,ratio\nAAA,2024-07-03,4\n")
            .file(
                "fundamentals.csv",
                format!("symbol,as_of,eps_ttm,eps_forward\n{fundamentals}"),
            );
        case.run().succeeded().fired()
    };
    // EPS of 4 before the split is 1 after it: 10 / 1 is at the threshold.
    let fired = ["0@2024-07-05T13:30:00.000Z"];
    assert_eq!(run("AAA,2024-07-02,4,\nAAA,2024-07-05,,2\n"), fired);
    assert_eq!(run("AAA,2024-07-02,4,\nAAA,2024-07-03,,2\nAAA,2024-07-05,,3\n"), fired);
    assert!(run("AAA,2024-07-02,4.01,\nAAA,2024-07-05,,2\n").is_empty());
    assert!(run("AAA,2024-07-05,,2\n").is_empty());
}

#[test]
fn every_rejected_row_is_listed_if_stderr_is_not_a_terminal() {
    let mut rows = flat("2024-07-05", 10.0);
    for line in 0..10_050 {
        writeln!(rows, "AAA,2024-07-05,10,10,-{line},10,1").unwrap();
    }
    let output = ReplayCase::new("[]").bars(&rows).run().succeeded();
    let named = output
        .stderr
        .lines()
        .filter(|line| line.starts_with("left out: "))
        .count();
    assert_eq!(named, 10_050);
    assert!(output.stderr.contains("daily.csv:10052: "));
    assert!(output.stderr.contains("10050 rejected rows"));
}

#[test]
fn small_numbers_are_printed_without_exponent() {
    let alerts = r#"[{"symbol": "AAA", "condition": "price_above", "threshold": 0.000002}]"#;
    let output = ReplayCase::new(alerts)
        .bars(&flat("2024-07-05", 0.000003))
        .run()
        .succeeded();
    assert!(
        output
            .stdout
            .contains(r#""threshold":0.000002,"price":0.000003,"metric":0.000003,"#),
        "{}",
        output.stdout
    );
}
