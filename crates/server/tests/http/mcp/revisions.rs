//! The revisions of the protocol.

use serde_json::{Value, json};

use super::{error_code, message};
use crate::world::World;

#[tokio::test]
async fn an_agent_of_the_older_revisions_begins_and_is_told_what_there_is() {
    let world = World::new().await;
    for version in ["2025-06-18", "2025-11-25"] {
        let params =
            json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let begun = world.rpc(&message("initialize", params)).await.is(200);
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
    let answer = world.rpc(&initialized).await;
    assert_eq!((answer.status, answer.text.as_str()), (202, ""));
    let listed = world.rpc(&message("tools/list", json!({}))).await.is(200);
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
async fn the_revision_that_obliges_to_batches_is_answered_with_one_that_does_not() {
    let world = World::new().await;
    let params =
        json!({"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let begun = world.rpc(&message("initialize", params)).await.is(200);
    assert_eq!(begun.body["result"]["protocolVersion"], "2025-11-25", "{begun:?}");
    let bearer = format!("Bearer {}", world.key);
    let asked = world
        .mcp()
        .header("authorization", &bearer)
        .header("mcp-protocol-version", "2025-03-26");
    let answer = asked.json(&message("tools/list", json!({}))).send().await;
    assert_eq!((answer.status, error_code(&answer)), (400, -32022), "{answer:?}");
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
async fn an_agent_of_the_newest_revision_needs_no_beginning() {
    let world = World::new().await;
    let ask = async |headers: &[(&str, &str)], body: Value| {
        let bearer = format!("Bearer {}", world.key);
        let mut asked = world
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
    let answer = ask(&called, call.clone()).await.is(200);
    assert_eq!(answer.body["result"]["structuredContent"]["items"], json!([]));
    let contradicting = [("mcp-method", "tools/call"), ("mcp-name", "delete_alert")];
    let answer = ask(&contradicting, call.clone()).await;
    assert_eq!((answer.status, error_code(&answer)), (400, -32020), "{answer:?}");
    let answer = ask(&[("mcp-method", "tools/call")], call).await;
    assert_eq!((answer.status, error_code(&answer)), (400, -32020), "{answer:?}");
    assert_eq!(answer.body["id"], 7);
}

#[tokio::test]
async fn both_eras_list_and_read_resources_and_prompts() {
    let world = World::new().await;
    world.stock_at("AAPL", 189.2).await;
    let bearer = format!("Bearer {}", world.key);
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
        let older = world.rpc(&message(method, params.clone())).await.is(200);
        assert_ne!(older.body["result"][member][0], Value::Null, "{method}: {older:?}");
        let mut newest = world
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
async fn methods_that_are_not_offered_are_unknown() {
    let world = World::new().await;
    for method in ["logging/setLevel", "resources/subscribe", "moon/land"] {
        let answer = world
            .rpc(&message(method, json!({"level": "info", "uri": "a:b"})))
            .await
            .is(200);
        assert_eq!(error_code(&answer), -32601, "{method}: {answer:?}");
    }
}
