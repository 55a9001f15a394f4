//! One message of a client, as far as the front has to understand it.

use http::StatusCode;
use serde_json::Value;

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

    /// The part of the service that it addresses.
    ///
    /// # Errors
    /// -32602 if its parameters do not name one.
    pub(super) fn target(&self) -> Result<Target<'_>, Refusal> {
        let refuse = |message: &str| Err(Refusal::new(StatusCode::OK, Kind::Params, message));
        let has_arguments = matches!(self.method.as_str(), "tools/call" | "prompts/get");
        if has_arguments && !matches!(self.param("arguments"), None | Some(Value::Object(_))) {
            return refuse("`arguments` must be an object; tools/list and prompts/list describe it");
        }
        let text = |name: &str| self.param(name).and_then(Value::as_str);
        match self.method.as_str() {
            "tools/call" => match text("name") {
                Some(name) => Ok(Target::Tool(name)),
                None => refuse("`name` must be the name of a tool; tools/list has them all"),
            },
            "resources/read" => match text("uri") {
                Some(uri) => Ok(Target::Resource(uri)),
                None => refuse("`uri` must be the URI of a resource; resources/list has them all"),
            },
            "prompts/get" => match text("name") {
                Some(name) => Ok(Target::Prompt(name)),
                None => refuse("`name` must be the name of a prompt; prompts/list has them all"),
            },
            _ => Ok(Target::Other),
        }
    }

    fn param(&self, name: &str) -> Option<&Value> {
        self.params.as_ref()?.get(name)
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

    fn message(method: &str, params: &Value) -> Message {
        Message::read(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).unwrap()
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
            for method in ["tools/call", "prompts/get"] {
                assert_eq!(message(method, &params).target().is_ok(), is_call, "{method} {params}");
            }
        }
        assert_eq!(message("tools/list", &json!({})).target(), Ok(Target::Other));
    }

    #[test]
    fn a_read_names_its_resource() {
        let read = message("resources/read", &json!({"uri": "bellwether://events"}));
        assert_eq!(read.target(), Ok(Target::Resource("bellwether://events")));
        for params in [json!({}), json!({"uri": 5}), json!({"name": "bellwether://events"})] {
            assert!(message("resources/read", &params).target().is_err(), "{params}");
        }
    }
}
