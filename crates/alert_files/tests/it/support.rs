//! Files and alerts for tests.

use std::collections::HashMap;

use alert_files::{ChannelIds, FileErrors, FileFormat, FileSet, Plan, SourceFile};
use alerts::request::ParseContext;
use client::RemoteAlert;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use market::Calendar;
use serde_json::{Value, json};
use uuid::Uuid;

pub(crate) const SOURCE: &str = "team";

pub(crate) fn variables(name: &str) -> Option<String> {
    match name {
        "LEVEL" => Some("180".to_owned()),
        "SECRET" => Some("hunter2".to_owned()),
        _ => None,
    }
}

pub(crate) fn read(text: &str) -> Result<FileSet, FileErrors> {
    read_as("alerts.yaml", text)
}

pub(crate) fn read_as(name: &str, text: &str) -> Result<FileSet, FileErrors> {
    let format = FileFormat::of_name(name).unwrap();
    FileSet::read(&[SourceFile { name, text, format }], &variables)
}

/// Reads a file with alerts: each is a text such as `{name: dip, symbol: AAPL, when: price < 180}`.
pub(crate) fn alerts(items: &[&str]) -> FileSet {
    let items: String = items.iter().map(|item| format!("  - {item}\n")).collect();
    read(&format!("version: 1\nalerts:\n{items}")).unwrap()
}

pub(crate) fn with_context<T>(run: impl FnOnce(&ParseContext<'_>) -> T) -> T {
    let now: Timestamp = "2026-11-27T15:00:00Z".parse().unwrap();
    run(&ParseContext {
        now,
        time_zone: &TimeZone::UTC,
        calendar: &Calendar::nyse(),
    })
}

pub(crate) fn channels() -> ChannelIds {
    HashMap::from([("phone".to_owned(), vec![Uuid::from_u128(7)])])
}

pub(crate) fn try_plan(files: &FileSet, present: &[RemoteAlert], prune: bool) -> Result<Plan, FileErrors> {
    with_context(|context| Plan::new(SOURCE, files, present, &channels(), prune, context))
}

pub(crate) fn plan(files: &FileSet, present: &[RemoteAlert]) -> Plan {
    try_plan(files, present, false).unwrap()
}

/// Returns the alert that a server would have after a create request, managed under a name.
pub(crate) fn present(number: u128, name: &str, body: Value) -> RemoteAlert {
    let mut alert = json!({
        "id": Uuid::from_u128(number),
        "symbol": null,
        "condition": null,
        "threshold": null,
        "parameters": null,
        "notification": "email",
        "status": "active",
        "created_at": "2026-11-01T10:00:00.000Z",
        "triggered_at": null,
        "initial_price": null,
        "managed_by": {"source": SOURCE, "name": name},
    });
    for (field, value) in body.as_object().unwrap() {
        alert[field] = value.clone();
    }
    serde_json::from_value(alert).unwrap()
}

/// Returns the alerts that a server has after it has carried out a plan.
pub(crate) fn after(plan: &Plan) -> Vec<RemoteAlert> {
    let batch = plan.to_batch(0);
    let created = batch["create"].as_array().unwrap().iter().zip(100..);
    created
        .map(|(body, number)| {
            let name = body["managed_by"]["name"].as_str().unwrap();
            present(number, name, body.clone())
        })
        .collect()
}
