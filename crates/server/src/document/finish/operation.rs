//! Completes an operation: its security, its shared parameters and its error responses.

use serde_json::{Value, json};

use super::{FORM, add_parameter, parameters, response, security};
use crate::document::alert_body;
use crate::error::ApiErrorCode;

/// Routes with OAuth error responses.
const OAUTH_API_ROUTES: [&str; 3] = ["/oauth/token", "/oauth/register", "/oauth/revoke"];

/// Completes an operation.
pub(super) fn complete(path: &str, method: &str, operation: &mut Value) {
    let is_secured = security::complete(operation);
    let is_api = path.starts_with("/api/v1/");
    let takes_form = operation["requestBody"]["content"].get(FORM).is_some() && !OAUTH_API_ROUTES.contains(&path);
    let is_form_page = takes_form && operation["tags"][0] == "Pages";
    let has_body = operation.get("requestBody").is_some();
    if has_body {
        operation["requestBody"]["required"] = json!(true);
        alert_body::add_examples(operation);
    }
    let may_be_replayed = is_api && method == "post";
    if may_be_replayed {
        add_parameter(operation, "IdempotencyKey");
    }
    parameters::unbound_limits(operation);
    let has_parameters = operation.get("parameters").is_some();
    let reads_json = is_api && (has_body || method == "post");
    let errors = [
        (ApiErrorCode::BadRequest, reads_json),
        (ApiErrorCode::Unauthorized, is_api && is_secured),
        (ApiErrorCode::Forbidden, is_api && is_secured),
        (ApiErrorCode::NotFound, is_api && path.contains('{')),
        (ApiErrorCode::Conflict, may_be_replayed),
        (ApiErrorCode::PayloadTooLarge, reads_json || takes_form),
        (ApiErrorCode::UnsupportedMediaType, reads_json || takes_form),
        (ApiErrorCode::ValidationError, is_api && (has_body || has_parameters)),
        (ApiErrorCode::RateLimited, is_api),
        (ApiErrorCode::InternalError, is_api),
        (ApiErrorCode::ServiceUnavailable, is_api),
    ];
    let Some(responses) = operation["responses"].as_object_mut() else {
        return;
    };
    for (code, _) in errors.into_iter().filter(|(_, is_possible)| *is_possible) {
        let description = match code {
            ApiErrorCode::UnsupportedMediaType if !is_api => "The body is not a form",
            _ => response::error_texts(code).description,
        };
        responses
            .entry(code.status().as_str())
            .or_insert_with(|| json!({"description": description}));
    }
    if is_form_page {
        let page = json!({
            "description": "Error page: too many requests; it says when to try again",
            "content": {"text/html": {"schema": {"type": "string"}}},
        });
        responses.insert(ApiErrorCode::RateLimited.status().as_str().to_owned(), page);
    }
    responses.sort_keys();
    for (status, response) in responses.iter_mut() {
        response::complete(status, response, is_api, may_be_replayed);
    }
}
