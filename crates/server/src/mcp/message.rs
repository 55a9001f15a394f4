//! One message of a client, as far as the front has to understand it.

use http::StatusCode;
use serde_json::{Map, Value};

use super::refusal::{Kind, Refusal};

/// A request or a notification.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Message {
    /// What it is called by; `None` for a notification.
    pub(super) id: Option<Value>,
    /// What is asked.
    pub(super) method: String,
    params: Option<Value>,
}

/// A call of a tool.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct ToolCall<'a> {
    /// The tool's name.
    pub(super) name: &'a str,
}

impl Message {
    /// The message that a body is.
    ///
    /// # Errors
    /// 400, if it is none, or several.
    pub(super) fn read(body: &Value) -> Result<Self, Refusal> {
        let refuse = |message: &str| Err(Refusal::new(StatusCode::BAD_REQUEST, Kind::Request, message));
        let Value::Object(members) = body else {
            return refuse(match body {
                Value::Array(_) => "batches are not taken; send one JSON-RPC request at a time",
                _ => "the body must be one JSON-RPC request: a JSON object with jsonrpc, method and, for an answer, id",
            });
        };
        if members.get("jsonrpc") != Some(&Value::from("2.0")) {
            return refuse("jsonrpc must be \"2.0\"");
        }
        let Some(Value::String(method)) = members.get("method") else {
            return refuse("method must be a string, such as \"tools/list\"; answers to the server are not expected");
        };
        if members.contains_key("id") && id(body).is_null() {
            return refuse("id must be a string or a whole number; leave it out for a notification");
        }
        if !matches!(members.get("params"), None | Some(Value::Object(_))) {
            return refuse("params must be an object, or be left out");
        }
        Ok(Self {
            id: members.get("id").cloned(),
            method: method.clone(),
            params: members.get("params").cloned(),
        })
    }

    /// The call of a tool that it is, if it is one.
    ///
    /// # Errors
    /// Its parameters are none: -32602.
    pub(super) fn tool_call(&self) -> Result<Option<ToolCall<'_>>, Refusal> {
        if self.method != "tools/call" {
            return Ok(None);
        }
        let refuse = |message: &str| Err(Refusal::new(StatusCode::OK, Kind::Params, message));
        let none = Map::new();
        let params = self.params.as_ref().and_then(Value::as_object).unwrap_or(&none);
        if !matches!(params.get("arguments"), None | Some(Value::Object(_))) {
            return refuse("arguments must be an object; see the tool's inputSchema in tools/list");
        }
        match self.params.as_ref().and_then(|params| params.get("name")) {
            Some(Value::String(name)) => Ok(Some(ToolCall { name })),
            _ => refuse("name must be the name of a tool; tools/list has them all"),
        }
    }

    /// The protocol's revision that its `_meta` names.
    pub(super) fn version(&self) -> Option<&str> {
        let meta = self.params.as_ref()?.get("_meta")?;
        meta.get("io.modelcontextprotocol/protocolVersion")?.as_str()
    }
}

/// The id that a body's answer has to bear; null if there is none that could be one.
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
    fn a_message_is_one_object_with_a_method_and_an_id_that_can_be_answered_to() {
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

    #[test]
    fn a_call_names_its_tool_and_has_an_object_of_arguments_or_none() {
        for (params, is_call) in [
            (json!({"name": "list_alerts"}), true),
            (json!({"name": "list_alerts", "arguments": {}}), true),
            (json!({"name": "list_alerts", "arguments": []}), false),
            (json!({"name": "list_alerts", "arguments": null}), false),
            (json!({"name": 1}), false),
            (json!({}), false),
        ] {
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
            assert_eq!(Message::read(&body).unwrap().tool_call().is_ok(), is_call, "{body}");
        }
        let other = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        assert_eq!(Message::read(&other).unwrap().tool_call(), Ok(None));
    }
}
