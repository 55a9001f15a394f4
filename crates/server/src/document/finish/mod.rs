//! The parts of the document that all endpoints share: metadata, security, common headers and errors.

mod metadata;
mod operation;
mod parameters;
mod response;
mod schemas;
mod security;

use serde_json::Value;

pub(super) use parameters::add_parameter;

use super::{conditional, examples, webhooks};

/// The HTTP methods of operations.
pub(super) const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];
/// The content type of browser forms and provider callbacks.
pub(super) const FORM: &str = "application/x-www-form-urlencoded";
/// The content type of other requests.
pub(super) const JSON: &str = "application/json";

/// Completes the document that is generated from the endpoints.
pub(super) fn finish(document: &mut Value) {
    metadata::describe(document);
    let components = &mut document["components"];
    schemas::complete(&mut components["schemas"]);
    components["securitySchemes"] = security::schemes();
    components["headers"] = response::headers();
    components["parameters"] = parameters::components();
    conditional::components(components);
    let paths = document["paths"].as_object_mut();
    for (path, item) in paths.into_iter().flatten() {
        for method in METHODS {
            if let Some(operation) = item.get_mut(method) {
                operation::complete(path, method, operation);
                if method == "get" {
                    conditional::describe(path, operation);
                }
            }
        }
    }
    webhooks::describe(document);
    examples::fill(document);
}
