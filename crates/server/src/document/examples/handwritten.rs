//! Handwritten examples of bodies whose fields must be consistent with each other.

use serde_json::{Value, json};

/// The id in examples.
pub(in crate::document) const ID: &str = "0d9f5a5e-31e0-4cc7-8f36-5d4a8b7a1f0e";
/// The instant in examples.
pub(in crate::document) const INSTANT: &str = "2026-03-02T15:04:00.000Z";

fn schema_name(schema: &Value) -> &str {
    let reference = schema["$ref"].as_str().unwrap_or_default();
    reference.rsplit('/').next().unwrap_or_default()
}

/// Returns the example of a request body.
pub(super) fn request(schema: &Value) -> Option<Value> {
    Some(match schema_name(schema) {
        "DecideApproval" => json!({"id": ID, "decision": "approve"}),
        "CreateNotificationChannel" => json!({
            "type": "slack", "name": "Trading room",
            "config": {"url": "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"},
        }),
        "UpdateNotificationChannel" => {
            json!({"name": "Trading room", "config": {"url": "***"}, "templates": {"title": "{{ symbol }} {{ price|money }}"}, "enabled": true})
        }
        "LoginBody" => json!({"email": "ann@example.com", "password": "correct horse"}),
        "PreviewAlert" => json!({
            "alert": {"symbol": "AAPL", "condition": "price_below", "threshold": 180},
            "from": "2021-03-08", "to": "2026-03-06",
        }),
        "ChangeAlerts" => json!({
            "create": [{
                "symbol": "AAPL", "condition": "price_below", "threshold": 180,
                "managed_by": {"source": "trading-alerts", "name": "apple-dip"},
            }],
            "source": "trading-alerts",
            "expected_source_revision": 0,
        }),
        "McpRequest" => json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        _ => return None,
    })
}

/// Returns the example of a form, by its path.
pub(super) fn form(path: &str) -> Option<Value> {
    const TOKEN: &str = "token=6n1JmXb0Pj6Cq5vVw3d9qjVZ0m1m4Yh2m8oXl1y7C9A";
    Some(match path {
        "/approvals" => json!(format!("id={ID}&decision=approve")),
        "/oauth/authorize" => json!("decision=allow&scope=alerts%3Aread"),
        "/oauth/token" => json!({
            "grant_type": "authorization_code", "client_id": "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11",
            "code": "SplxlOBeZQQYbYS6WxSbIA", "code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
        }),
        "/oauth/revoke" => json!({"token": "mcp_rt_dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"}),
        "/reset-password" => json!(format!(
            "email=ann%40example.com&{TOKEN}&new_password=correct+horse+battery+staple"
        )),
        "/sms/status" => json!("MessageSid=SM0123456789abcdef0123456789abcdef&MessageStatus=delivered"),
        _ => json!(TOKEN),
    })
}

/// Returns the example of a response body with this status.
pub(super) fn response(schema: &Value, status: &str) -> Option<Value> {
    Some(match (schema_name(schema), status) {
        ("McpAnswer", "200") => json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}),
        ("McpAnswer", _) => json!({"jsonrpc": "2.0", "id": null, "error": mcp_error(status)}),
        ("OAuthRefusal", _) => oauth_error(status),
        _ => return None,
    })
}

/// Returns an error with the codes of `mcp::error`.
fn mcp_error(status: &str) -> Value {
    let (code, message) = match status {
        "401" => (
            -32001,
            "an access token or an API key is required; send it as Authorization: Bearer",
        ),
        "403" => (-32003, "requests of this origin are not allowed"),
        "429" => (-32005, "too many requests; try again in 30 s"),
        "406" | "413" | "415" => (
            -32006,
            "the body must be JSON of at most 1048576 bytes; send Content-Type: application/json",
        ),
        "500" | "503" => (-32603, "something went wrong; try again"),
        _ => (-32600, "the body must be one JSON-RPC request"),
    };
    json!({"code": code, "message": message})
}

fn oauth_error(status: &str) -> Value {
    let (error, description) = match status {
        "401" => ("invalid_client", "unknown client; register it first"),
        "429" => ("temporarily_unavailable", "too many requests; try again in 30 s"),
        "503" => ("temporarily_unavailable", "try again"),
        _ => ("invalid_request", "grant_type is required"),
    };
    json!({"error": error, "error_description": description})
}

/// Returns the example of a schema whose generated example would be invalid.
pub(super) fn part(schema: &str) -> Option<Value> {
    Some(match schema {
        "Mark" => json!("a custom value"),
        "NotificationChannelConfig" => json!({"url": "***"}),
        "NotificationChannelTypeName" => json!("slack"),
        _ => return None,
    })
}
