//! The schemas of webhook events in `docs/schemas/events`: one self-contained file for each event type.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jsonschema::draft202012;
use serde_json::{Map, Value, json};

/// Returns the schemas of event bodies in the document's `webhooks` section, by event type.
fn event_schemas() -> BTreeMap<String, Value> {
    let document = server::document::generate();
    let webhooks = document["webhooks"].as_object().unwrap();
    webhooks
        .iter()
        .map(|(event, webhook)| {
            let body = &webhook["post"]["requestBody"]["content"]["application/json"];
            (
                event.clone(),
                self_contained(event, body, &document["components"]["schemas"]),
            )
        })
        .collect()
}

/// Returns the schema of a body, with the components that it refers to as `$defs`.
fn self_contained(event: &str, body: &Value, components: &Value) -> Value {
    let mut schema = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "title": event});
    let mut names = Vec::new();
    let mut definitions = Map::new();
    let reference = localize(&body["schema"], &mut names);
    while let Some(name) = names.pop() {
        if !definitions.contains_key(&name) {
            let definition = localize(&components[&name], &mut names);
            definitions.insert(name, definition);
        }
    }
    let root = reference["$ref"].as_str().unwrap().trim_start_matches("#/$defs/");
    let root = definitions.remove(root).unwrap();
    definitions.sort_keys();
    let members = schema.as_object_mut().unwrap();
    members.extend(root.as_object().unwrap().clone());
    schema["examples"] = json!([body["example"]]);
    schema["$defs"] = definitions.into();
    schema
}

/// Returns a schema whose references lead to `$defs`, and collects their names. JSON Schema has `examples`, but no `example`.
fn localize(schema: &Value, names: &mut Vec<String>) -> Value {
    match schema {
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| match key.as_str() {
                "$ref" => {
                    let name = value.as_str().unwrap().trim_start_matches("#/components/schemas/");
                    names.push(name.to_owned());
                    (key.clone(), json!(format!("#/$defs/{name}")))
                }
                "example" => ("examples".to_owned(), json!([value])),
                _ => (key.clone(), localize(value, names)),
            })
            .collect(),
        Value::Array(values) => values.iter().map(|value| localize(value, names)).collect(),
        scalar => scalar.clone(),
    }
}

#[test]
fn checked_in_event_schemas_match_the_document() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas/events");
    let is_update = std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always");
    let mut expected = BTreeSet::new();
    for (event, schema) in event_schemas() {
        let name = format!("{event}.json");
        let path = folder.join(&name);
        let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
        if is_update {
            std::fs::write(&path, &text).unwrap();
        }
        let checked_in = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            checked_in == text,
            "docs/schemas/events/{name} differs; update it with INSTA_UPDATE=always"
        );
        expected.insert(name);
    }
    let files = std::fs::read_dir(folder).unwrap();
    let files: BTreeSet<_> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(files, expected);
}

#[test]
fn event_schemas_accept_examples_and_reject_incomplete_events() {
    for (event, schema) in event_schemas() {
        assert!(draft202012::meta::is_valid(&schema), "{event}");
        let options = draft202012::options().should_validate_formats(true);
        let validator = options.build(&schema).unwrap();
        for example in schema["examples"].as_array().unwrap() {
            let errors: Vec<_> = validator.iter_errors(example).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{event}: {errors:#?}");
            assert_eq!(example["event"], json!(event));
            for member in ["id", "event", "timestamp", "data"] {
                let mut incomplete = example.clone();
                incomplete.as_object_mut().unwrap().remove(member);
                assert!(!validator.is_valid(&incomplete), "{event} without {member}");
            }
        }
    }
}
