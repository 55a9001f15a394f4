//! The tools: what they take, what they give, and who may call them.

use serde_json::json;

use super::{AGENTS, call_of, error_code, message, without_aliases};
use crate::world::World;

#[tokio::test]
async fn unknown_tools_and_arguments_that_are_no_object_are_protocol_errors() {
    let world = World::new().await;
    for params in [
        json!({"name": "buy_stock", "arguments": {}}),
        json!({"name": "list_alerts", "arguments": []}),
        json!({"name": "list_alerts", "arguments": "all"}),
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
async fn wrong_arguments_are_results_with_is_error() {
    let world = World::new().await;
    for (tool, arguments, part) in [
        ("get_alert", json!({}), "alert_id: is required"),
        ("get_alert", json!({"alert_id": 5}), "alert_id: must be string"),
        ("list_alerts", json!({"limit": "ten"}), "limit: must be integer"),
        ("list_alerts", json!({"treshold": 1}), "treshold: is not an argument"),
        (
            "list_alert_events",
            json!({"since": "yesterday"}),
            "since: must be an instant",
        ),
        ("list_alert_events", json!({"alert_id": "5"}), "must be a UUID"),
        (
            "create_alert",
            json!({"symbol": "AAPL", "condition": "price_over"}),
            "condition",
        ),
    ] {
        let text = world.refused(tool, arguments.clone()).await;
        assert!(text.contains(part), "{tool} {arguments}: {text}");
    }
}

#[tokio::test]
async fn refusals_name_tools_and_no_routes() {
    let world = World::new().await;
    world.stock_at("AAPL", 189.2).await;
    let fired = world.alert(100).await;
    world.stock_at("AAPL", 189.3).await;
    assert_eq!(world.data(&format!("/v1/alerts/{fired}")).await["status"], "triggered");
    let buy = json!({"stock_symbol": "AAPL", "intention": "buy"});
    let _ = world.tool("create_watchlist_item", buy.clone()).await;
    let unknown = "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11";
    let sms = json!({"symbol": "AAPL", "condition": "new_high", "notification": "sms"});
    for (tool, arguments, part) in [
        ("get_alert", json!({"alert_id": unknown}), "list_alerts"),
        ("list_alert_events", json!({"alert_id": unknown}), "list_alerts"),
        (
            "update_alert",
            json!({"alert_id": unknown, "threshold": 1}),
            "list_alerts",
        ),
        ("pause_alert", json!({"alert_id": fired}), "resume_alert"),
        (
            "delete_watchlist_item",
            json!({"item_id": unknown, "confirm": true}),
            "list_watchlist",
        ),
        ("create_watchlist_item", buy, "list_watchlist"),
        (
            "create_watchlist_item",
            json!({"stock_symbol": "NONE", "intention": "buy"}),
            "stock_name",
        ),
        ("create_alert", sms, "settings"),
    ] {
        let text = world.refused(tool, arguments.clone()).await;
        assert!(text.contains(part), "{tool} {arguments}: {text}");
        for method in ["GET /", "POST /", "PUT /", "PATCH /", "DELETE /"] {
            assert!(!text.contains(method), "{tool}: {text}");
        }
    }
}

#[tokio::test]
async fn an_unknown_stock_is_refused_with_candidates() {
    let world = World::new().await;
    world.stock_at("AAPL", 189.2).await;
    world.stock_at("MSFT", 400.0).await;
    let body = json!({"symbol": "APPL", "condition": "price_above", "threshold": 200});
    let text = world.refused("create_alert", body.clone()).await;
    assert!(text.contains("APPL") && text.contains("AAPL (AAPL Company)"), "{text}");
    assert!(!text.contains("MSFT"), "{text}");
    let answer = world.post("/v1/alerts", body).await.refused(404, "NOT_FOUND");
    let candidates = json!([{"symbol": "AAPL", "name": "AAPL Company"}]);
    assert_eq!(answer.body["error"]["details"]["candidates"], candidates);
    let far = json!({"symbol": "QQQQ", "condition": "price_above", "threshold": 200});
    let answer = world.post("/v1/alerts", far).await.refused(404, "NOT_FOUND");
    assert_eq!(answer.body["error"]["details"], serde_json::Value::Null);
}

#[tokio::test]
async fn a_created_alert_says_whether_it_is_new_and_when_it_fires() {
    let world = World::new().await;
    world.stock_at("AAPL", 189.2).await;
    let below = json!({"symbol": "AAPL", "condition": "price_below", "threshold": 150});
    let made = world.tool("create_alert", below.clone()).await;
    assert_eq!(
        (&made["created"], &made["sentence"]),
        (&json!(true), &json!("fires at or below 150.00"))
    );
    let again = world.tool("create_alert", below).await;
    assert_eq!((&again["created"], &again["id"]), (&json!(false), &made["id"]));
    let up = json!({"symbol": "AAPL", "condition": "price_change_up", "threshold": 5});
    let made = world.tool("create_alert", up).await;
    assert_eq!(made["sentence"], "fires at or above 198.66, 5% above 189.20");
}

#[tokio::test]
async fn a_changed_condition_needs_its_threshold() {
    let world = World::new().await;
    world.stock_at("AAPL", 189.2).await;
    let id = world.alert(200).await;
    let text = world
        .refused("update_alert", json!({"alert_id": id, "condition": "price_change_up"}))
        .await;
    assert!(text.contains("threshold"), "{text}");
    let changed = json!({"alert_id": id, "condition": "price_change_down", "threshold": 5});
    assert_eq!(world.tool("update_alert", changed).await["threshold"], 5);
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
async fn structured_content_is_the_rest_data_without_aliases() {
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
    let mut created = without_aliases(world.data(&alert).await);
    created["created"] = json!(true);
    created["sentence"] = json!("fires at or above 200.00");
    assert_eq!(made, created, "create_alert");
    assert_eq!(
        world.tool("get_alert", id.clone()).await,
        without_aliases(world.data(&alert).await)
    );
    let change = json!({"alert_id": made["id"], "threshold": 210.5});
    assert_eq!(
        world.tool("update_alert", change).await,
        without_aliases(world.data(&alert).await)
    );
    for (arguments, query) in [
        (json!({}), ""),
        (json!({"extended": true, "limit": 1}), "?extended=true&limit=1"),
        (json!({"minimal": true, "symbol": "AAPL"}), "?minimal=true&symbol=AAPL"),
    ] {
        let listed = world.tool("list_alerts", arguments).await;
        let rest = world.get(&format!("/v1/alerts{query}")).await.ok(200).body;
        assert_eq!(
            (&listed["items"], &listed["pagination"]),
            (&without_aliases(rest["data"].clone()), &rest["meta"]["pagination"]),
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
    assert_eq!(deleted, json!({"alert_id": made["id"], "status": "deleted"}));
    assert_eq!(world.get(&alert).await.status, 404);
    let item = world
        .tool(
            "create_watchlist_item",
            json!({"stock_symbol": "AAPL", "intention": "buy", "target_price": 180}),
        )
        .await;
    // The analyst changes the item meanwhile.
    testkit::eventually("the item is analysed", async || {
        world.data("/v1/watchlist").await[0]["analysis"].is_object()
    })
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
    assert_eq!(gone, json!({"deleted": true}));
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
