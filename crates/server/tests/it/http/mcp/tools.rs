//! Tool arguments, results and errors.

use serde_json::json;

use super::{AGENTS, call_of, error_code, message, without_aliases};
use crate::http::test_server::TestServer;

#[tokio::test]
async fn unknown_tools_and_non_object_arguments_are_protocol_errors() {
    let server = TestServer::new().await;
    for params in [
        json!({"name": "buy_stock", "arguments": {}}),
        json!({"name": "list_alerts", "arguments": []}),
        json!({"name": "list_alerts", "arguments": "all"}),
        json!({"arguments": {}}),
    ] {
        let response = server.rpc(&message("tools/call", params.clone())).await;
        assert_eq!(
            (response.status, error_code(&response)),
            (200, -32602),
            "{params}: {response:?}"
        );
        assert_eq!(response.body["id"], 7);
    }
}

#[tokio::test]
async fn invalid_arguments_are_results_with_is_error() {
    let server = TestServer::new().await;
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
        let text = server.refused(tool, arguments.clone()).await;
        assert!(text.contains(part), "{tool} {arguments}: {text}");
    }
}

#[tokio::test]
async fn errors_name_tools_instead_of_routes() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    let fired = server.create_alert(100).await;
    server.set_price("AAPL", 189.3).await;
    assert_eq!(server.data(&format!("/v1/alerts/{fired}")).await["status"], "triggered");
    let buy = json!({"stock_symbol": "AAPL", "intention": "buy"});
    let _ = server.tool("create_watchlist_item", buy.clone()).await;
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
        let text = server.refused(tool, arguments.clone()).await;
        assert!(text.contains(part), "{tool} {arguments}: {text}");
        for method in ["GET /", "POST /", "PUT /", "PATCH /", "DELETE /"] {
            assert!(!text.contains(method), "{tool}: {text}");
        }
    }
}

#[tokio::test]
async fn unknown_stock_error_has_candidates() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    server.set_price("MSFT", 400.0).await;
    let body = json!({"symbol": "APPL", "condition": "price_above", "threshold": 200});
    let text = server.refused("create_alert", body.clone()).await;
    assert!(text.contains("APPL") && text.contains("AAPL (AAPL Company)"), "{text}");
    assert!(!text.contains("MSFT"), "{text}");
    let response = server.post("/v1/alerts", body).await.refused(404, "NOT_FOUND");
    let candidates = json!([{"symbol": "AAPL", "name": "AAPL Company"}]);
    assert_eq!(response.body["error"]["details"]["candidates"], candidates);
    let far = json!({"symbol": "QQQQ", "condition": "price_above", "threshold": 200});
    let response = server.post("/v1/alerts", far).await.refused(404, "NOT_FOUND");
    assert_eq!(response.body["error"]["details"], serde_json::Value::Null);
}

#[tokio::test]
async fn created_alert_has_created_flag_and_sentence() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    let below = json!({"symbol": "AAPL", "condition": "price_below", "threshold": 150});
    let made = server.tool("create_alert", below.clone()).await;
    assert_eq!(
        (&made["created"], &made["sentence"]),
        (&json!(true), &json!("fires at or below 150.00"))
    );
    let again = server.tool("create_alert", below).await;
    assert_eq!((&again["created"], &again["id"]), (&json!(false), &made["id"]));
    let up = json!({"symbol": "AAPL", "condition": "price_change_up", "threshold": 5});
    let made = server.tool("create_alert", up).await;
    assert_eq!(made["sentence"], "fires at or above 198.66, 5% above 189.20");
    server.set_price("MSFT", 400.0).await;
    let options = json!({"repeat": "each_time", "cooldown": "1h"});
    for (alert, sentence) in [
        (
            json!({"symbol": "AAPL", "condition": "price_below", "threshold": 150}),
            "AAPL falls to 150.00 or below each time cooldown 1h",
        ),
        (
            json!({"scope": {"symbols": ["AAPL", "MSFT"]}, "condition": "price_below", "threshold": 150}),
            "AAPL, MSFT: fires at or below 150.00, for each stock on its own each time cooldown 1h",
        ),
        (
            json!({"symbol": "AAPL", "condition": "ma_crossover_golden"}),
            "AAPL golden cross each time cooldown 1h",
        ),
    ] {
        let mut alert = alert;
        alert["options"] = options.clone();
        assert_eq!(server.tool("create_alert", alert).await["sentence"], sentence);
    }
}

