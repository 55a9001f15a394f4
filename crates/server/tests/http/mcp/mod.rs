//! The MCP endpoint over HTTP: what is decided in front of it, and that its tools do what REST does.

mod approvals;
mod approvals_page;
mod events;
mod front;
mod prompts;
mod resources;
mod revisions;
mod schemas;
mod scopes;
mod tools;

use serde_json::{Value, json};
use service::Scope;

use crate::world::{Answer, Sending, World};

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

impl World {
    pub(crate) fn mcp(&self) -> Sending<'_> {
        self.stranger("POST", "/mcp").header("host", HOST)
    }

    pub(crate) async fn rpc(&self, body: &Value) -> Answer {
        let bearer = format!("Bearer {}", self.key);
        self.mcp().header("authorization", &bearer).json(body).send().await
    }

    /// The result of a request that succeeds.
    pub(crate) async fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.rpc(&message(method, params)).await.is(200);
        assert!(answer.body["error"].is_null(), "{method}: {answer:?}");
        answer.body["result"].clone()
    }

    /// What a tool answers, which has to go well.
    pub(crate) async fn tool(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.rpc(&call_of(tool, arguments)).await.is(200);
        let result = &answer.body["result"];
        assert_eq!(result["isError"], false, "{tool}: {answer:?}");
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"], "{tool}: the text says the same");
        result["structuredContent"].clone()
    }

    /// Why a tool refuses.
    pub(crate) async fn refused(&self, tool: &str, arguments: Value) -> String {
        let answer = self.rpc(&call_of(tool, arguments)).await.is(200);
        assert_eq!(answer.body["result"]["isError"], true, "{tool}: {answer:?}");
        answer.body["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn data(&self, path: &str) -> Value {
        self.get(path).await.ok(200).body["data"].clone()
    }
}

impl Answer {
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

pub(crate) fn error_code(answer: &Answer) -> i64 {
    answer.body["error"]["code"]
        .as_i64()
        .unwrap_or_else(|| panic!("{answer:?}"))
}

/// REST data without the members that have another name beside them.
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
