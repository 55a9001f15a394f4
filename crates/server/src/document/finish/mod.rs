//! The parts of the document that all endpoints share: metadata, security, common headers and errors.

use serde_json::{Map, Value, json};

use super::{VERSION, alert_body, conditional, examples, ingest_body, webhooks};
use crate::error::{ApiError, ApiErrorCode};

/// The HTTP methods of operations.
pub(super) const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];
/// The security schemes of API operations. The last two require a sign-in.
const API_SCHEMES: [&str; 4] = ["ApiKeyHeader", "ApiKeyAuthorization", "Bearer", "SessionCookie"];
/// The security scheme of external schedulers.
const SCHEDULER_SCHEMES: [&str; 1] = ["CronSecret"];
/// The security schemes of the MCP endpoint.
const AGENT_SCHEMES: [&str; 3] = ["ApiKeyHeader", "ApiKeyAuthorization", "AgentToken"];
/// The security scheme of endpoints that accept no API key.
const SESSION_SCHEME: &str = "SessionCookie";

/// The content type of browser forms and provider callbacks.
const FORM: &str = "application/x-www-form-urlencoded";
/// The content type of other requests.
const JSON: &str = "application/json";
/// Errors that have an error envelope everywhere, including pages.
const ALWAYS_JSON: [ApiErrorCode; 3] = [
    ApiErrorCode::NotFound,
    ApiErrorCode::PayloadTooLarge,
    ApiErrorCode::UnsupportedMediaType,
];

/// Routes with OAuth error responses.
const OAUTH_API_ROUTES: [&str; 3] = ["/oauth/token", "/oauth/register", "/oauth/revoke"];

/// Completes the document that is generated from the endpoints.
pub(super) fn finish(document: &mut Value) {
    document["info"] = json!({
        "title": "Bellwether",
        "version": VERSION,
        "summary": "Self-hosted stock alerts",
        "description": include_str!("description.md"),
        "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
    });
    document["servers"] = json!([{"url": "/", "description": "This service"}]);
    document["tags"] = json!([
        {"name": "Identity", "description": "Registration, sign-in and sessions"},
        {"name": "User", "description": "The account and its settings"},
        {"name": "OAuth", "description": "Authorization of MCP clients, and its revocation"},
        {"name": "API Keys", "description": "Keys for programs, managed by signed-in users"},
        {"name": "Alerts", "description": "Create, read, update and delete alerts"},
        {"name": "Stocks", "description": "The stock catalog, quotes, candles and fundamentals"},
        {"name": "Market", "description": "Market status, calendars, overviews, and ingestion of market data"},
        {"name": "Watchlist", "description": "Planned trades, simulated trades and their performance"},
        {"name": "Webhooks", "description": "Endpoints for events, and their deliveries"},
        {"name": "Pages", "description": "Pages behind email links. Opening a page changes nothing; submitting its form does"},
        {"name": "Messages", "description": "Email and text messages: the outbox, unsubscribing, provider reports"},
        {"name": "MCP", "description": "The Model Context Protocol endpoint for AI agents"},
        {"name": "Feedback", "description": "Feature requests and bug reports"},
        {"name": "Utilities", "description": "Redirects"},
        {"name": "Cron", "description": "Scheduled jobs, for external schedulers"},
        {"name": "Description", "description": "The API description"},
        {"name": "Operation", "description": "For operators; on a separate listener if `server.ops_listen` is set"},
    ]);
    components(&mut document["components"]);
    conditional::components(&mut document["components"]);
    let Some(paths) = document["paths"].as_object_mut() else {
        return;
    };
    for (path, item) in paths {
        for method in METHODS {
            if let Some(operation) = item.get_mut(method) {
                finish_operation(path, method, operation);
                if method == "get" {
                    conditional::describe(path, operation);
                }
            }
        }
    }
    webhooks::describe(document);
    examples::fill(document);
}

/// Replaces `oneOf` by `anyOf` for the three sizes of a listed alert, because the larger sizes contain the smaller ones.
fn allow_overlapping_alert_sizes(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let is_of_sizes = members
                .get("oneOf")
                .is_some_and(|sizes| sizes[0]["$ref"] == "#/components/schemas/ExtendedAlert");
            if is_of_sizes && let Some(sizes) = members.remove("oneOf") {
                members.insert("anyOf".to_owned(), sizes);
            }
            members.values_mut().for_each(allow_overlapping_alert_sizes);
        }
        Value::Array(values) => values.iter_mut().for_each(allow_overlapping_alert_sizes),
        _ => {}
    }
}