#[tokio::test]
async fn changed_condition_needs_its_threshold() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    let id = server.create_alert(200).await;
    let text = server
        .refused("update_alert", json!({"alert_id": id, "condition": "price_change_up"}))
        .await;
    assert!(text.contains("threshold"), "{text}");
    let changed = json!({"alert_id": id, "condition": "price_change_down", "threshold": 5});
    assert_eq!(server.tool("update_alert", changed).await["threshold"], 5);
}

#[tokio::test]
async fn error_says_how_to_fix_the_call() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    let alert = server.create_alert(200).await;
    let unknown_id = "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11";
    let item = server
        .tool(
            "create_watchlist_item",
            json!({"stock_symbol": "AAPL", "intention": "buy"}),
        )
        .await;
    for (tool, arguments, part) in [
        ("get_alert", json!({"alert_id": unknown_id}), "no such alert"),
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
        let text = server.refused(tool, arguments.clone()).await;
        assert!(text.contains(part), "{tool} {arguments}: {text}");
    }
    assert_eq!(server.data(&format!("/v1/alerts/{alert}")).await["status"], "active");
}

#[tokio::test]
async fn condition_outside_the_plan_is_an_error() {
    let mut server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    server.key = server
        .account("ann@example.com", alerts::Plan::Basic, false, &AGENTS)
        .await;
    let text = server
        .refused(
            "create_alert",
            json!({"symbol": "AAPL", "condition": "rsi_limit", "threshold": 70}),
        )
        .await;
    assert!(text.contains("premium"), "{text}");
}

#[tokio::test]
async fn structured_content_is_the_rest_data_without_aliases() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    let made = server
        .tool(
            "create_alert",
            json!({"symbol": "aapl", "condition": "price_above", "threshold": 200}),
        )
        .await;
    let alert = format!("/v1/alerts/{}", made["id"].as_str().unwrap());
    let id = json!({"alert_id": made["id"]});
    let mut created = without_aliases(server.data(&alert).await);
    created["created"] = json!(true);
    created["sentence"] = json!("fires at or above 200.00");
    assert_eq!(made, created, "create_alert");
    assert_eq!(
        server.tool("get_alert", id.clone()).await,
        without_aliases(server.data(&alert).await)
    );
    let change = json!({"alert_id": made["id"], "threshold": 210.5});
    assert_eq!(
        server.tool("update_alert", change).await,
        without_aliases(server.data(&alert).await)
    );
    for (arguments, query) in [
        (json!({}), ""),
        (json!({"extended": true, "limit": 1}), "?extended=true&limit=1"),
        (json!({"minimal": true, "symbol": "AAPL"}), "?minimal=true&symbol=AAPL"),
    ] {
        let listed = server.tool("list_alerts", arguments).await;
        let rest = server.get(&format!("/v1/alerts{query}")).await.ok(200).body;
        assert_eq!(
            (&listed["items"], &listed["pagination"]),
            (&without_aliases(rest["data"].clone()), &rest["meta"]["pagination"]),
            "{query}"
        );
    }
    let paused = server.tool("pause_alert", id.clone()).await;
    assert_eq!(
        paused,
        server.post(&format!("{alert}/pause"), json!({})).await.ok(200).body["data"]
    );
    let resumed = server.tool("resume_alert", id.clone()).await;
    assert_eq!(
        resumed,
        server.post(&format!("{alert}/activate"), json!({})).await.ok(200).body["data"]
    );
    let events = server.tool("list_alert_events", id.clone()).await;
    let rest = server.get(&format!("{alert}/history")).await.ok(200).body;
    assert_eq!(
        (&events["items"], &events["pagination"]),
        (&rest["data"], &rest["meta"]["pagination"])
    );
    assert_eq!(rest["data"].as_array().map(Vec::len), Some(4));
    let deleted = server
        .tool("delete_alert", json!({"alert_id": made["id"], "confirm": true}))
        .await;
    assert_eq!(deleted, json!({"alert_id": made["id"], "status": "deleted"}));
    assert_eq!(server.get(&alert).await.status, 404);
    let item = server
        .tool(
            "create_watchlist_item",
            json!({"stock_symbol": "AAPL", "intention": "buy", "target_price": 180}),
        )
        .await;
    // The analyst changes the item meanwhile.
    testkit::eventually("the item is analysed", async || {
        server.data("/v1/watchlist").await[0]["analysis"].is_object()
    })
    .await;
    let watched = server.tool("list_watchlist", json!({})).await;
    assert_eq!(watched["items"], server.data("/v1/watchlist").await);
    assert_eq!(item["id"], watched["items"][0]["id"]);
    assert_eq!(
        watched["pagination"],
        json!({"page": 1, "limit": 1, "total": 1, "total_pages": 1})
    );
    let gone = server
        .tool("delete_watchlist_item", json!({"item_id": item["id"], "confirm": true}))
        .await;
    assert_eq!(gone, json!({"deleted": true}));
}

