//! Complete examples of request and response bodies, generated from the examples of their fields.
//!
//! Every JSON and form body of the document has an example, for readers, generated clients and mock servers. [`handwritten`]
//! has the bodies whose fields must be consistent with each other. [`compose`] generates all others.

mod compose;
mod handwritten;

use serde_json::{Value, json};

use super::finish::{FORM, JSON, METHODS};
use compose::Composer;
pub(super) use handwritten::{ID, INSTANT};

/// The content types that get examples.
const DESCRIBED: [&str; 3] = [JSON, FORM, "application/yaml"];

/// Adds an example to each body without one, and one per event type to each event stream.
pub(super) fn fill(document: &mut Value) {
    let schemas = document["components"]["schemas"].clone();
    let composer = Composer::new(&schemas);
    let paths = document["paths"].as_object_mut();
    for (path, item) in paths.into_iter().flatten() {
        for method in METHODS {
            if let Some(operation) = item.get_mut(method) {
                fill_operation(&composer, path, operation);
            }
        }
    }
}

fn fill_operation(composer: &Composer<'_>, path: &str, operation: &mut Value) {
    let parameters = operation["parameters"].as_array().map_or(&[][..], Vec::as_slice);
    let is_paged = parameters.iter().any(|parameter| parameter["name"] == "page");
    let events = operation["x-events"].clone();
    if let Some(body) = operation.get_mut("requestBody") {
        fill_content(composer, body, |kind, schema| match handwritten::request(schema) {
            _ if kind == FORM => handwritten::form(path),
            whole => whole,
        });
    }
    for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
        if let Some(stream) = response.pointer_mut("/content/text~1event-stream") {
            stream["examples"] = stream_examples(composer, &events, &stream["schema"]);
        }
        fill_content(composer, response, |_, schema| handwritten::response(schema, status));
        let pages = response.pointer_mut("/content/application~1json/example/meta");
        if let Some(meta) = pages.filter(|_| !is_paged).and_then(Value::as_object_mut) {
            meta.remove("pagination");
        }
    }
}

fn fill_content(composer: &Composer<'_>, body: &mut Value, whole: impl Fn(&str, &Value) -> Option<Value>) {
    let Some(content) = body.get_mut("content") else {
        return;
    };
    for kind in DESCRIBED {
        let Some(media_type) = content.get_mut(kind) else {
            continue;
        };
        if media_type.get("example").is_none() && media_type.get("examples").is_none() {
            let schema = &media_type["schema"];
            media_type["example"] = whole(kind, schema).unwrap_or_else(|| composer.example(schema));
        }
    }
}

/// Returns one example per event type of a stream. The schema of a stream describes one event.
fn stream_examples(composer: &Composer<'_>, events: &Value, event: &Value) -> Value {
    let kinds = events.as_object().into_iter().flatten();
    let examples = kinds.map(|(name, schema)| {
        let mut value = composer.example(event);
        value["event"] = json!(name);
        value["data"] = json!(alerts::json::text(&composer.example(schema)));
        (name.clone(), json!({"summary": name, "value": value}))
    });
    Value::Object(examples.collect())
}
