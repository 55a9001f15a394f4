//! The tools: what they take, what they give, and who may call them.

use serde_json::json;

use super::{AGENTS, call_of, error_code, message};
use crate::world::World;

#[tokio::test]
async fn an_unknown_tool_and_malformed_arguments_are_errors_of_the_protocol() {
    let world = World::new().await;
    for params in [
        json!({"name": "buy_stock", "arguments": {}}),
        json!({"name": "get_alert", "arguments": {}}),
        json!({"name": "get_alert", "arguments": {"alert_id": 5}}),
        json!({"name": "list_alerts", "arguments": {"limit": "ten"}}),
        json!({"name": "list_alerts", "arguments": {"treshold": 1}}),
        json!({"name": "list_alerts", "arguments": []}),
        json!({"arguments": {}}),
    ] {
        let answer = world.rpc(&message("tools/call", params.clone())).await;
        assert_eq!(
            (answer.status, error_code(&answer)),
            (200, -32602),
            "{params}: {answer:?}"
        );
        assert_eq!(answer.body["id"], 7);
    }
}

#[tokio::test]
async fn a_refused_call_says_what_to_do() {
    let world = World::new().await;
    world.stock_at("AAPL", 189.2).await;
    let alert = world.alert(200).await;
    let nobody = "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11";
    let item = world
        .tool(
            "create_watchlist_item",
            json!({"stock_symbol": "AAPL", "intention": "buy"}),
        )
        .await;
    for (tool, arguments, part) in [
        ("get_alert", json!({"alert_id": nobody}), "no such alert"),
        ("get_alert", json!({"alert_id": "5"}), "must be a UUID"),
        ("list_alerts", json!({"status": "asleep"}), "must be one of active"),
        (
            "create_alert",
            json!({"symbol": "AAPL", "condition": "price_above"}),
            "threshold",
        ),
        (
            "create_alert",
            json!({"symbol": "NONE", "condition": "price_above", "threshold": 1}),
            "no such stock",
        ),
        (
            "create_alert",
            json!({"symbol": "AAPL", "condition": "new_high", "threshold": 1}),
            "threshold",
        ),
        (
            "delete_alert",
            json!({"alert_id": alert, "confirm": false}),
            "confirm: true",
        ),
        ("delete_alert", json!({"alert_id": alert}), "confirm: true"),
        (
            "delete_watchlist_item",
            json!({"item_id": item["id"], "confirm": "true"}),
            "confirm: true",
        ),
        (
            "create_watchlist_item",
            json!({"stock_symbol": "AAPL", "intention": "buy"}),
            "already",
        ),
    ] {
        let text = world.refused(tool, arguments.clone()).await;
        assert!(text.contains(part), "{tool} {arguments}: {text}");
    }
    assert_eq!(world.data(&format!("/v1/alerts/{alert}")).await["status"], "active");
}

#[tokio::test]
async fn what_the_plan_does_not_have_is_refused_in_words() {
    let mut world = World::new().await;
    world.stock_at("AAPL", 189.2).await;
    world.key = world
        .account("ann@example.com", alerts::Plan::Basic, false, &AGENTS)
        .await;
    let text = world
        .refused(
            "create_alert",
            json!({"symbol": "AAPL", "condition": "rsi_limit", "threshold": 70}),
        )
        .await;
    assert!(text.contains("premium"), "{text}");
}

#[tokio::test]
async fn structured_content_is_what_rest_has_as_data() {
    let world = World::new().await;
    world.stock_at("AAPL", 189.2).await;
    let made = world
        .tool(
            "create_alert",
            json!({"symbol": "aapl", "condition": "price_above", "threshold": 200}),
        )
        .await;
    let alert = format!("/v1/alerts/{}", made["id"].as_str().unwrap());
    let id = json!({"alert_id": made["id"]});
    assert_eq!(made, world.data(&alert).await, "create_alert");
    assert_eq!(world.tool("get_alert", id.clone()).await, world.data(&alert).await);
    let change = json!({"alert_id": made["id"], "threshold": 210.5});
    assert_eq!(world.tool("update_alert", change).await, world.data(&alert).await);
    for (arguments, query) in [
        (json!({}), ""),
        (json!({"extended": true, "limit": 1}), "?extended=true&limit=1"),
        (json!({"minimal": true, "symbol": "AAPL"}), "?minimal=true&symbol=AAPL"),
    ] {
        let listed = world.tool("list_alerts", arguments).await;
        let rest = world.get(&format!("/v1/alerts{query}")).await.ok(200).body;
        assert_eq!(
            (&listed["items"], &listed["pagination"]),
            (&rest["data"], &rest["meta"]["pagination"]),
            "{query}"
        );
    }
    let paused = world.tool("pause_alert", id.clone()).await;
    assert_eq!(
        paused,
        world.post(&format!("{alert}/pause"), json!({})).await.ok(200).body["data"]
    );
    let resumed = world.tool("resume_alert", id.clone()).await;
    assert_eq!(
        resumed,
        world.post(&format!("{alert}/activate"), json!({})).await.ok(200).body["data"]
    );
    let events = world.tool("list_alert_events", id.clone()).await;
    let rest = world.get(&format!("{alert}/history")).await.ok(200).body;
    assert_eq!(
        (&events["items"], &events["pagination"]),
        (&rest["data"], &rest["meta"]["pagination"])
    );
    assert_eq!(rest["data"].as_array().map(Vec::len), Some(4));
    let deleted = world
        .tool("delete_alert", json!({"alert_id": made["id"], "confirm": true}))
        .await;
    assert_eq!(
        deleted,
        json!({"alert_id": made["id"], "alertId": made["id"], "status": "deleted"})
    );
    assert_eq!(world.get(&alert).await.status, 404);
    let item = world
        .tool(
            "create_watchlist_item",
            json!({"stock_symbol": "AAPL", "intention": "buy", "target_price": 180}),
        )
        .await;
    let watched = world.tool("list_watchlist", json!({})).await;
    assert_eq!(watched["items"], world.data("/v1/watchlist").await);
    assert_eq!(item["id"], watched["items"][0]["id"]);
    assert_eq!(
        watched["pagination"],
        json!({"page": 1, "limit": 1, "total": 1, "total_pages": 1})
    );
    let gone = world
        .tool("delete_watchlist_item", json!({"item_id": item["id"], "confirm": true}))
        .await;
    assert_eq!(gone, json!({"id": item["id"], "deleted": true}));
}

#[tokio::test]
async fn calls_count_with_the_accounts_requests() {
    let mut world = World::with(server::Settings {
        limits: server::Limits {
            basic_per_hour: 2,
            ..server::Limits::default()
        },
        ..server::Settings::default()
    })
    .await;
    world.key = world
        .account("ann@example.com", alerts::Plan::Basic, false, &AGENTS)
        .await;
    let _ = world.tool("list_alerts", json!({})).await;
    let _ = world.get("/v1/alerts").await.ok(200);
    let answer = world.rpc(&call_of("list_alerts", json!({}))).await;
    assert_eq!((answer.status, error_code(&answer)), (429, -32005), "{answer:?}");
    assert!(answer.headers.contains_key("retry-after"));
    let _ = world.tool("list_watchlist", json!({})).await;
}
