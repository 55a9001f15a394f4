//! The watchlist over HTTP.

use alerts::Plan;
use foundation::Scope;
use serde_json::{Value, json};

use crate::http::test_server::TestServer;

const NONE: &str = "11111111-1111-4111-8111-111111111111";

async fn watched(server: &TestServer) -> Value {
    server.set_price("AAPL", 200.0).await;
    let body = json!({"stock_symbol": "aapl", "intention": "buy", "target_price": 180.5, "notes": "wait\nfor it"});
    server.post("/v1/watchlist", body).await.ok(201).body["data"].clone()
}

#[tokio::test]
async fn item_has_all_fields() {
    let server = TestServer::new().await;
    let item = watched(&server).await;
    let expected = json!({
        "id": item["id"], "stock_symbol": "AAPL", "intention": "buy", "target_price": 180.5, "initial_price": 200,
        "auto_alerts_enabled": true, "notes": "wait\nfor it", "is_active": true, "active_alert_count": item["active_alert_count"],
        "paused_alert_count": 0, "analysis": item["analysis"],
        "stocks": {"symbol": "AAPL", "name": "AAPL Company", "last_price": 200},
        "created_at": "2024-03-08T15:00:00.000Z", "updated_at": "2024-03-08T15:00:00.000Z",
    });
    assert_eq!(item, expected);
    let list = server.get("/api/v1/watchlist").await.ok(200);
    assert_eq!(list.body["data"][0]["id"], item["id"]);
    assert_eq!(list.body["meta"]["rate_limit"]["limit"], 10_000);
}

#[tokio::test]
async fn item_counts_alerts_by_status() {
    let server = TestServer::new().await;
    let item = watched(&server).await;
    let path = format!("/v1/watchlist/{}", item["id"].as_str().unwrap());
    let off = json!({"auto_alerts_enabled": false});
    let _ = server.request("PATCH", &path).json(&off).send().await.ok(200);
    let (paused, _) = (server.create_alert(300).await, server.create_alert(301).await);
    let _ = server
        .post(&format!("/v1/alerts/{paused}/pause"), json!({}))
        .await
        .ok(200);
    let list = server.get("/v1/watchlist").await.ok(200).body["data"].clone();
    let counts = |item: &Value| (item["active_alert_count"].clone(), item["paused_alert_count"].clone());
    assert_eq!(counts(&list[0]), (json!(1), json!(1)));
}

#[tokio::test]
async fn item_is_updated_reversed_and_deleted() {
    let server = TestServer::new().await;
    let item = watched(&server).await;
    let path = format!("/v1/watchlist/{}", item["id"].as_str().unwrap());
    let change = json!({"target_price": null, "notes": "", "is_active": false, "auto_alerts_enabled": false});
    let changed = server.request("PATCH", &path).json(&change).send().await.ok(200).body["data"].clone();
    for (field, value) in [
        ("target_price", json!(null)),
        ("notes", json!(null)),
        ("is_active", json!(false)),
        ("auto_alerts_enabled", json!(false)),
        ("initial_price", json!(200)),
    ] {
        assert_eq!(changed[field], value, "{field}");
    }
    let swap = json!({"item_id": item["id"], "new_intention": "sell", "stock_symbol": "AAPL"});
    let swapped = server
        .request("PUT", "/v1/watchlist/order")
        .json(&swap)
        .send()
        .await
        .ok(200);
    assert_eq!(swapped.body["data"]["item"]["intention"], "sell");
    assert_eq!(swapped.body["data"]["deleted_alerts"], 0);
    let deleted = server.request("DELETE", &path).send().await.ok(200);
    assert_eq!(deleted.body["data"], json!({"deleted": true}));
    let _ = server.request("DELETE", &path).send().await.refused(404, "NOT_FOUND");
    assert_eq!(server.get("/v1/watchlist").await.ok(200).body["data"], json!([]));
}

