//! What is the same for all endpoints, written into the document.

use serde_json::{Map, Value, json};

use super::{VERSION, alert_body, conditional, examples, ingest_body, webhooks};
use crate::error::{ApiError, Code};

/// The methods of operations.
pub(super) const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];
/// What shows who asks; the last two come of signing in.
const SCHEMES: [&str; 4] = ["ApiKeyHeader", "ApiKeyAuthorization", "Bearer", "SessionCookie"];
/// What shows whoever drives schedules from outside.
const SCHEDULER: [&str; 1] = ["CronSecret"];
/// What shows who asks to the endpoint of agents.
const AGENTS: [&str; 3] = ["ApiKeyHeader", "ApiKeyAuthorization", "AgentToken"];
/// What endpoints say that take no API key.
const SIGNED_IN: &str = "SessionCookie";

/// How browsers, and providers that report, send what they say.
const FORM: &str = "application/x-www-form-urlencoded";
/// How all others do.
const JSON: &str = "application/json";
/// Refusals that are an error envelope wherever they occur, on pages too.
const ALWAYS_JSON: [Code; 3] = [Code::NotFound, Code::PayloadTooLarge, Code::UnsupportedMediaType];

/// Routes whose refusals are those of OAuth.
const PROGRAMS: [&str; 3] = ["/oauth/token", "/oauth/register", "/oauth/revoke"];

