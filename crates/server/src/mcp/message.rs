//! A JSON-RPC message of a client, as far as the checks before rmcp need it.

use http::StatusCode;
use serde_json::Value;

use super::error::{JsonRpcError, JsonRpcErrorKind};

/// A request or a notification.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Message {
    /// The id of a request; `None` for a notification.
    pub(super) id: Option<Value>,
    /// The method.
    pub(super) method: String,
    params: Option<Value>,
}

/// The part of the service that a message addresses.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Target<'a> {
    /// `tools/call`, by the tool's name.
    Tool(&'a str),
    /// `resources/read`, by the resource's URI.
    Resource(&'a str),
    /// `prompts/get`, by the prompt's name.
    Prompt(&'a str),
    /// Any other method.
    Other,
}

impl Message {
    /// Parses a body as one message.
    ///
    /// # Errors
    /// 400 if the body is not a message, or is a batch.
    pub(super) fn read(body: &Value) -> Result<Self, JsonRpcError> {
        let refuse = |message: &str| {
            Err(JsonRpcError::new(
                StatusCode::BAD_REQUEST,
                JsonRpcErrorKind::Request,
                message,
            ))
        };
        let Value::Object(members) = body else {
            return refuse(match body {
                Value::Array(_) => "batches are not supported; send one JSON-RPC request at a time",
                _ => {
                    "the body must be one JSON-RPC request: a JSON object with jsonrpc, method and, unless it is a notification, id"
                }
            });
        };
        if members.get("jsonrpc") != Some(&Value::from("2.0")) {
            return refuse("jsonrpc must be \"2.0\"");
        }
        let Some(Value::String(method)) = members.get("method") else {
            return refuse("method must be a string, such as \"tools/list\"; the server expects no responses");
        };
        if members.contains_key("id") && id(body).is_null() {
            return refuse("id must be a string or an integer; omit it for a notification");
        }
        if !matches!(members.get("params"), None | Some(Value::Object(_))) {
            return refuse("params must be an object or omitted");
        }
        Ok(Self {
            id: members.get("id").cloned(),
            method: method.clone(),
            params: members.get("params").cloned(),
        })
    }

    /// Returns the part of the service that the message addresses.
    ///
    /// # Errors
    /// -32602 if the parameters do not name one.
    pub(super) fn target(&self) -> Result<Target<'_>, JsonRpcError> {
        let refuse = |message: &str| Err(JsonRpcError::new(StatusCode::OK, JsonRpcErrorKind::Params, message));
        let has_arguments = matches!(self.method.as_str(), "tools/call" | "prompts/get");
        if has_arguments && !matches!(self.param("arguments"), None | Some(Value::Object(_))) {
            return refuse("`arguments` must be an object; tools/list and prompts/list describe it");
        }
        let text = |name: &str| self.param(name).and_then(Value::as_str);
        match self.method.as_str() {
            "tools/call" => match text("name") {
                Some(name) => Ok(Target::Tool(name)),
                None => refuse("`name` must be the name of a tool; tools/list returns all tools"),
            },
            "resources/read" => match text("uri") {
                Some(uri) => Ok(Target::Resource(uri)),
                None => refuse("`uri` must be the URI of a resource; resources/list returns all resources"),
            },
            "prompts/get" => match text("name") {
                Some(name) => Ok(Target::Prompt(name)),
                None => refuse("`name` must be the name of a prompt; prompts/list returns all prompts"),
            },
            _ => Ok(Target::Other),
        }
    }

    fn param(&self, name: &str) -> Option<&Value> {
        self.params.as_ref()?.get(name)
    }

    /// Returns the protocol revision in `_meta`.
    pub(super) fn version(&self) -> Option<&str> {
        let meta = self.params.as_ref()?.get("_meta")?;
        meta.get("io.modelcontextprotocol/protocolVersion")?.as_str()
    }
}

/// Returns the id for the response to a body, or null if the body has no valid id.
pub(super) fn id(body: &Value) -> Value {
    match body.get("id") {
        Some(Value::String(text)) => Value::from(text.as_str()),
        Some(Value::Number(number)) if number.is_i64() || number.is_u64() => Value::Number(number.clone()),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn message_is_one_object_with_a_method_and_a_valid_id() {
        for (body, is_message) in [
            (json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}), true),
            (
                json!({"jsonrpc": "2.0", "id": "a", "method": "ping", "params": {}}),
                true,
            ),
            (json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), true),
            (json!([{"jsonrpc": "2.0", "id": 1, "method": "ping"}]), false),
            (json!([]), false),
            (json!("ping"), false),
            (json!({"id": 1, "method": "ping"}), false),
            (json!({"jsonrpc": "1.0", "id": 1, "method": "ping"}), false),
            (json!({"jsonrpc": "2.0", "id": null, "method": "ping"}), false),
            (json!({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}), false),
            (json!({"jsonrpc": "2.0", "id": 1, "method": 1}), false),
            (json!({"jsonrpc": "2.0", "id": 1, "result": {}}), false),
            (
                json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}),
                false,
            ),
        ] {
            assert_eq!(Message::read(&body).is_ok(), is_message, "{body}");
        }
    }

    fn message(method: &str, params: &Value) -> Message {
        Message::read(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).unwrap()
    }

    #[test]
    fn call_has_a_tool_name_and_optional_object_arguments() {
        for (params, is_call) in [
            (json!({"name": "list_alerts"}), true),
            (json!({"name": "list_alerts", "arguments": {}}), true),
            (json!({"name": "list_alerts", "arguments": []}), false),
            (json!({"name": "list_alerts", "arguments": null}), false),
            (json!({"name": 1}), false),
            (json!({}), false),
        ] {
            for method in ["tools/call", "prompts/get"] {
                assert_eq!(message(method, &params).target().is_ok(), is_call, "{method} {params}");
            }
        }
        assert_eq!(message("tools/list", &json!({})).target(), Ok(Target::Other));
    }

    #[test]
    fn read_has_a_resource_uri() {
        let read = message("resources/read", &json!({"uri": "bellwether://events"}));
        assert_eq!(read.target(), Ok(Target::Resource("bellwether://events")));
        for params in [json!({}), json!({"uri": 5}), json!({"name": "bellwether://events"})] {
            assert!(message("resources/read", &params).target().is_err(), "{params}");
        }
    }
}
