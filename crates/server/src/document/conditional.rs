//! Conditional requests: the operations with an `ETag` response header, which return 304 for a matching `If-None-Match`.

use serde_json::{Value, json};

use super::finish::add_parameter;

/// The paths of the API description.
const DESCRIPTION: [&str; 5] = [
    "/openapi.json",
    "/openapi.yaml",
    "/docs",
    "/docs/docs.css",
    "/docs/docs.js",
];

/// Adds the header and parameter components.
pub(super) fn components(components: &mut Value) {
    components["headers"]["ETag"] = json!({
        "description": "The entity tag of the content. For a list it covers `data` and `meta.pagination`, not `meta.rate_limit`.",
        "schema": {"type": "string", "pattern": "^W/\"[A-Za-z0-9_-]+\"$"},
        "example": "W/\"wlY3oEpKzyQNHnBGV0LxYA\"",
    });
    components["parameters"]["IfNoneMatch"] = json!({
        "name": "If-None-Match", "in": "header", "required": false,
        "description": "The `ETag` of an earlier response. If the content is unchanged, the response is 304 without a body. The request counts toward the rate limit.",
        "schema": {"type": "string"},
        "example": "W/\"wlY3oEpKzyQNHnBGV0LxYA\"",
    });
}

/// Describes the entity tag of a GET operation. Call it after the common headers are added.
pub(super) fn describe(path: &str, operation: &mut Value) {
    if !DESCRIPTION.contains(&path) && !is_list(operation) {
        return;
    }
    add_parameter(operation, "IfNoneMatch");
    let responses = &mut operation["responses"];
    responses["200"]["headers"]["ETag"] = json!({"$ref": "#/components/headers/ETag"});
    responses["304"] = json!({
        "description": "The content matches `If-None-Match`",
        "headers": responses["200"]["headers"],
    });
    if let Some(responses) = responses.as_object_mut() {
        responses.sort_keys();
    }
}

fn is_list(operation: &Value) -> bool {
    let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"];
    schema
        .as_str()
        .is_some_and(|schema| schema.starts_with("#/components/schemas/Envelope_Vec_"))
}
