//! Security schemes, and the security requirements of operations.

use serde_json::{Value, json};

/// The security schemes of API operations. The last two require a sign-in.
const API_SCHEMES: [&str; 4] = ["ApiKeyHeader", "ApiKeyAuthorization", "Bearer", "SessionCookie"];
/// The security schemes of the MCP endpoint.
const AGENT_SCHEMES: [&str; 3] = ["ApiKeyHeader", "ApiKeyAuthorization", "AgentToken"];

/// Returns the components of the security schemes.
pub(super) fn schemes() -> Value {
    json!({
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
        "CronSecret": {
            "type": "http", "scheme": "bearer",
            "description": "The operator's secret for scheduled jobs, from the setting `operator.cron_secret`",
        },
        "AgentToken": {
            "type": "http", "scheme": "bearer", "bearerFormat": "mcp_at_…",
            "description": "An OAuth access token for `/mcp`. `/.well-known/oauth-protected-resource/mcp` describes how to get one.",
        },
    })
}

/// Lists all accepted security schemes of an operation, which names one of them. Returns `false` if the operation is public.
pub(super) fn complete(operation: &mut Value) -> bool {
    let declared = operation["security"].as_array().cloned().unwrap_or_default();
    let first = declared.first().and_then(Value::as_object);
    let Some((scheme, scopes)) = first.and_then(|first| first.iter().next()) else {
        operation["security"] = json!([]);
        return false;
    };
    let accepted: &[&str] = match scheme.as_str() {
        "CronSecret" => &["CronSecret"],
        "AgentToken" => &AGENT_SCHEMES,
        // These operations accept no API key.
        "SessionCookie" => &API_SCHEMES[2..],
        _ => &API_SCHEMES,
    };
    let accepted = accepted.iter().map(|scheme| json!({*scheme: scopes}));
    // An empty requirement makes authentication optional.
    let is_optional = declared.contains(&json!({}));
    operation["security"] = accepted.chain(is_optional.then(|| json!({}))).collect();
    if let Some(scope) = scopes.get(0) {
        operation["x-required-scope"] = scope.clone();
    }
    true
}