#[tokio::test]
async fn paper_trade_has_all_fields() {
    let server = TestServer::new().await;
    let item = watched(&server).await;
    let user = server.get("/v1/user/subscription").await.ok(200).body["data"]["user_id"].clone();
    server.set_price("AAPL", 220.0).await;
    let trades = server.get("/v1/watchlist/paper-trades").await.ok(200);
    let trade = trades.body["data"][0].clone();
    let expected = json!({
        "id": trade["id"], "user_id": trade["user_id"], "watchlist_id": trade["watchlist_id"], "watchlist_item_id": item["id"],
        "symbol": "AAPL", "direction": "long", "notional_usd": 1000, "quantity": 5, "entry_price": 200,
        "entry_at": "2024-03-08T15:00:00.000Z", "status": "open", "exit_price": null, "exit_at": null,
        "realized_pnl_usd": null, "unrealized_pnl_usd": 100,
    });
    assert_eq!(trade, expected);
    assert!(user.is_null() || user == trade["user_id"]);
    let path = format!("/v1/watchlist/{}", item["id"].as_str().unwrap());
    let _ = server.request("DELETE", &path).send().await.ok(200);
    let trades = server.get("/v1/watchlist/paper-trades?limit=1").await.ok(200);
    let trade = trades.body["data"][0].clone();
    assert_eq!(
        (&trade["status"], &trade["exit_price"]),
        (&json!("closed"), &json!(220))
    );
    assert_eq!(
        (&trade["realized_pnl_usd"], &trade["unrealized_pnl_usd"]),
        (&json!(100), &json!(null))
    );
    assert_eq!(trade["exit_at"], "2024-03-08T15:00:00.000Z");
    assert_eq!(trades.body["meta"]["pagination"]["total"], 1);
}

#[tokio::test]
async fn performance_without_trades_is_empty() {
    let server = TestServer::new().await;
    for (query, range) in [
        ("", "max"),
        ("?range=3m", "3m"),
        ("?range=6m", "6m"),
        ("?range=1y", "1y"),
        ("?range=max", "max"),
    ] {
        let response = server.get(&format!("/v1/watchlist/performance{query}")).await.ok(200);
        let expected = json!({
            "range": range, "base_date": null, "benchmark": "SPY", "series": {"watchlist": [], "sp_500": []},
            "summary": {"watchlist_return_pct": 0, "sp500_return_pct": 0, "sp_500_return_pct": 0, "alpha_pct": 0},
        });
        assert_eq!(response.body["data"], expected);
    }
    let _ = server
        .get("/v1/watchlist/performance?range=2y")
        .await
        .refused(422, "VALIDATION_ERROR");
    let _ = server
        .get("/v1/watchlist/paper-trades?page=0")
        .await
        .refused(422, "VALIDATION_ERROR");
}

#[tokio::test]
async fn performance_is_provisional_today_and_null_without_a_benchmark() {
    let server = TestServer::new().await;
    let _ = watched(&server).await;
    let performance = server.get("/v1/watchlist/performance").await.ok(200).body["data"].clone();
    assert_eq!(performance["base_date"], "2024-03-08");
    assert_eq!(
        performance["series"],
        json!({"watchlist": [{"date": "2024-03-08", "value": 100, "provisional": true}], "sp_500": []})
    );
    assert_eq!(
        performance["summary"],
        json!({"watchlist_return_pct": 0, "sp500_return_pct": null, "sp_500_return_pct": null, "alpha_pct": null})
    );
    server.set_price("SPY", 500.0).await;
    let performance = server.get("/v1/watchlist/performance").await.ok(200).body["data"].clone();
    assert_eq!(performance["series"]["sp_500"], performance["series"]["watchlist"]);
    assert_eq!(
        performance["summary"],
        json!({"watchlist_return_pct": 0, "sp500_return_pct": 0, "sp_500_return_pct": 0, "alpha_pct": 0})
    );
}