/// Finishes what the endpoints say of themselves.
pub(super) fn finish(document: &mut Value) {
    document["info"] = json!({
        "title": "Bellwether",
        "version": VERSION,
        "summary": "Stock alerts, on a service of your own",
        "description": include_str!("description.md"),
        "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
    });
    document["servers"] = json!([{"url": "/", "description": "This service"}]);
    document["tags"] = json!([
        {"name": "Identity", "description": "Coming to an account, signing in, and staying so"},
        {"name": "User", "description": "The account, as its owner looks after it"},
        {"name": "OAuth", "description": "How people let apps that come by MCP act for them, and end it"},
        {"name": "API Keys", "description": "What programs show; made by somebody who has signed in"},
        {"name": "Alerts", "description": "What you wait for: made, read, changed, deleted"},
        {"name": "Stocks", "description": "The catalog, and what is known of each stock"},
        {"name": "Market", "description": "Prices, the exchange's hours, and the door for market data"},
        {"name": "Watchlist", "description": "What you mean to do with stocks, and what following that would have earned"},
        {"name": "Webhooks", "description": "Where events are sent, and what became of that"},
        {"name": "Pages", "description": "What the links in mails open: they ask, and change nothing before a button is pressed"},
        {"name": "Messages", "description": "Mail and text messages: the outbox, ending mail, reports of providers"},
        {"name": "MCP", "description": "The way in for agents"},
        {"name": "Feedback", "description": "What people wish for and what they find broken"},
        {"name": "Utilities", "description": "Links that lead on"},
        {"name": "Cron", "description": "Scheduled jobs, for those who start them from outside"},
        {"name": "Description", "description": "This document"},
        {"name": "Operation", "description": "For operators; on a listener of their own if `server.ops_listen` is set"},
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

/// A list shows alerts in one of three sizes, and the larger ones have all that the smaller ones have.
fn let_sizes_overlap(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let is_of_sizes = members
                .get("oneOf")
                .is_some_and(|sizes| sizes[0]["$ref"] == "#/components/schemas/ExtendedAlert");
            if is_of_sizes && let Some(sizes) = members.remove("oneOf") {
                members.insert("anyOf".to_owned(), sizes);
            }
            members.values_mut().for_each(let_sizes_overlap);
        }
        Value::Array(values) => values.iter_mut().for_each(let_sizes_overlap),
        _ => {}
    }
}

fn components(components: &mut Value) {
    let schemas = &mut components["schemas"];
    let_sizes_overlap(schemas);
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
    // Slack takes its messages unsigned, so a test of a Slack URL needs no secret.
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
            "Must be omitted: `POST /webhooks/{id}/rotate-secret` makes a new secret",
        ),
        ("signature", "Must be omitted: it is chosen when a webhook is created"),
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
            "description": "`ApiKey` and, after a space, an API key",
        },
        "Bearer": {
            "type": "http", "scheme": "bearer",
            "description": "An access token, or an API key, as a bearer token",
        },
        "SessionCookie": {
            "type": "apiKey", "in": "cookie", "name": "__Host-bellwether_session",
            "description": "The cookie that signing in sets; where the service is not reached by https it is called `bellwether_session`. What writes needs an `Origin` of the service, or `Sec-Fetch-Site: same-origin`",
        },
    });
    components["securitySchemes"]["CronSecret"] = json!({
        "type": "http", "scheme": "bearer",
        "description": "The operator's secret for scheduled jobs: `operator.cron_secret`",
    });
    components["securitySchemes"]["AgentToken"] = json!({
        "type": "http", "scheme": "bearer", "bearerFormat": "mcp_at_…",
        "description": "The access token of an app that somebody let in by OAuth; it is good for `/mcp` only. `/.well-known/oauth-protected-resource/mcp` says where that begins",
    });
    components["headers"] = json!({
        "X-RateLimit-Limit": header("Requests in a window", &json!({"type": "integer", "minimum": 0}), &json!(100)),
        "X-RateLimit-Remaining": header("How many of them are left", &json!({"type": "integer", "minimum": 0}), &json!(99)),
        "X-RateLimit-Reset": header(
            "When the window ends, in milliseconds since 1970",
            &json!({"type": "integer", "format": "int64", "minimum": 0}),
            &json!(1_767_369_600_000_i64),
        ),
        "X-Request-Id": header(
            "The request's id: the one it came with, or a new one",
            &json!({"type": "string", "pattern": "^[A-Za-z0-9._-]{1,128}$"}),
            &json!("0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11"),
        ),
        "Retry-After": header("After how many seconds to try again", &json!({"type": "integer", "minimum": 1}), &json!(1800)),
        "Idempotent-Replayed": header(
            "That this is the first answer again",
            &json!({"type": "string", "enum": ["true"]}),
            &json!("true"),
        ),
        "WWW-Authenticate": header("How to show who you are", &json!({"type": "string"}), &json!("ApiKey realm=\"api\"")),
    });
    components["parameters"] = json!({
        "IdempotencyKey": {
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "A key of your own for this request, such as a UUID: a repeat within 24 hours gets the first answer, and nothing is done twice. The same key with another body is 422.",
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
    // What is for programs there is answered as the RFCs have it.
    let is_program_s = PROGRAMS.contains(&path);
    let takes_form = operation["requestBody"]["content"].get(FORM).is_some() && !is_program_s;
    let is_secured = scopes.is_some();
    if let Some(scope) = scopes.as_ref().and_then(|scopes| scopes.first()) {
        operation["x-required-scope"] = scope.clone();
    }
    let has_body = operation.get("requestBody").is_some();
    if has_body {
        operation["requestBody"]["required"] = json!(true);
        alert_body::exemplify(operation);
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
        // A larger limit is cut, however large it is.
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
            (Code::BadRequest, has_body || method == "post"),
            (Code::Unauthorized, is_secured),
            (Code::Forbidden, is_secured),
            (Code::NotFound, has_path_id),
            (Code::Conflict, may_be_replayed),
            (Code::PayloadTooLarge, has_body || method == "post"),
            (Code::UnsupportedMediaType, has_body || method == "post"),
            (Code::ValidationError, has_body || has_parameters),
            (Code::RateLimited, true),
            (Code::InternalError, true),
            (Code::ServiceUnavailable, true),
        ];
        for (code, _) in errors.into_iter().filter(|(_, is_possible)| *is_possible) {
            let status = code.status().as_str().to_owned();
            responses
                .entry(status)
                .or_insert_with(|| json!({"description": meaning(code)}));
        }
    }
    if takes_form {
        for code in [Code::PayloadTooLarge, Code::UnsupportedMediaType] {
            let description = form_refusal(code);
            responses
                .entry(code.status().as_str().to_owned())
                .or_insert_with(|| json!({"description": description}));
        }
    }
    if takes_form && is_page {
        responses.insert(Code::RateLimited.status().as_str().to_owned(), page_of_the_impatient());
    }
    responses.sort_keys();
    for (status, response) in responses.iter_mut() {
        finish_response(status, response, is_api, may_be_replayed);
    }
}

/// Why a form is not taken.
const fn form_refusal(code: Code) -> &'static str {
    match code {
        Code::UnsupportedMediaType => "The body is no form",
        _ => meaning(code),
    }
}

