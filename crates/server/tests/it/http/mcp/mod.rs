//! The MCP endpoint over HTTP: request checks, and the equivalence of tools and REST.

mod approvals;
mod approvals_page;
mod events;
mod prompts;
mod request_checks;
mod resources;
mod revisions;
mod routing;
mod schemas;
mod scopes;
mod tools;

use foundation::Scope;
use serde_json::{Value, json};

use crate::http::test_server::{TestRequest, TestResponse, TestServer};

const HOST: &str = "alerts.example.com";
pub(crate) const AGENTS: [Scope; 4] = [
    Scope::AlertsRead,
    Scope::AlertsWrite,
    Scope::WatchlistRead,
    Scope::WatchlistWrite,
];

pub(crate) fn message(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}

pub(crate) fn call_of(tool: &str, arguments: Value) -> Value {
    message("tools/call", json!({"name": tool, "arguments": arguments}))
}

impl TestServer {
    pub(crate) fn mcp(&self) -> TestRequest<'_> {
        self.anonymous("POST", "/mcp").header("host", HOST)
    }

    pub(crate) async fn rpc(&self, body: &Value) -> TestResponse {
        let bearer = format!("Bearer {}", self.key);
        self.mcp().header("authorization", &bearer).json(body).send().await
    }

    /// Sends a request and returns its result.
    pub(crate) async fn result(&self, method: &str, params: Value) -> Value {
        let response = self.rpc(&message(method, params)).await.is(200);
        assert!(response.body["error"].is_null(), "{method}: {response:?}");
        response.body["result"].clone()
    }

    /// Calls a tool and returns its structured content.
    pub(crate) async fn tool(&self, tool: &str, arguments: Value) -> Value {
        let response = self.rpc(&call_of(tool, arguments)).await.is(200);
        let result = &response.body["result"];
        assert_eq!(result["isError"], false, "{tool}: {response:?}");
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"], "{tool}: the text says the same");
        result["structuredContent"].clone()
    }

    /// Calls a tool that fails, and returns its error text.
    pub(crate) async fn refused(&self, tool: &str, arguments: Value) -> String {
        let response = self.rpc(&call_of(tool, arguments)).await.is(200);
        assert_eq!(response.body["result"]["isError"], true, "{tool}: {response:?}");
        response.body["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    pub(crate) async fn data(&self, path: &str) -> Value {
        self.get(path).await.ok(200).body["data"].clone()
    }
}

impl TestResponse {
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

pub(crate) fn error_code(response: &TestResponse) -> i64 {
    response.body["error"]["code"]
        .as_i64()
        .unwrap_or_else(|| panic!("{response:?}"))
}

/// Returns REST data without aliases.
pub(crate) fn without_aliases(mut data: Value) -> Value {
    if let Value::Array(items) = data {
        return items.into_iter().map(without_aliases).collect();
    }
    for (alias, name) in [
        ("stocks", "stock"),
        ("alertId", "alert_id"),
        ("fundamentals", "stock_fundamentals"),
    ] {
        if data.get(name).is_some() {
            data.as_object_mut().unwrap().shift_remove(alias);
        }
    }
    data
}
