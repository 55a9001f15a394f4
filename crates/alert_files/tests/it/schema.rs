//! The JSON Schema of files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use alert_files::file_schema;
use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn is_valid(file: &Value) -> bool {
    jsonschema::draft202012::new(&file_schema()).unwrap().is_valid(file)
}

fn with(alert: Value) -> Value {
    json!({"version": 1, "alerts": [alert]})
}

/// The schema is checked in, so that editors can use it. `UPDATE=1` writes it.
#[test]
fn checked_in_schema_is_that_of_the_program() {
    let path = root().join("docs/schemas/alerts-file.json");
    let text = format!("{}\n", serde_json::to_string_pretty(&file_schema()).unwrap());
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap() == text,
        "run this test with UPDATE=1, and read the difference"
    );
}

#[test]
fn valid_files_are_accepted() {
    for alert in [
        json!({"name": "dip", "symbol": "AAPL", "when": "price < 180", "expect": {"fires_on": ["2024-08-05"], "at_most_per_year": 12}}),
        json!({"name": "a", "symbol": "AAPL", "condition": "price_above", "threshold": 200, "notify": "sms"}),
        json!({"name": "a", "symbol": "AAPL", "condition": "price_above", "threshold": "${LEVEL}"}),
        json!({"name": "a", "scope": {"watchlist": "buy"}, "condition": "new_high", "options": {"repeat": "each_time"}}),
    ] {
        assert!(is_valid(&with(alert.clone())), "{alert}");
    }
    assert!(is_valid(
        &json!({"version": 1, "defaults": {"symbol": "AAPL", "notify": {"channels": ["phone"]}}, "alerts": []})
    ));
}

#[test]
fn mistakes_are_found() {
    for alert in [
        json!({"symbol": "AAPL", "when": "price < 180"}),
        json!({"name": "a", "symbol": "AAPL"}),
        json!({"name": "a", "symbol": "AAPL", "when": "price < 180", "condition": "new_high"}),
        json!({"name": "a", "symbol": "AAPL", "scope": {"watchlist": "all"}, "when": "price < 180"}),
        json!({"name": "a", "simbol": "AAPL", "when": "price < 180"}),
        json!({"name": "a", "symbol": "AAPL", "condition": "price_abov"}),
        json!({"name": "a", "symbol": "AAPL", "when": "price < 180", "options": {"repeat": "daily"}}),
    ] {
        assert!(!is_valid(&with(alert.clone())), "{alert}");
    }
    assert!(!is_valid(&json!({"version": 2, "alerts": []})) && !is_valid(&json!({"alerts": []})));
}

#[test]
fn options_are_those_of_the_api() {
    let path = root().join("crates/server/tests/it/snapshots/openapi/schemas/AlertOptions.snap");
    let text = fs::read_to_string(path).unwrap();
    let (_, body) = text.trim_start_matches("---\n").split_once("\n---\n").unwrap();
    let api: Value = yaml_serde::from_str(body).unwrap();
    let names =
        |schema: &Value| -> BTreeSet<String> { schema["properties"].as_object().unwrap().keys().cloned().collect() };
    let schema = file_schema();
    let options = &schema["properties"]["defaults"]["properties"]["options"];
    assert_eq!(names(options), names(&api));
}