#[tokio::test]
async fn calls_count_toward_the_accounts_rate_limit() {
    let mut server = TestServer::with_config(server::HttpConfig {
        limits: server::RateLimits {
            basic_per_hour: 2,
            ..server::RateLimits::default()
        },
        ..server::HttpConfig::default()
    })
    .await;
    server.key = server
        .account("ann@example.com", alerts::Plan::Basic, false, &AGENTS)
        .await;
    let _ = server.tool("list_alerts", json!({})).await;
    let _ = server.get("/v1/alerts").await.ok(200);
    let response = server.rpc(&call_of("list_alerts", json!({}))).await;
    assert_eq!((response.status, error_code(&response)), (429, -32005), "{response:?}");
    assert!(response.headers.contains_key("retry-after"));
    let _ = server.tool("list_watchlist", json!({})).await;
}

#[tokio::test]
async fn tools_set_change_and_filter_by_note_and_tags() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    let arguments = json!({
        "symbol": "AAPL", "condition": "price_above", "threshold": 200, "note": "sell half", "tags": ["swing", "b"],
    });
    let made = server.tool("create_alert", arguments).await;
    assert_eq!(
        (&made["note"], &made["tags"]),
        (&json!("sell half"), &json!(["swing", "b"]))
    );
    let listed =
        async |tags: &str| server.tool("list_alerts", json!({"tags": tags})).await["pagination"]["total"].clone();
    assert_eq!((listed("b, swing").await, listed("b,c").await), (json!(1), json!(0)));
    let changes = json!({"alert_id": made["id"], "note": null, "tags": ["c"]});
    let changed = server.tool("update_alert", changes).await;
    assert_eq!((changed.get("note"), &changed["tags"]), (None, &json!(["c"])));
    let refused = server
        .refused("update_alert", json!({"alert_id": made["id"], "tags": ["a,b"]}))
        .await;
    assert!(refused.contains("without commas"), "{refused}");
}

#[tokio::test]
async fn create_alert_refuses_an_expression_with_another_condition() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    let arguments = json!({"symbol": "AAPL", "condition": "price_below", "threshold": 1, "when": "rsi(14) < 2"});
    assert_eq!(
        server.refused("create_alert", arguments).await,
        "when: must be omitted unless condition is expression"
    );
}

#[tokio::test]
async fn create_alert_names_the_base_of_a_price_change_once() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    let arguments = json!({
        "symbol": "AAPL", "condition": "price_change_down", "threshold": 5, "options": {"base": "open"},
    });
    assert_eq!(
        server.tool("create_alert", arguments).await["sentence"],
        "AAPL down 5% since the open"
    );
}
