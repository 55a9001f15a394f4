//! The protocol revisions.

use serde_json::{Value, json};

use super::{error_code, message};
use crate::http::test_server::TestServer;

#[tokio::test]
async fn older_revisions_initialize_and_list_tools() {
    let server = TestServer::new().await;
    for version in ["2025-06-18", "2025-11-25"] {
        let params =
            json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let begun = server.rpc(&message("initialize", params)).await.is(200);
        let result = &begun.body["result"];
        assert_eq!(result["protocolVersion"], version, "{begun:?}");
        assert_eq!(result["serverInfo"]["name"], "bellwether");
        assert_eq!(
            result["capabilities"],
            json!({"tools": {}, "resources": {}, "prompts": {}})
        );
        assert!(begun.headers.get("mcp-session-id").is_none(), "there are no sessions");
    }
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let response = server.rpc(&initialized).await;
    assert_eq!((response.status, response.text.as_str()), (202, ""));
    let listed = server.rpc(&message("tools/list", json!({}))).await.is(200);
    let names: Vec<_> = listed.body["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].clone())
        .collect();
    assert_eq!(
        names,
        [
            "list_alerts",
            "get_alert",
            "list_alert_events",
            "create_alert",
            "update_alert",
            "pause_alert",
            "resume_alert",
            "delete_alert",
            "list_watchlist",
            "create_watchlist_item",
            "delete_watchlist_item"
        ]
    );
}

#[tokio::test]
async fn unsupported_revision_negotiates_a_supported_one() {
    let server = TestServer::new().await;
    let params =
        json!({"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let begun = server.rpc(&message("initialize", params)).await.is(200);
    assert_eq!(begun.body["result"]["protocolVersion"], "2025-11-25", "{begun:?}");
    let bearer = format!("Bearer {}", server.key);
    let asked = server
        .mcp()
        .header("authorization", &bearer)
        .header("mcp-protocol-version", "2025-03-26");
    let response = asked.json(&message("tools/list", json!({}))).send().await;
    assert_eq!((response.status, error_code(&response)), (400, -32022), "{response:?}");
}

fn of_2026(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    message(method, params)
}

#[tokio::test]
async fn newest_revision_needs_no_initialize() {
    let server = TestServer::new().await;
    let ask = async |headers: &[(&str, &str)], body: Value| {
        let bearer = format!("Bearer {}", server.key);
        let mut asked = server
            .mcp()
            .header("authorization", &bearer)
            .header("mcp-protocol-version", "2026-07-28");
        for (name, value) in headers {
            asked = asked.header(name, value);
        }
        asked.json(&body).send().await
    };
    let found = ask(
        &[("mcp-method", "server/discover")],
        of_2026("server/discover", json!({})),
    )
    .await
    .is(200);
    let versions = json!(["2025-06-18", "2025-11-25", "2026-07-28"]);
    assert_eq!(found.body["result"]["supportedVersions"], versions, "{found:?}");
    let capabilities = json!({"tools": {}, "resources": {}, "prompts": {}});
    assert_eq!(found.body["result"]["capabilities"], capabilities, "{found:?}");
    let listed = ask(&[("mcp-method", "tools/list")], of_2026("tools/list", json!({})))
        .await
        .is(200);
    assert_eq!(listed.body["result"]["cacheScope"], "private");
    assert_eq!(listed.body["result"]["ttlMs"], 300_000);
    let call = of_2026("tools/call", json!({"name": "list_alerts", "arguments": {}}));
    let called = [("mcp-method", "tools/call"), ("mcp-name", "list_alerts")];
    let response = ask(&called, call.clone()).await.is(200);
    assert_eq!(response.body["result"]["structuredContent"]["items"], json!([]));
    let contradicting = [("mcp-method", "tools/call"), ("mcp-name", "delete_alert")];
    let response = ask(&contradicting, call.clone()).await;
    assert_eq!((response.status, error_code(&response)), (400, -32020), "{response:?}");
    let response = ask(&[("mcp-method", "tools/call")], call).await;
    assert_eq!((response.status, error_code(&response)), (400, -32020), "{response:?}");
    assert_eq!(response.body["id"], 7);
}

#[tokio::test]
async fn all_revisions_list_and_read_resources_and_prompts() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    let bearer = format!("Bearer {}", server.key);
    let calls = [
        ("resources/list", json!({}), None, "resources"),
        ("resources/templates/list", json!({}), None, "resourceTemplates"),
        ("prompts/list", json!({}), None, "prompts"),
        (
            "resources/read",
            json!({"uri": "bellwether://stocks/AAPL"}),
            Some("bellwether://stocks/AAPL"),
            "contents",
        ),
        (
            "prompts/get",
            json!({"name": "review_fired_alerts", "arguments": {}}),
            Some("review_fired_alerts"),
            "messages",
        ),
    ];
    for (method, params, name, member) in calls {
        let older = server.rpc(&message(method, params.clone())).await.is(200);
        assert_ne!(older.body["result"][member][0], Value::Null, "{method}: {older:?}");
        let mut newest = server
            .mcp()
            .header("authorization", &bearer)
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method);
        if let Some(name) = name {
            newest = newest.header("mcp-name", name);
        }
        let newest = newest.json(&of_2026(method, params)).send().await.is(200);
        assert_eq!(newest.body["result"][member], older.body["result"][member], "{method}");
    }
}

#[tokio::test]
async fn unsupported_methods_are_unknown() {
    let server = TestServer::new().await;
    for method in ["logging/setLevel", "resources/subscribe", "moon/land"] {
        let response = server
            .rpc(&message(method, json!({"level": "info", "uri": "a:b"})))
            .await
            .is(200);
        assert_eq!(error_code(&response), -32601, "{method}: {response:?}");
    }
}
