//! The option `session: extended` over HTTP. It is Friday, 10:00 in New York.

use serde_json::{Value, json};

use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::{TestServer, above};

on_each_database! {
    option_is_accepted_and_shown
    pushed_quote_fires_before_the_response
    market_is_closed_only_outside_extended_hours
    past_moment_in_extended_hours_has_no_data
    preview_says_that_extended_hours_are_not_stored
}

fn extended(price: i64) -> Value {
    let mut body = above(price);
    body["options"] = json!({"session": "extended"});
    body
}

async fn created(server: &TestServer, body: Value) -> String {
    let made = server.post("/v1/alerts", body).await.ok(201);
    made.body["data"]["id"].as_str().unwrap().to_owned()
}

async fn gates(server: &TestServer, id: &str, query: &str) -> Vec<(String, Value)> {
    let found = server.get(&format!("/v1/alerts/{id}/explain{query}")).await.ok(200);
    let gates = found.body["data"]["gates"].as_array().unwrap();
    let gate = |gate: &Value| (gate["gate"].as_str().unwrap().to_owned(), gate["until"].clone());
    gates.iter().map(gate).collect()
}

async fn option_is_accepted_and_shown(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = created(&server, extended(125)).await;
    let shown = server.get(&format!("/v1/alerts/{id}")).await.ok(200);
    assert_eq!(shown.body["data"]["options"], json!({"session": "extended"}));
    let parsed = server
        .post("/v1/alerts/parse", json!({"text": "AAPL above 125 in extended hours"}))
        .await
        .ok(200);
    assert_eq!(parsed.body["data"]["alert"]["options"], json!({"session": "extended"}));
    let mut closing = extended(125);
    closing["options"]["trigger"] = json!("close");
    let refused = server
        .post("/v1/alerts", closing)
        .await
        .refused(422, "VALIDATION_ERROR");
    let fields = &refused.body["error"]["details"]["fields"];
    assert_eq!(fields["options.session"].as_array().unwrap().len(), 1, "{fields}");
}

async fn pushed_quote_fires_before_the_response(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = created(&server, extended(125)).await;
    server.clock.set("2024-03-08T22:00:00Z".parse().unwrap());
    let quote = json!({"symbol": "AAPL", "price": 126, "time": "2024-03-08T21:59:59Z"});
    let response = server
        .post("/v1/market/ingest", json!({"quotes": [quote]}))
        .await
        .ok(200);
    assert_eq!(response.body["data"]["rejected"], json!([]));
    let shown = server.get(&format!("/v1/alerts/{id}")).await.ok(200);
    assert_eq!(shown.body["data"]["status"], "triggered");
    let history = server.get(&format!("/v1/alerts/{id}/history")).await.ok(200);
    let entries = history.body["data"].as_array().unwrap();
    // The history gets the result of the email later.
    let fired = entries
        .iter()
        .find(|entry| entry["action_type"] == "triggered")
        .unwrap();
    assert_eq!(fired["trigger_price"], 126);
}

async fn market_is_closed_only_outside_extended_hours(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let regular = created(&server, above(125)).await;
    let extended = created(&server, extended(126)).await;
    for (now, closed) in [
        ("2024-03-08T21:00:00Z", [None, None]),
        ("2024-03-09T01:00:00Z", [Some("2024-03-11T13:30:00.000Z"), None]),
        (
            "2024-03-09T01:00:01Z",
            [Some("2024-03-11T13:30:00.000Z"), Some("2024-03-11T08:00:00.000Z")],
        ),
        ("2024-03-11T08:00:00Z", [Some("2024-03-11T13:30:00.000Z"), None]),
    ] {
        server.clock.set(now.parse().unwrap());
        for (id, until) in [&regular, &extended].into_iter().zip(closed) {
            let expected = until.map(|until| ("market_closed".to_owned(), json!(until)));
            let found = gates(&server, id, "").await;
            let found = found.into_iter().find(|(gate, _)| gate == "market_closed");
            assert_eq!(found, expected, "{now}");
        }
    }
}

async fn past_moment_in_extended_hours_has_no_data(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = created(&server, extended(125)).await;
    server.clock.set("2024-03-09T03:00:00Z".parse().unwrap());
    let names = |gates: Vec<(String, Value)>| gates.into_iter().map(|(gate, _)| gate).collect::<Vec<_>>();
    let evening = names(gates(&server, &id, "?at=2024-03-08T22:00:00Z").await);
    assert_eq!(evening.first().map(String::as_str), Some("no_data"), "{evening:?}");
    let night = names(gates(&server, &id, "?at=2024-03-09T02:00:00Z").await);
    assert_eq!(night.first().map(String::as_str), Some("market_closed"), "{night:?}");
}

async fn preview_says_that_extended_hours_are_not_stored(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    for (body, is_noted) in [(above(125), false), (extended(125), true)] {
        let found = server.post("/v1/alerts/preview", json!({"alert": body})).await.ok(200);
        let coverage = &found.body["data"]["coverage"];
        assert_eq!(coverage["note"].is_string(), is_noted, "{coverage}");
    }
}