fn components(components: &mut Value) {
    let schemas = &mut components["schemas"];
    allow_overlapping_alert_sizes(schemas);
    alert_body::describe(schemas);
    ingest_body::describe(schemas);
    for (name, is_true) in [("ErrorEnvelope", false), ("Recorded", true)] {
        schemas[name]["properties"]["success"]["const"] = json!(is_true);
    }
    if let Some(schemas) = schemas.as_object_mut() {
        for (name, schema) in schemas {
            if name.starts_with("Envelope_") {
                schema["properties"]["success"]["const"] = json!(true);
            }
        }
    }
    for name in [
        "DeletedWebhook",
        "DeletedWatchlistItem",
        "DeletedApiKey",
        "DeletedAccount",
        "EndedGrant",
    ] {
        schemas[name]["properties"]["deleted"]["const"] = json!(true);
    }
    schemas["RequestPhone"]["properties"]["sms_consent"]["const"] = json!(true);
    // Slack messages are unsigned, so a test of a Slack URL needs no secret.
    schemas["TestWebhook"]["anyOf"] = json!([
        {"title": "Signed", "required": ["secret"], "properties": {"secret": {"type": "string"}}},
        {"title": "Slack", "properties": {"url": {"pattern": "^https://hooks\\.slack(-gov)?\\.com/"}}},
    ]);
    schemas["TestWebhook"]["example"] = json!({
        "url": "https://example.com/hooks/bellwether",
        "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
    });
    for (name, description) in [
        (
            "secret",
            "Must be omitted; `POST /webhooks/{id}/rotate-secret` creates a new secret",
        ),
        ("signature", "Must be omitted; it is set when the webhook is created"),
    ] {
        schemas["UpdateWebhook"]["properties"][name] = json!({"type": "null", "description": description});
    }
    components["securitySchemes"] = json!({
        "ApiKeyHeader": {
            "type": "apiKey", "in": "header", "name": "X-API-Key",
            "description": "An API key: `sk_` and 64 characters",
        },
        "ApiKeyAuthorization": {
            "type": "apiKey", "in": "header", "name": "Authorization",
            "description": "`ApiKey`, a space, and an API key",
        },
        "Bearer": {
            "type": "http", "scheme": "bearer",
            "description": "An access token, or an API key, as a bearer token",
        },
        "SessionCookie": {
            "type": "apiKey", "in": "cookie", "name": "__Host-bellwether_session",
            "description": "The session cookie, set at sign-in. Without HTTPS its name is `bellwether_session`. Write requests need an `Origin` of the service or `Sec-Fetch-Site: same-origin`.",
        },
    });
    components["securitySchemes"]["CronSecret"] = json!({
        "type": "http", "scheme": "bearer",
        "description": "The operator's secret for scheduled jobs, from the setting `operator.cron_secret`",
    });
    components["securitySchemes"]["AgentToken"] = json!({
        "type": "http", "scheme": "bearer", "bearerFormat": "mcp_at_…",
        "description": "An OAuth access token for `/mcp`. `/.well-known/oauth-protected-resource/mcp` describes how to get one.",
    });
    components["headers"] = json!({
        "X-RateLimit-Limit": header("The maximum number of requests in a window", &json!({"type": "integer", "minimum": 0}), &json!(100)),
        "X-RateLimit-Remaining": header("The remaining requests in the window", &json!({"type": "integer", "minimum": 0}), &json!(99)),
        "X-RateLimit-Reset": header(
            "The end of the window, in milliseconds since the Unix epoch",
            &json!({"type": "integer", "format": "int64", "minimum": 0}),
            &json!(1_767_369_600_000_i64),
        ),
        "X-Request-Id": header(
            "The request id: the one from the request, or a new one",
            &json!({"type": "string", "pattern": "^[A-Za-z0-9._-]{1,128}$"}),
            &json!("0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11"),
        ),
        "Retry-After": header("Seconds to wait before trying again", &json!({"type": "integer", "minimum": 1}), &json!(1800)),
        "Idempotent-Replayed": header(
            "`true` if this is the stored response of an earlier request with the same `Idempotency-Key`",
            &json!({"type": "string", "enum": ["true"]}),
            &json!("true"),
        ),
        "WWW-Authenticate": header("The accepted authentication schemes", &json!({"type": "string"}), &json!("ApiKey realm=\"api\"")),
    });
    components["parameters"] = json!({
        "IdempotencyKey": {
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "A unique key for this request, such as a UUID. A repeat within 24 hours gets the first response, and the request runs only once. The same key with a different body returns 422.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]([ -~]*[!-~])?$"},
        },
    });
}

