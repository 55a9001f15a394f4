//! Tests of the error messages of `bellwether replay` for invalid input.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use crate::support;

use std::process::Command;

use support::{ReplayCase, replay_output};

const ALERTS: &str = r#"[{"symbol": "AAA", "condition": "price_above", "threshold": 11}]"#;
const BAR: &str = "AAA,2024-07-05,10,12,9,10,1000";

#[track_caller]
fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
}

#[test]
fn invalid_rows_are_reported_and_valid_rows_are_used() {
    let rows = [
        "AAA,2024-07-01,10,10,10,10,1000",
        "AAA,2024-07-02,NaN,10,10,10,1000",
        "AAA,2024-07-02,10,-10,10,10,1000",
        "AAA,2024-07-02,10,10,0,10,1000",
        "AAA,2024-07-02,10,9,11,10,1000",
        "AAA,2024-07-02,10,10,10",
        "AAA,2024-13-02,10,10,10,10,1000",
        "A A,2024-07-02,10,10,10,10,1000",
        "AAA,2024-07-04,10,10,10,10,1000",
        "AAA,2024-07-03,11,11,11,11,1000",
    ];
    let output = ReplayCase::new(ALERTS).bars(&rows.join("\n")).run().succeeded();
    assert_eq!(output.fired(), ["0@2024-07-03T13:30:00.000Z"]);
    for line in 3..=10 {
        assert_contains(&output.stderr, &[&format!("daily.csv:{line}: ")]);
    }
    assert_contains(&output.stderr, &["8 rejected rows"]);
}

#[test]
fn rows_may_be_unsorted_and_the_last_duplicate_wins() {
    let rows = "AAA,2024-07-05,10,10,10,10,1000\nAAA,2024-07-03,12,12,12,12,1000\nAAA,2024-07-03,9,9,9,9,1000";
    let output = ReplayCase::new(ALERTS).bars(rows).run().succeeded();
    assert!(output.firings.is_empty());
    assert_contains(&output.stderr, &["2 sessions", "0 rejected rows"]);
}

#[test]
fn wrong_header_fails_with_the_file_name() {
    let case = ReplayCase::new(ALERTS).file("bars/x.csv", "symbol,day,open,high,low,close,volume\n");
    assert_contains(&case.run().failure(), &["x.csv", "date"]);
}

#[test]
fn empty_file_fails_with_its_name() {
    let case = ReplayCase::new(ALERTS).bars(BAR).file("splits.csv", "");
    assert_contains(&case.run().failure(), &["splits.csv"]);
}

#[test]
fn invalid_gzip_fails_with_the_file_name() {
    let case = ReplayCase::new(ALERTS).file("bars/x.csv.gz", "this is no gzip");
    assert_contains(&case.run().failure(), &["x.csv.gz"]);
}

#[test]
fn missing_data_folder_is_named() {
    let case = ReplayCase::new(ALERTS);
    std::fs::remove_dir_all(case.data()).unwrap();
    assert_contains(&case.run().failure(), &["data"]);
}

#[test]
fn empty_folder_fails_with_a_hint() {
    assert_contains(
        &ReplayCase::new(ALERTS).bars("").run().failure(),
        &["nothing to replay", "bars/"],
    );
}

#[test]
fn period_without_data_names_the_covered_days() {
    let case = ReplayCase::new(ALERTS).bars(BAR).args(&["--from", "2025-01-01"]);
    assert_contains(&case.run().failure(), &["2024-07-05", "--from"]);
}

#[test]
fn invalid_alerts_json_is_named_with_its_position() {
    assert_contains(
        &ReplayCase::new("[{]").bars(BAR).run().failure(),
        &["alerts.json", "line 1"],
    );
    assert_contains(
        &ReplayCase::new("{}").bars(BAR).run().failure(),
        &["alerts.json", "array"],
    );
}

#[test]
fn missing_alerts_file_is_named() {
    let case = ReplayCase::new(ALERTS).bars(BAR);
    std::fs::remove_file(case.alerts()).unwrap();
    assert_contains(&case.run().failure(), &["alerts.json"]);
}

#[test]
fn invalid_alert_fails_with_its_index_and_error() {
    let alerts = r#"[
        {"symbol": "AAA", "condition": "price_above", "threshold": 11},
        {"symbol": "AAA", "condition": "new_high", "threshold": 11},
        {"symbol": "AAA", "condition": "price_above", "threshold": 12}
    ]"#;
    let message = ReplayCase::new(alerts).bars(BAR).run().failure();
    assert_contains(&message, &["alert 1:", "threshold", "must be omitted for new_high"]);
    assert!(
        !message.contains("alert 0") && !message.contains("alert 2"),
        "{message}"
    );
}

#[test]
fn invalid_created_at_is_reported_with_an_example() {
    let alerts = r#"[{"symbol": "AAA", "condition": "price_above", "threshold": 11, "created_at": "yesterday"}]"#;
    assert_contains(
        &ReplayCase::new(alerts).bars(BAR).run().failure(),
        &["alert 0:", "created_at", "2024-03-08T14:30:00Z"],
    );
}

#[test]
fn wrong_usage_exits_with_2() {
    let run = |args: &[&str]| {
        replay_output(
            &Command::new(env!("CARGO_BIN_EXE_bellwether"))
                .args(args)
                .output()
                .unwrap(),
        )
    };
    for args in [
        &["replay"][..],
        &["fly"],
        &["replay", "--data", "x", "--alerts", "y", "--from", "July"],
        &[],
    ] {
        assert_eq!(run(args).code, Some(2), "{args:?}");
    }
    let swapped = run(&[
        "replay",
        "--data",
        "x",
        "--alerts",
        "y",
        "--from",
        "2024-02-01",
        "--to",
        "2024-01-01",
    ]);
    assert_eq!(swapped.code, Some(2));
    assert_contains(&swapped.stderr, &["--from", "--to"]);
}

#[test]
fn unwritable_standard_error_is_not_a_failure() {
    let case = ReplayCase::new(ALERTS).bars(BAR);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_bellwether"));
    command
        .arg("replay")
        .arg("--data")
        .arg(case.data())
        .arg("--alerts")
        .arg(case.alerts());
    assert_eq!(command.stderr(full).output().unwrap().status.code(), Some(0));
}
