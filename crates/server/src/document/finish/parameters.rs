//! Parameters that operations share.

use serde_json::{Value, json};

/// Returns the components of the parameters.
pub(super) fn components() -> Value {
    json!({
        "IdempotencyKey": {
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "A unique key for this request, such as a UUID. A repeat within 24 hours gets the first response, and the request runs only once. The same key with a different body returns 422.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]([ -~]*[!-~])?$"},
        },
    })
}

/// Adds the parameter component with this name to an operation.
pub(in crate::document) fn add_parameter(operation: &mut Value, name: &str) {
    let parameter = json!({"$ref": format!("#/components/parameters/{name}")});
    match operation["parameters"].as_array_mut() {
        Some(parameters) => parameters.push(parameter),
        None => operation["parameters"] = json!([parameter]),
    }
}

/// Removes the format of `limit`: a limit above the maximum is reduced to it, so it has no bound.
pub(super) fn unbound_limits(operation: &mut Value) {
    let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        if parameter["name"] == "limit"
            && let Some(schema) = parameter["schema"].as_object_mut()
        {
            schema.remove("format");
        }
    }
}
