//! Alerts as text over HTTP.

use serde_json::{Value, json};

use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::TestServer;

on_each_database! {
    parsed_alert_can_be_created
    sentence_is_read_as_the_same_alert
    errors_have_a_position_and_suggestions
    unknown_symbols_are_errors_at_their_place
}

async fn parse(server: &TestServer, text: &str) -> Value {
    let body = json!({"text": text});
    server.post("/v1/alerts/parse", body).await.ok(200).body["data"].clone()
}

async fn parsed_alert_can_be_created(server: TestServer) {
    server.set_price("AAPL", 189.2).await;
    let parsed = parse(&server, "AAPL < 180 and rsi under 30 each time until 2030-01-31").await;
    assert_eq!(
        parsed,
        json!({
            "alert": {
                "symbol": "AAPL", "condition": "expression",
                "parameters": {"when": "price < 180 and rsi(14) < 30"},
                "options": {"repeat": "each_time", "expires_at": "2030-01-31"},
            },
            "sentence": "AAPL falls below 180.00 while its 14-day RSI is under 30 each time until 2030-01-31",
        })
    );
    let created = server.post("/v1/alerts", parsed["alert"].clone()).await.ok(201);
    assert_eq!(created.body["data"]["options"], parsed["alert"]["options"]);
    let named = parse(&server, "AAPL falls to 180 or below").await;
    assert_eq!(
        named["alert"],
        json!({"symbol": "AAPL", "condition": "price_below", "threshold": 180})
    );
}

async fn sentence_is_read_as_the_same_alert(server: TestServer) {
    server.set_price("AAPL", 189.2).await;
    server.set_price("SPY", 500.0).await;
    for text in [
        "AAPL above 1.02 * high(20) once per day holding 15m to email",
        "AAPL change_pct(open) <= -5 and SPY.price < SPY.sma(50) at most every 2h each time",
        "AAPL price crosses above 200 within the session, on two lasts",
    ] {
        let parsed = parse(&server, text).await;
        let again = parse(&server, parsed["sentence"].as_str().unwrap()).await;
        assert_eq!(again["sentence"], parsed["sentence"], "{text}");
        assert_eq!(again["alert"]["options"], parsed["alert"]["options"], "{text}");
        assert_eq!(again["alert"]["parameters"], parsed["alert"]["parameters"], "{text}");
    }
}

async fn refused(server: &TestServer, text: &str) -> Value {
    let body = json!({"text": text});
    let response = server
        .post("/v1/alerts/parse", body)
        .await
        .refused(422, "VALIDATION_ERROR");
    response.body["error"]["details"].clone()
}

async fn errors_have_a_position_and_suggestions(server: TestServer) {
    server.set_price("AAPL", 189.2).await;
    assert_eq!(
        refused(&server, "AAPL < 180 each time to telegram").await,
        json!({
            "fields": {"text": ["unexpected `telegram` at 25; did you mean `email` or `sms`?"]},
            "position": 25, "expected": ["email", "sms"], "suggestions": ["email", "sms"],
        })
    );
    assert_eq!(
        refused(&server, "AAPL smaa(20) < 5").await["suggestions"],
        json!(["sma"])
    );
    assert_eq!(refused(&server, "AAPL").await["position"], 5);
    for body in [json!({}), json!({"text": 5}), json!({"text": null})] {
        let _ = server
            .post("/v1/alerts/parse", body)
            .await
            .refused(422, "VALIDATION_ERROR");
    }
}

async fn unknown_symbols_are_errors_at_their_place(server: TestServer) {
    server.set_price("AAPL", 189.2).await;
    let own = refused(&server, "APPL < 180").await;
    assert_eq!((&own["position"], &own["suggestions"]), (&json!(1), &json!(["AAPL"])));
    let other = refused(&server, "AAPL price < AAPLE.price").await;
    assert_eq!(
        (&other["position"], &other["suggestions"]),
        (&json!(14), &json!(["AAPL"]))
    );
}
