//! Comparison with the OpenAPI document: its parts are checked in as snapshots of the server's tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use client::OPERATIONS;
use serde::de::value::Error;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;

/// Reads a part of the document: `paths/api_v1_alerts` or `schemas/AlertFields`.
fn part(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/tests/it/snapshots/openapi");
    let text = fs::read_to_string(folder.join(format!("{name}.snap"))).unwrap();
    let (_, body) = text.trim_start_matches("---\n").split_once("\n---\n").unwrap();
    yaml_serde::from_str(body).unwrap()
}

fn path(path: &str) -> Value {
    let words = path.split(|character: char| !(character.is_ascii_alphanumeric() || "-_".contains(character)));
    let name: Vec<_> = ["api", "v1"]
        .into_iter()
        .chain(words.filter(|word| !word.is_empty()))
        .collect();
    part(&format!("paths/{}", name.join("_")))
}

/// Returns the names of all properties of a schema and those that are required.
fn properties(schema: &Value) -> (BTreeSet<String>, BTreeSet<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        return properties(&part(&format!("schemas/{}", reference.rsplit('/').next().unwrap())));
    }
    let mut all: BTreeSet<String> = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect();
    let names = schema["required"].as_array().into_iter().flatten();
    let mut required: BTreeSet<String> = names.map(|name| name.as_str().unwrap().to_owned()).collect();
    for inner in schema["allOf"].as_array().into_iter().flatten() {
        let (more, more_required) = properties(inner);
        all.extend(more);
        required.extend(more_required);
    }
    (all, required)
}

/// Records the names of the fields that a type reads.
struct FieldNames<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("no value"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        Err(Error::custom("no value"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq
        tuple tuple_struct map enum identifier ignored_any
    }
}

fn fields<T: for<'de> Deserialize<'de>>() -> &'static [&'static str] {
    let mut fields: &'static [&'static str] = &[];
    assert!(T::deserialize(FieldNames(&mut fields)).is_err());
    fields
}

/// Compares the fields that a type reads with a schema: each exists, and those without which the type cannot be read are required.
fn compare<T: for<'de> Deserialize<'de>>(schema: &str) {
    let (all, required) = properties(&part(&format!("schemas/{schema}")));
    let fields = fields::<T>();
    assert!(!fields.is_empty(), "{schema}");
    for field in fields {
        assert!(all.contains(*field), "{schema} has no field {field}");
        if !required.contains(*field) {
            let json: serde_json::Result<T> = serde_json::from_value(Value::Object(serde_json::Map::new()));
            let error = json.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(
                !error.contains(&format!("`{field}`")),
                "{schema}.{field} is not required"
            );
        }
    }
}

#[test]
fn each_operation_is_in_the_document_with_its_parameters_and_fields() {
    for operation in OPERATIONS {
        let item = path(operation.path);
        let described = &item[operation.method.to_lowercase()];
        assert!(described.is_object(), "{operation:?}");
        let parameters: BTreeSet<&str> = described["parameters"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|parameter| parameter["name"].as_str())
            .collect();
        for name in operation.query {
            assert!(parameters.contains(name), "{operation:?} has no parameter {name}");
        }
        let body = &described["requestBody"]["content"]["application/json"]["schema"];
        let (fields, _) = properties(body);
        for name in operation.fields {
            assert!(fields.contains(*name), "{operation:?} has no field {name}");
        }
    }
}

#[test]
fn writes_of_the_client_accept_an_idempotency_key() {
    for operation in OPERATIONS.iter().filter(|operation| operation.method == "POST") {
        let item = path(operation.path);
        let parameters = item["post"]["parameters"].to_string();
        assert!(parameters.contains("IdempotencyKey"), "{operation:?}: {parameters}");
    }
}

#[test]
fn each_field_of_a_response_is_in_the_document() {
    compare::<client::RemoteAlert>("AlertFields");
    compare::<client::RemoteManagedBy>("ManagedBy");
    compare::<client::RemoteChangedAlerts>("ChangedAlerts");
    compare::<client::RemoteBatchedAlert>("BatchedAlert");
    compare::<client::RemoteDeletedAlert>("DeletedAlert");
    compare::<client::RemoteParsedAlert>("ParsedAlert");
    compare::<client::RemotePreview>("AlertPreview");
    compare::<client::RemotePreviewedFiring>("PreviewedFiring");
    compare::<client::RemotePreviewCoverage>("PreviewCoverage");
    compare::<client::RemotePreviewNoise>("PreviewNoise");
    compare::<client::RemoteExplanation>("AlertExplanation");
    compare::<client::RemoteFiring>("Firing");
    compare::<client::RemoteFiringTimeline>("FiringTimeline");
    compare::<client::RemoteRefusedChange>("RefusedChange");
}