fn page_of_the_impatient() -> Value {
    json!({
        "description": "A page that says when to try again",
        "content": {"text/html": {"schema": {"type": "string"}}},
    })
}

/// What shows who asks for an operation.
fn schemes(operation: &Value) -> &'static [&'static str] {
    if operation["security"][0].get(SCHEDULER[0]).is_some() {
        return &SCHEDULER;
    }
    if operation["security"][0].get(AGENTS[2]).is_some() {
        return &AGENTS;
    }
    let takes_no_key = operation["security"][0].get(SIGNED_IN).is_some();
    if takes_no_key { &SCHEMES[2..] } else { &SCHEMES }
}

/// The scopes that an operation needs; `None` if anybody may ask.
fn scopes(operation: &Value) -> Option<Vec<Value>> {
    let first = operation["security"].as_array()?.first()?.as_object()?;
    first.values().next()?.as_array().cloned()
}

/// Whether somebody may ask who shows nothing, too.
fn is_optional(operation: &Value) -> bool {
    let all = operation["security"].as_array().map_or(&[][..], Vec::as_slice);
    all.len() > 1 && all.iter().any(|one| one.as_object().is_some_and(Map::is_empty))
}

fn finish_response(status: &str, response: &mut Value, is_api: bool, may_be_replayed: bool) {
    let code = Code::ALL.iter().find(|code| code.status().as_str() == status);
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
        Some(Code::RateLimited) => names.push("Retry-After"),
        // Not for a stock without a price: the end of that is unknown.
        Some(Code::ServiceUnavailable) if is_api => names.push("Retry-After"),
        Some(Code::Conflict) if is_api => names.push("Retry-After"),
        Some(Code::Unauthorized) => names.push("WWW-Authenticate"),
        None if may_be_replayed => names.push("Idempotent-Replayed"),
        _ => {}
    }
    let headers: Map<String, Value> = names
        .into_iter()
        .map(|name| (name.to_owned(), json!({"$ref": format!("#/components/headers/{name}")})))
        .collect();
    response["headers"] = Value::Object(headers);
}

const fn meaning(code: Code) -> &'static str {
    match code {
        Code::BadRequest => "The body is no JSON object",
        Code::Unauthorized => "Nothing shows who asks, or nothing that is known",
        Code::Forbidden => "The key's scope or the account's plan does not allow it; `details` says what it takes",
        Code::NotFound => "There is no such thing",
        Code::MethodNotAllowed => "The route has no such method",
        Code::Conflict => "A request with this Idempotency-Key is being answered",
        Code::PayloadTooLarge => "The body is too large",
        Code::UnsupportedMediaType => "The body is not `application/json` in UTF-8, or compressed",
        Code::ValidationError => "Something is wrong with the content; `details.fields` says what, field by field",
        Code::RateLimited => "Too many requests in this window",
        Code::InternalError => "A fault of the service",
        Code::ServiceUnavailable => "Not now; try again",
    }
}

/// What such a refusal looks like.
fn example(code: Code) -> Value {
    let error = match code {
        Code::ValidationError => ApiError::field("threshold", "must be omitted for new_high"),
        Code::Forbidden => ApiError::forbidden(
            "scope",
            Some("alerts:write"),
            "this API key lacks the scope alerts:write; use a key that has it",
        ),
        _ => ApiError::new(
            code,
            match code {
                Code::BadRequest => "the body is empty; send a JSON object",
                Code::Unauthorized => {
                    "this needs an API key or an access token; send an API key as X-API-Key, or either as Authorization: Bearer"
                }
                Code::NotFound => "there is no such alert; check its id",
                Code::Conflict => "a request with this Idempotency-Key is being answered; send it again in a moment",
                Code::PayloadTooLarge => "the body is larger than 1048576 bytes; send less at once",
                Code::UnsupportedMediaType => "the body must be JSON in UTF-8; send Content-Type: application/json",
                Code::RateLimited => "100 requests have been made in this window; try again in 1800 s",
                Code::InternalError => crate::error::INTERNAL,
                _ => "this took longer than 30 s; try again",
            },
        ),
    };
    error.to_json()
}
