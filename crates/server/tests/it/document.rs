//! The published OpenAPI document. A change of it changes the API and shows in the snapshot.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

use std::collections::BTreeMap;

use contract::{Contract, ExampleOf};
use serde_json::{Value, json};
use server::document::{self, OpenApiDocument};

use crate::snapshot_folder::assert_snapshot_folder;

fn contract() -> Contract {
    Contract::new(document::generate()).unwrap()
}

#[test]
fn published_document_matches_its_snapshots() {
    let mut document = document::generate();
    let paths = document["paths"].take();
    let paths = paths.as_object().unwrap().iter();
    let paths = paths.map(|(path, item)| (path.trim_start_matches('/'), item));
    assert_snapshot_folder("snapshots/openapi/paths", paths);
    let schemas = document["components"]["schemas"].take();
    assert_snapshot_folder("snapshots/openapi/schemas", schemas.as_object().unwrap());
    assert_snapshot_folder("snapshots/openapi", [("document", &document)]);
}

#[test]
fn yaml_form_has_the_value_of_the_document() {
    let yaml = OpenApiDocument::new(document::generate).yaml();
    let value: Value = yaml_serde::from_slice(&yaml).unwrap();
    assert_eq!(value, document::generate());
}

#[test]
fn each_operation_has_a_unique_id() {
    let contract = contract();
    let mut by_id: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for operation in contract.operations() {
        by_id.entry(&operation.id).or_default().push(operation.to_string());
    }
    let shared: Vec<_> = by_id
        .iter()
        .filter(|(id, operations)| id.is_empty() || operations.len() > 1)
        .collect();
    assert!(shared.is_empty(), "{shared:#?}");
}

/// Returns `true` for content types of pages, which are not client data.
fn is_page(content_type: &str) -> bool {
    ["text/html", "text/css", "text/javascript", "text/plain"].contains(&content_type)
}

#[test]
fn each_body_has_a_valid_example() {
    let contract = contract();
    let mut faults = Vec::new();
    for example in contract.examples() {
        if is_page(&example.content_type) {
            continue;
        }
        if example.values.is_empty() {
            faults.push(format!("{} has no example", example.schema));
        }
        for value in &example.values {
            let errors = contract.schema_errors(&example.schema, value).unwrap();
            faults.extend(errors.iter().map(|error| format!("{}: {error}", example.schema)));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn each_event_of_a_stream_has_a_valid_example() {
    let contract = contract();
    let analysis = ["figures", "alert", "summary", "done", "error"];
    for (path, events) in [
        ("/api/v1/stocks/{symbol}/analysis", &analysis[..]),
        ("/api/v1/firings/stream", &["open", "firing"]),
    ] {
        let operation = &contract.document()["paths"][path]["get"];
        let content = &operation["responses"]["200"]["content"]["text/event-stream"];
        let examples = content["examples"].as_object().unwrap();
        assert_eq!(examples.keys().collect::<Vec<_>>(), events);
        for (name, example) in examples {
            let event = &example["value"];
            assert_eq!(event["event"], name.as_str());
            let data: Value = serde_json::from_str(event["data"].as_str().unwrap()).unwrap();
            let schema = operation["x-events"][name]["$ref"].as_str().unwrap();
            let errors = contract.schema_errors(schema.trim_start_matches('#'), &data).unwrap();
            assert!(errors.is_empty(), "{path} {name}: {errors:#?}");
        }
    }
}

#[test]
fn webhooks_section_describes_actual_deliveries() {
    let contract = contract();
    let delivery = &contract.document()["webhooks"]["alert.triggered"]["post"];
    let headers: Vec<&str> = delivery["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|header| header["name"].as_str().unwrap())
        .collect();
    let expected = [
        "X-Service-Event",
        "X-Service-Delivery",
        "X-Service-Timestamp",
        "X-Service-Signature",
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
    ];
    assert_eq!(headers, expected);
    let examples = contract.examples();
    let webhook = |example: &&contract::DocumentedExample<'_>| matches!(example.of, ExampleOf::Webhook(_));
    let schema = &examples.iter().find(webhook).unwrap().schema;
    // The event that a webhook test sends.
    let data = notify::message::test_event_data(uuid::Uuid::from_u128(1), "2026-03-02T15:04:00Z".parse().unwrap());
    let id = "00000000-0000-4000-8000-000000000002".parse().unwrap();
    let at = "2026-03-02T15:04:00Z".parse().unwrap();
    let body = notify::message::webhook_body(id, "alert.triggered", at, &data);
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(contract.schema_errors(schema, &body).unwrap(), Vec::<String>::new());
    let mut wrong = body;
    wrong["data"]["alert"]["triggered_at"] = json!("yesterday");
    assert_eq!(contract.schema_errors(schema, &wrong).unwrap().len(), 1);
}

#[test]
fn request_schemas_accept_valid_and_reject_invalid_values() {
    let contract = contract();
    let body = |schema: &str, value: Value| {
        let errors = contract.schema_errors(&format!("/components/schemas/{schema}"), &value);
        errors.unwrap().is_empty()
    };
    let item = |field: &str, value: Value| {
        let mut item = json!({"stock_symbol": "AAPL", "intention": "buy"});
        item[field] = value;
        body("CreateWatchlistItem", item)
    };
    assert!(item("stock_name", json!("Apple Inc.")));
    assert!(!item("stock_name", json!("Apple\nInc.")) && !item("stock_name", json!("  ")));
    assert!(item("target_price", json!(1_000_000_000)) && item("target_price", json!(0.000_001)));
    assert!(!item("target_price", json!(1_000_000_001)) && !item("target_price", json!(0)));
    let reminder = |date: &str| {
        body(
            "CreateAlert",
            json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": date}}),
        )
    };
    assert!(
        reminder("2026-11-30") && reminder("2026-12-31T09:30:00Z") && reminder("2028-02-29") && reminder("2000-02-29")
    );
    assert!(!reminder("2026-02-29") && !reminder("2026-13-01") && !reminder("1900-02-29") && !reminder("soon"));
    let test = |value: Value| body("TestWebhook", value);
    assert!(test(json!({"url": "https://example.com/hook", "secret": "s"})));
    assert!(test(json!({"url": "https://hooks.slack.com/services/x"})));
    assert!(!test(json!({"url": "https://example.com/hook"})));
    assert!(!test(json!({"url": "https://example.com/hook", "secret": null})));
}
