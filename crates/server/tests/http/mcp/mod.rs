//! The MCP endpoint over HTTP: what is decided in front of it, and that its tools do what REST does.

mod approvals;
mod approvals_page;
mod front;
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
