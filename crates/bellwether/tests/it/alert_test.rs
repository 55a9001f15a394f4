//! `bellwether test --provider`: alerts played over the history of a fake provider on loopback.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use std::fs;

use serde_json::{Value, json};

use crate::support::program::{CommandOutput, TestSetup};
use crate::support::providers::{KEY, Responses, start};

/// Returns bars of five sessions. The middle one reaches 105.
fn bars() -> Value {
    let closes = [
        ("2024-03-04", 100.0),
        ("2024-03-05", 101.0),
        ("2024-03-06", 105.0),
        ("2024-03-07", 102.0),
        ("2024-03-08", 99.0),
    ];
    let bars = closes.map(|(day, close)| {
        json!({"t": format!("{day}T05:00:00Z"), "o": close, "h": close, "l": close, "c": close, "v": 1_000_000, "n": 1_000, "vw": close})
    });
    json!(bars)
}

fn responses() -> Responses {
    let bars = json!({"bars": {"AAPL": bars(), "SPY": bars()}, "next_page_token": null});
    let no_actions = json!({"corporate_actions": {}, "next_page_token": null});
    Responses::from([
        ("/v2/stocks/bars", bars.to_string()),
        ("/v1/corporate-actions", no_actions.to_string()),
    ])
}

/// Writes a file with one alert that is expected to fire on a day.
fn write_alert(setup: &TestSetup, expected_day: &str, when: &str) {
    let alert = json!({"name": "apple", "symbol": "AAPL", "when": when, "expect": {"fires_on": [expected_day]}});
    let file = json!({"version": 1, "alerts": [alert]});
    fs::write(setup.path().join("alerts.json"), file.to_string()).unwrap();
}

/// Plays an alert above 104 that is expected to fire on a day.
async fn test(setup: TestSetup, expected_day: &str) -> CommandOutput {
    write_alert(&setup, expected_day, "price > 104");
    let args = ["--from", "2024-03-04", "--to", "2024-03-08", "--json"];
    let args = [&["test", "-f", "alerts.json", "--provider"], &args[..]].concat();
    tokio::task::spawn_blocking(move || setup.run(&args)).await.unwrap()
}

async fn with_provider() -> TestSetup {
    let fakes = start(responses()).await;
    TestSetup::new()
        .set("MARKET__SOURCE", "providers")
        .set("SOURCES__ALPACA__KEY_ID", KEY)
        .set("SOURCES__ALPACA__SECRET", KEY)
        .set("SOURCES__ALPACA__STREAM_URL", &fakes.stream)
        .set("SOURCES__ALPACA__DATA_URL", &fakes.http)
        .set("SOURCES__ALPACA__TRADING_URL", &fakes.http)
}

#[tokio::test(flavor = "multi_thread")]
async fn alerts_are_played_over_the_history_of_a_provider() {
    let done = test(with_provider().await, "2024-03-06").await;
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    let result: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(result["firings"], 1, "{result}");
    assert_eq!(result["last"], "2024-03-06", "{result}");
    let missing = "The data lacks earnings: no provider is configured for earnings";
    assert!(done.stderr.contains(missing), "{}", done.stderr);
}

/// The bars of the years before the first day only warm up the indicators.
#[tokio::test(flavor = "multi_thread")]
async fn firings_before_the_first_day_do_not_count() {
    let setup = with_provider().await;
    write_alert(&setup, "2024-03-07", "price < 103");
    let args = [
        "test",
        "-f",
        "alerts.json",
        "--provider",
        "--from",
        "2024-03-07",
        "--to",
        "2024-03-08",
        "--json",
    ];
    let done = tokio::task::spawn_blocking(move || setup.run(&args)).await.unwrap();
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    let result: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(result["firings"], 1, "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_expectation_names_the_day() {
    let done = test(with_provider().await, "2024-03-07").await;
    assert_eq!(done.code, Some(1), "{}{}", done.stdout, done.stderr);
    assert!(done.stderr.contains("2024-03-07"), "{}", done.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn test_without_a_provider_says_what_to_configure() {
    let done = test(TestSetup::new(), "2024-03-06").await;
    assert_eq!(done.code, Some(1), "{}{}", done.stdout, done.stderr);
    assert!(done.stderr.contains("no provider is configured"), "{}", done.stderr);
    assert!(done.stderr.contains("docs/data-sources.md"), "{}", done.stderr);
}