fn header(description: &str, schema: &Value, example: &Value) -> Value {
    json!({"description": description, "schema": schema, "example": example})
}

fn finish_operation(path: &str, method: &str, operation: &mut Value) {
    let scopes = scopes(operation);
    let is_optional = is_optional(operation);
    operation["security"] = match &scopes {
        Some(scopes) => schemes(operation)
            .iter()
            .map(|scheme| json!({*scheme: scopes}))
            .collect(),
        None => json!([]),
    };
    if is_optional && let Some(schemes) = operation["security"].as_array_mut() {
        schemes.push(json!({}));
    }
    let is_api = path.starts_with("/api/v1/");
    let is_page = operation["tags"][0] == "Pages";
    // These routes have the error format of the OAuth RFCs.
    let is_oauth_api = OAUTH_API_ROUTES.contains(&path);
    let takes_form = operation["requestBody"]["content"].get(FORM).is_some() && !is_oauth_api;
    let is_secured = scopes.is_some();
    if let Some(scope) = scopes.as_ref().and_then(|scopes| scopes.first()) {
        operation["x-required-scope"] = scope.clone();
    }
    let has_body = operation.get("requestBody").is_some();
    if has_body {
        operation["requestBody"]["required"] = json!(true);
        alert_body::add_examples(operation);
    }
    let may_be_replayed = is_api && method == "post";
    if may_be_replayed {
        let parameters = &mut operation["parameters"];
        let key = json!({"$ref": "#/components/parameters/IdempotencyKey"});
        match parameters.as_array_mut() {
            Some(parameters) => parameters.push(key),
            None => *parameters = json!([key]),
        }
    }
    let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        // A limit above the maximum is reduced to it, so its format has no bound.
        if parameter["name"] == "limit"
            && let Some(schema) = parameter["schema"].as_object_mut()
        {
            schema.remove("format");
        }
    }
    let has_parameters = operation.get("parameters").is_some();
    let has_path_id = path.contains('{');
    let Some(responses) = operation["responses"].as_object_mut() else {
        return;
    };
    if is_api {
        let errors = [
            (ApiErrorCode::BadRequest, has_body || method == "post"),
            (ApiErrorCode::Unauthorized, is_secured),
            (ApiErrorCode::Forbidden, is_secured),
            (ApiErrorCode::NotFound, has_path_id),
            (ApiErrorCode::Conflict, may_be_replayed),
            (ApiErrorCode::PayloadTooLarge, has_body || method == "post"),
            (ApiErrorCode::UnsupportedMediaType, has_body || method == "post"),
            (ApiErrorCode::ValidationError, has_body || has_parameters),
            (ApiErrorCode::RateLimited, true),
            (ApiErrorCode::InternalError, true),
            (ApiErrorCode::ServiceUnavailable, true),
        ];
        for (code, _) in errors.into_iter().filter(|(_, is_possible)| *is_possible) {
            let status = code.status().as_str().to_owned();
            responses
                .entry(status)
                .or_insert_with(|| json!({"description": meaning(code)}));
        }
    }
    if takes_form {
        for code in [ApiErrorCode::PayloadTooLarge, ApiErrorCode::UnsupportedMediaType] {
            let description = form_refusal(code);
            responses
                .entry(code.status().as_str().to_owned())
                .or_insert_with(|| json!({"description": description}));
        }
    }
    if takes_form && is_page {
        responses.insert(
            ApiErrorCode::RateLimited.status().as_str().to_owned(),
            rate_limit_page(),
        );
    }
    responses.sort_keys();
    for (status, response) in responses.iter_mut() {
        finish_response(status, response, is_api, may_be_replayed);
    }
}

/// Returns the description of an error for form bodies.
const fn form_refusal(code: ApiErrorCode) -> &'static str {
    match code {
        ApiErrorCode::UnsupportedMediaType => "The body is not a form",
        _ => meaning(code),
    }
}

fn rate_limit_page() -> Value {
    json!({
        "description": "Error page: too many requests; it says when to try again",
        "content": {"text/html": {"schema": {"type": "string"}}},
    })
}

/// Returns the security schemes of an operation.
fn schemes(operation: &Value) -> &'static [&'static str] {
    if operation["security"][0].get(SCHEDULER_SCHEMES[0]).is_some() {
        return &SCHEDULER_SCHEMES;
    }
    if operation["security"][0].get(AGENT_SCHEMES[2]).is_some() {
        return &AGENT_SCHEMES;
    }
    let accepts_no_key = operation["security"][0].get(SESSION_SCHEME).is_some();
    if accepts_no_key {
        &API_SCHEMES[2..]
    } else {
        &API_SCHEMES
    }
}

