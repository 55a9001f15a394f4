//! Requests for alerts over many stocks, and how they are shown.

use serde_json::{Value, json};

use crate::http::identity::{on_each_database, start_server};
use crate::http::scopes::{basic_account, created, over, prices, shown};
use crate::http::test_server::TestServer;

on_each_database! {
    alert_has_its_scope_and_no_symbol
    symbol_with_scope_and_invalid_scopes_are_refused
    unknown_stock_of_a_scope_is_refused
    reminder_has_no_scope
    equal_scope_is_the_same_alert
    explanation_is_that_of_a_member
    lists_find_an_alert_by_its_stocks
    other_account_sees_no_members
    agent_creates_an_alert_over_many_stocks
    guest_cannot_send_a_scope
}

async fn alert_has_its_scope_and_no_symbol(server: TestServer) {
    prices(&server, &[("AAPL", 100.0), ("MSFT", 50.0)]).await;
    let id = created(&server, over(&["MSFT", "aapl", "MSFT"], 125)).await;
    let listed = server.get("/v1/alerts?extended=true").await.ok(200);
    for alert in [&shown(&server, &id).await, &listed.body["data"][0]] {
        assert_eq!(alert["symbol"], Value::Null);
        assert_eq!(alert["scope"], json!({"symbols": ["MSFT", "AAPL"]}));
        assert_eq!(alert["stock"]["name"], "2 stocks");
        assert_eq!(
            (&alert["initial_price"], &alert["stock"]["last_price"]),
            (&Value::Null, &Value::Null)
        );
    }
    let found = server.get(&format!("/v1/alerts/{id}/members")).await.ok(200);
    assert_eq!(
        found.body["data"][0],
        json!({"symbol": "AAPL", "state": "active", "initial_price": 100, "distance_pct": 25, "last_triggered_at": null})
    );
}

async fn symbol_with_scope_and_invalid_scopes_are_refused(server: TestServer) {
    prices(&server, &[("AAPL", 100.0)]).await;
    for (scope, field) in [
        (json!({"symbols": ["AAPL"], "symbl": 1}), "scope.symbl"),
        (json!({"symbols": []}), "scope.symbols"),
        (json!({"watchlist": "hold"}), "scope.watchlist"),
        (json!({}), "scope"),
        (json!("AAPL"), "scope"),
    ] {
        let body = json!({"scope": scope, "condition": "price_above", "threshold": 125});
        let refused = server.post("/v1/alerts", body).await.refused(422, "VALIDATION_ERROR");
        assert!(
            refused.body["error"]["details"]["fields"][field].is_array(),
            "{refused:?}"
        );
    }
    let mut both = over(&["AAPL"], 125);
    both["symbol"] = json!("AAPL");
    let refused = server.post("/v1/alerts", both).await.refused(422, "VALIDATION_ERROR");
    assert!(
        refused.body["error"]["details"]["fields"]["symbol"].is_array(),
        "{refused:?}"
    );
}

async fn unknown_stock_of_a_scope_is_refused(server: TestServer) {
    prices(&server, &[("AAPL", 100.0)]).await;
    for (path, body) in [
        ("/v1/alerts", over(&["AAPL", "APPL"], 125)),
        ("/v1/alerts/preview", json!({"alert": over(&["AAPL", "APPL"], 125)})),
    ] {
        let refused = server.post(path, body).await.refused(422, "VALIDATION_ERROR");
        assert_eq!(
            refused.body["error"]["details"]["fields"],
            json!({"scope.symbols.1": ["no stock has the symbol APPL; did you mean AAPL?"]})
        );
    }
    let listed = server.get("/v1/alerts").await.ok(200);
    assert_eq!(listed.body["data"], json!([]));
}