#[tokio::test]
async fn invalid_body_is_400_with_field_errors() {
    let server = TestServer::new().await;
    let item = watched(&server).await;
    let path = format!("/v1/watchlist/{}", item["id"].as_str().unwrap());
    for (method, path, body, field) in [
        ("POST", "/v1/watchlist", json!({"stock_symbol": "AAPL"}), "intention"),
        ("POST", "/v1/watchlist", json!({"intention": "buy"}), "stock_symbol"),
        (
            "POST",
            "/v1/watchlist",
            json!({"stock_symbol": "AAPL", "intention": "hold"}),
            "intention",
        ),
        (
            "POST",
            "/v1/watchlist",
            json!({"stock_symbol": "AAPL", "intention": "buy", "target_price": -1}),
            "target_price",
        ),
        ("PATCH", &path, json!({"is_active": "yes"}), "is_active"),
        ("PATCH", &path, json!({"target_price": 0}), "target_price"),
        (
            "PUT",
            "/v1/watchlist/order",
            json!({"new_intention": "sell", "stock_symbol": "AAPL"}),
            "item_id",
        ),
        (
            "PUT",
            "/v1/watchlist/order",
            json!({"item_id": item["id"], "new_intention": "sell", "stock_symbol": "MSFT"}),
            "stock_symbol",
        ),
    ] {
        let refused = server
            .request(method, path)
            .json(&body)
            .send()
            .await
            .refused(400, "VALIDATION_ERROR");
        assert!(
            refused.body["error"]["details"]["fields"][field].is_array(),
            "{refused:?}"
        );
    }
    for (method, path) in [
        ("POST", "/v1/watchlist"),
        ("PATCH", path.as_str()),
        ("PUT", "/v1/watchlist/order"),
    ] {
        let _ = server
            .request(method, path)
            .json(&json!([]))
            .send()
            .await
            .refused(400, "BAD_REQUEST");
    }
}

#[tokio::test]
async fn unknown_item_is_404_and_duplicate_is_409() {
    let server = TestServer::new().await;
    let item = watched(&server).await;
    let again = json!({"stock_symbol": "AAPL", "intention": "sell"});
    let _ = server.post("/v1/watchlist", again).await.refused(409, "CONFLICT");
    let unknown = json!({"stock_symbol": "NOSUCH", "intention": "sell"});
    let _ = server.post("/v1/watchlist", unknown).await.refused(404, "NOT_FOUND");
    for id in [NONE, "nonsense"] {
        let path = format!("/v1/watchlist/{id}");
        let _ = server
            .request("PATCH", &path)
            .json(&json!({}))
            .send()
            .await
            .refused(404, "NOT_FOUND");
        let _ = server.request("DELETE", &path).send().await.refused(404, "NOT_FOUND");
    }
    let swap = json!({"item_id": NONE, "new_intention": "sell", "stock_symbol": "AAPL"});
    let _ = server
        .request("PUT", "/v1/watchlist/order")
        .json(&swap)
        .send()
        .await
        .refused(404, "NOT_FOUND");
    // An unchanged item is returned as it is.
    let path = format!("/v1/watchlist/{}", item["id"].as_str().unwrap());
    let same = server.request("PATCH", &path).json(&json!({})).send().await.ok(200);
    assert_eq!(same.body["data"]["id"], item["id"]);
}

#[tokio::test]
async fn each_route_requires_its_scope() {
    let server = TestServer::new().await;
    let email = "narrow@example.com";
    let reading = server
        .account(email, Plan::Premium, false, &[Scope::WatchlistRead])
        .await;
    let other = server
        .another_key(email, &[Scope::AlertsRead, Scope::AlertsWrite])
        .await;
    for path in [
        "/v1/watchlist",
        "/v1/watchlist/paper-trades",
        "/v1/watchlist/performance",
    ] {
        let _ = server
            .anonymous("GET", path)
            .header("x-api-key", &reading)
            .send()
            .await
            .ok(200);
        let refused = server
            .anonymous("GET", path)
            .header("x-api-key", &other)
            .send()
            .await
            .refused(403, "FORBIDDEN");
        assert_eq!(refused.body["error"]["details"]["required"], "watchlist:read");
        let _ = server.anonymous("GET", path).send().await.refused(401, "UNAUTHORIZED");
    }
    for (method, path) in [
        ("POST", "/v1/watchlist".to_owned()),
        ("PUT", "/v1/watchlist/order".to_owned()),
        ("PATCH", format!("/v1/watchlist/{NONE}")),
        ("DELETE", format!("/v1/watchlist/{NONE}")),
    ] {
        let refused = server
            .anonymous(method, &path)
            .header("x-api-key", &reading)
            .json(&json!({}))
            .send()
            .await;
        assert_eq!(
            refused.refused(403, "FORBIDDEN").body["error"]["details"]["required"],
            "watchlist:write"
        );
    }
}