/// Returns the scopes that an operation requires, or `None` if it is public.
fn scopes(operation: &Value) -> Option<Vec<Value>> {
    let first = operation["security"].as_array()?.first()?.as_object()?;
    first.values().next()?.as_array().cloned()
}

/// Returns `true` if authentication is optional.
fn is_optional(operation: &Value) -> bool {
    let all = operation["security"].as_array().map_or(&[][..], Vec::as_slice);
    all.len() > 1 && all.iter().any(|one| one.as_object().is_some_and(Map::is_empty))
}

fn finish_response(status: &str, response: &mut Value, is_api: bool, may_be_replayed: bool) {
    let code = ApiErrorCode::ALL.iter().find(|code| code.status().as_str() == status);
    if let Some(code) = code
        && (is_api || ALWAYS_JSON.contains(code) && response["content"].get(JSON).is_none())
    {
        response["content"] = json!({"application/json": {
            "schema": {"$ref": "#/components/schemas/ErrorEnvelope"},
            "example": example(*code),
        }});
    }
    let mut names = vec!["X-Request-Id"];
    if is_api {
        names.extend(["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]);
    }
    match code {
        Some(ApiErrorCode::RateLimited) => names.push("Retry-After"),
        // Not for a stock without a price, because it is unknown when a price will be available.
        Some(ApiErrorCode::ServiceUnavailable) if is_api => names.push("Retry-After"),
        Some(ApiErrorCode::Conflict) if is_api => names.push("Retry-After"),
        Some(ApiErrorCode::Unauthorized) => names.push("WWW-Authenticate"),
        None if may_be_replayed => names.push("Idempotent-Replayed"),
        _ => {}
    }
    let headers: Map<String, Value> = names
        .into_iter()
        .map(|name| (name.to_owned(), json!({"$ref": format!("#/components/headers/{name}")})))
        .collect();
    response["headers"] = Value::Object(headers);
}

const fn meaning(code: ApiErrorCode) -> &'static str {
    match code {
        ApiErrorCode::BadRequest => "The body is not a JSON object",
        ApiErrorCode::Unauthorized => "Credentials are missing or invalid",
        ApiErrorCode::Forbidden => {
            "The key's scopes or the account's plan do not permit this; `details` has the required permission"
        }
        ApiErrorCode::NotFound => "The resource does not exist",
        ApiErrorCode::MethodNotAllowed => "The route does not support this method",
        ApiErrorCode::Conflict => "A request with this `Idempotency-Key` is in progress",
        ApiErrorCode::PayloadTooLarge => "The body is too large",
        ApiErrorCode::UnsupportedMediaType => "The body is not `application/json` in UTF-8, or it is compressed",
        ApiErrorCode::ValidationError => "The content is invalid; `details.fields` has the messages of each field",
        ApiErrorCode::RateLimited => "Too many requests in this window",
        ApiErrorCode::InternalError => "An internal error",
        ApiErrorCode::ServiceUnavailable => "Temporarily unavailable; try again",
    }
}

/// Returns an example of an error response.
fn example(code: ApiErrorCode) -> Value {
    let error = match code {
        ApiErrorCode::ValidationError => ApiError::field("threshold", "must be omitted for new_high"),
        ApiErrorCode::Forbidden => ApiError::forbidden(
            "scope",
            Some("alerts:write"),
            "this API key lacks the scope alerts:write; use a key that has it",
        ),
        _ => ApiError::new(
            code,
            match code {
                ApiErrorCode::BadRequest => "the body is empty; send a JSON object",
                ApiErrorCode::Unauthorized => {
                    "authentication is required; send an API key as X-API-Key, or an API key or access token as Authorization: Bearer"
                }
                ApiErrorCode::NotFound => "there is no such alert; check its id",
                ApiErrorCode::Conflict => {
                    "a request with this Idempotency-Key is in progress; send it again in a moment"
                }
                ApiErrorCode::PayloadTooLarge => "the body is larger than 1048576 bytes; send a smaller body",
                ApiErrorCode::UnsupportedMediaType => {
                    "the body must be JSON in UTF-8; send Content-Type: application/json"
                }
                ApiErrorCode::RateLimited => {
                    "the limit of 100 requests in this window is exceeded; try again in 1800 s"
                }
                ApiErrorCode::InternalError => crate::error::INTERNAL_ERROR_MESSAGE,
                _ => "this took longer than 30 s; try again",
            },
        ),
    };
    error.to_json()
}
