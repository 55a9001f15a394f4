//! What a person gets who gives `bellwether replay` something that is wrong.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod support;

use std::process::Command;

use support::{Case, answer};

const ALERTS: &str = r#"[{"symbol": "AAA", "condition": "price_above", "threshold": 11}]"#;
const BAR: &str = "AAA,2024-07-05,10,12,9,10,1000";

#[track_caller]
fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
}

#[test]
fn each_broken_row_is_named_with_file_and_line_and_the_good_rows_are_used() {
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
    let answer = Case::new(ALERTS).bars(&rows.join("\n")).run().succeeded();
    assert_eq!(answer.fired(), ["0@2024-07-03T13:30:00.000Z"]);
    for line in 3..=10 {
        says(&answer.stderr, &[&format!("daily.csv:{line}: ")]);
    }
    says(&answer.stderr, &["8 rejected rows"]);
}

#[test]
fn disorder_is_fine_and_of_two_rows_for_one_day_the_last_wins() {
    let rows = "AAA,2024-07-05,10,10,10,10,1000\nAAA,2024-07-03,12,12,12,12,1000\nAAA,2024-07-03,9,9,9,9,1000";
    let answer = Case::new(ALERTS).bars(rows).run().succeeded();
    assert!(answer.firings.is_empty());
    says(&answer.stderr, &["2 sessions", "0 rejected rows"]);
}

#[test]
fn a_wrong_header_stops_the_program_with_the_files_name() {
    let case = Case::new(ALERTS).file("bars/x.csv", "symbol,day,open,high,low,close,volume\n");
    says(&case.run().failure(), &["x.csv", "date"]);
}

#[test]
fn an_empty_file_stops_the_program_with_its_name() {
    let case = Case::new(ALERTS).bars(BAR).file("splits.csv", "");
    says(&case.run().failure(), &["splits.csv"]);
}

#[test]
fn a_file_that_is_not_what_its_name_says_stops_the_program_with_its_name() {
    let case = Case::new(ALERTS).file("bars/x.csv.gz", "this is no gzip");
    says(&case.run().failure(), &["x.csv.gz"]);
}

#[test]
fn a_missing_data_folder_is_named() {
    let case = Case::new(ALERTS);
    std::fs::remove_dir_all(case.data()).unwrap();
    says(&case.run().failure(), &["data"]);
}

#[test]
fn a_folder_without_anything_to_replay_says_so() {
    says(
        &Case::new(ALERTS).bars("").run().failure(),
        &["nothing to replay", "bars/"],
    );
}

#[test]
fn days_without_data_are_told_together_with_those_that_have_some() {
    let case = Case::new(ALERTS).bars(BAR).args(&["--from", "2025-01-01"]);
    says(&case.run().failure(), &["2024-07-05", "--from"]);
}

#[test]
fn an_alerts_file_that_is_no_json_is_named_with_the_place() {
    says(&Case::new("[{]").bars(BAR).run().failure(), &["alerts.json", "line 1"]);
    says(&Case::new("{}").bars(BAR).run().failure(), &["alerts.json", "array"]);
}

#[test]
fn a_missing_alerts_file_is_named() {
    let case = Case::new(ALERTS).bars(BAR);
    std::fs::remove_file(case.alerts()).unwrap();
    says(&case.run().failure(), &["alerts.json"]);
}

#[test]
fn one_bad_alert_of_many_stops_the_program_with_its_index_and_fault() {
    let alerts = r#"[
        {"symbol": "AAA", "condition": "price_above", "threshold": 11},
        {"symbol": "AAA", "condition": "new_high", "threshold": 11},
        {"symbol": "AAA", "condition": "price_above", "threshold": 12}
    ]"#;
    let message = Case::new(alerts).bars(BAR).run().failure();
    says(&message, &["alert 1:", "threshold", "must be omitted for new_high"]);
    assert!(
        !message.contains("alert 0") && !message.contains("alert 2"),
        "{message}"
    );
}

#[test]
fn a_bad_created_at_is_told_with_a_good_example() {
    let alerts = r#"[{"symbol": "AAA", "condition": "price_above", "threshold": 11, "created_at": "yesterday"}]"#;
    says(
        &Case::new(alerts).bars(BAR).run().failure(),
        &["alert 0:", "created_at", "2024-03-08T14:30:00Z"],
    );
}

#[test]
fn wrong_usage_ends_with_two() {
    let run = |args: &[&str]| {
        answer(
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
    says(&swapped.stderr, &["--from", "--to"]);
}

#[test]
fn nobody_listening_on_standard_error_is_no_reason_to_fail() {
    let case = Case::new(ALERTS).bars(BAR);
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