async fn reminder_has_no_scope(server: TestServer) {
    prices(&server, &[("AAPL", 100.0)]).await;
    let body = json!({"scope": {"symbols": ["AAPL"]}, "condition": "reminder", "threshold": 3});
    let refused = server.post("/v1/alerts", body).await.refused(422, "VALIDATION_ERROR");
    assert!(
        refused.body["error"]["details"]["fields"]["scope"].is_array(),
        "{refused:?}"
    );
}

async fn equal_scope_is_the_same_alert(server: TestServer) {
    prices(&server, &[("AAPL", 100.0), ("MSFT", 100.0)]).await;
    let id = created(&server, over(&["AAPL", "MSFT"], 125)).await;
    let again = server.post("/v1/alerts", over(&["MSFT", "AAPL"], 125)).await.ok(200);
    assert_eq!(again.body["data"]["id"], json!(id));
    server.post("/v1/alerts", over(&["MSFT"], 125)).await.ok(201);
}

async fn explanation_is_that_of_a_member(server: TestServer) {
    prices(&server, &[("AAPL", 100.0), ("MSFT", 50.0)]).await;
    let id = created(&server, over(&["AAPL", "MSFT"], 125)).await;
    let path = format!("/v1/alerts/{id}/explain");
    let found = server.get(&format!("{path}?symbol=MSFT")).await.ok(200);
    assert_eq!(found.body["data"]["terms"][0]["left"], 50);
    for query in ["", "?symbol=TSLA"] {
        let refused = server
            .get(&format!("{path}{query}"))
            .await
            .refused(422, "VALIDATION_ERROR");
        assert!(
            refused.body["error"]["details"]["fields"]["symbol"].is_array(),
            "{refused:?}"
        );
    }
}

async fn lists_find_an_alert_by_its_stocks(server: TestServer) {
    prices(&server, &[("AAPL", 100.0), ("MSFT", 100.0)]).await;
    let id = created(&server, over(&["AAPL", "MSFT"], 125)).await;
    for (query, count) in [
        ("symbol=MSFT", 1),
        ("symbol=TSLA", 0),
        ("search=msf", 1),
        ("status=active", 1),
        ("status=triggered", 0),
    ] {
        let found = server.get(&format!("/v1/alerts?{query}")).await.ok(200);
        assert_eq!(found.body["data"].as_array().unwrap().len(), count, "{query}");
    }
    prices(&server, &[("AAPL", 130.0), ("MSFT", 130.0)]).await;
    let found = server.get("/v1/alerts?status=triggered").await.ok(200);
    assert_eq!(found.body["data"][0]["id"], json!(id));
}

async fn other_account_sees_no_members(server: TestServer) {
    let (key, _) = basic_account(&server, 1).await;
    prices(&server, &[("AAPL", 100.0)]).await;
    let id = created(&server, over(&["AAPL"], 125)).await;
    for path in [format!("/v1/alerts/{id}/members"), format!("/v1/alerts/{id}")] {
        let response = server.anonymous("GET", &path).header("x-api-key", &key).send().await;
        assert_eq!(response.status, 404, "{response:?}");
    }
}

async fn agent_creates_an_alert_over_many_stocks(server: TestServer) {
    prices(&server, &[("AAPL", 100.0), ("MSFT", 100.0)]).await;
    let made = server.tool("create_alert", over(&["AAPL", "MSFT"], 125)).await;
    assert_eq!(made["scope"], json!({"symbols": ["AAPL", "MSFT"]}), "{made}");
    assert_eq!(made["symbol"], Value::Null);
}

async fn guest_cannot_send_a_scope(server: TestServer) {
    prices(&server, &[("AAPL", 100.0)]).await;
    let body = json!({
        "symbol": "AAPL", "scope": {"symbols": ["AAPL"]}, "condition": "price_above", "threshold": 125,
        "email": "guest@example.com",
    });
    let refused = server
        .anonymous("POST", "/v1/alerts")
        .json(&body)
        .send()
        .await
        .refused(422, "VALIDATION_ERROR");
    assert!(
        refused.body["error"]["details"]["fields"]["scope"].is_array(),
        "{refused:?}"
    );
}
