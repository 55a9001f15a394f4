//! Expressions and options of alerts over HTTP.

use serde_json::{Value, json};

use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::{TestServer, above};

on_each_database! {
    expression_is_answered_in_its_canonical_form
    error_of_an_expression_has_position_expected_and_suggestions
    alert_without_options_has_no_such_fields
    options_are_shown_wherever_the_alert_is
    misspelt_option_is_refused_with_the_nearest_name
    put_does_not_know_snooze_and_patch_does
    agent_creates_an_expression_with_options
    guest_cannot_send_options
}

fn expression(when: &str) -> Value {
    json!({"symbol": "AAPL", "condition": "expression", "parameters": {"when": when}})
}

async fn expression_is_answered_in_its_canonical_form(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let mut body = expression("RSI<30 AND (aapl.price > SMA(200))");
    body["parameters"]["within"] = json!("90m");
    let made = server.post("/v1/alerts", body).await.ok(201);
    let data = &made.body["data"];
    assert_eq!(data["parameters"]["when"], "rsi(14) < 30 and price > sma(200)");
    assert_eq!(data["parameters"]["within"], "90m");
    assert_eq!(
        (&data["condition"], &data["threshold"]),
        (&json!("expression"), &Value::Null)
    );
}

async fn error_of_an_expression_has_position_expected_and_suggestions(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let refused = server
        .post("/v1/alerts", expression("price > smaa(200)"))
        .await
        .refused(422, "VALIDATION_ERROR");
    let details = &refused.body["error"]["details"];
    assert_eq!(
        (&details["position"], &details["suggestions"][0]),
        (&json!(9), &json!("sma"))
    );
    assert_eq!(details["fields"]["parameters.when"].as_array().unwrap().len(), 1);
    let unfinished = server
        .post("/v1/alerts", expression("price >"))
        .await
        .refused(422, "VALIDATION_ERROR");
    let details = &unfinished.body["error"]["details"];
    assert_eq!(details["position"], 8);
    assert!(!details["expected"].as_array().unwrap().is_empty(), "{details}");
}

async fn alert_without_options_has_no_such_fields(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let made = server.post("/v1/alerts", above(125)).await.ok(201);
    for field in ["options", "trigger_count", "last_triggered_at", "inactive_reason"] {
        assert!(made.body["data"].get(field).is_none(), "{made:?}");
    }
}

async fn options_are_shown_wherever_the_alert_is(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let mut body = above(125);
    body["options"] = json!({"repeat": "each_time", "cooldown": "1h", "hold": null});
    let made = server.post("/v1/alerts", body).await.ok(201);
    let id = made.body["data"]["id"].as_str().unwrap();
    let listed = server.get("/v1/alerts").await.ok(200);
    let read = server.get(&format!("/v1/alerts/{id}")).await.ok(200);
    for alert in [&made.body["data"], &listed.body["data"][0], &read.body["data"]] {
        assert_eq!(alert["options"], json!({"repeat": "each_time", "cooldown": "1h"}));
        assert_eq!(alert["trigger_count"], 0);
    }
}

async fn misspelt_option_is_refused_with_the_nearest_name(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let mut body = above(125);
    body["options"] = json!({"repaet": "each_time"});
    let refused = server.post("/v1/alerts", body).await.refused(422, "VALIDATION_ERROR");
    let fields = &refused.body["error"]["details"]["fields"];
    assert_eq!(fields["options.repaet"], json!(["is unknown; did you mean repeat?"]));
}

async fn put_does_not_know_snooze_and_patch_does(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let made = server.post("/v1/alerts", above(125)).await.ok(201);
    let path = format!("/v1/alerts/{}", made.body["data"]["id"].as_str().unwrap());
    let change = |method: &'static str, body: Value| server.request(method, &path).json(&body).send();
    let put = change("PUT", json!({"snooze": "2h"})).await.ok(200);
    assert!(put.body["data"].get("options").is_none(), "{put:?}");
    let patched = change("PATCH", json!({"snooze": "2h"})).await.ok(200);
    assert!(
        patched.body["data"]["options"]["snoozed_until"].is_string(),
        "{patched:?}"
    );
    let ended = change("PATCH", json!({"snooze": null})).await.ok(200);
    assert!(ended.body["data"].get("options").is_none(), "{ended:?}");
    let refused = change("PATCH", json!({"snooze": "soon"}))
        .await
        .refused(422, "VALIDATION_ERROR");
    assert!(
        refused.body["error"]["details"]["fields"]["snooze"].is_array(),
        "{refused:?}"
    );
}

async fn agent_creates_an_expression_with_options(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let mut body = expression("price > 1.02 * high(20)");
    body["options"] = json!({"repeat": "once_per_day"});
    let made = server.tool("create_alert", body).await;
    assert_eq!(made["parameters"]["when"], "price > 1.02 * high(20)", "{made}");
    assert_eq!(made["options"], json!({"repeat": "once_per_day"}));
    let sentence = made["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("fires when "), "{sentence}");
}

async fn guest_cannot_send_options(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let mut body = above(125);
    (body["email"], body["options"]) = (json!("guest@example.com"), json!({"repeat": "each_time"}));
    let refused = server
        .anonymous("POST", "/v1/alerts")
        .json(&body)
        .send()
        .await
        .refused(422, "VALIDATION_ERROR");
    assert!(
        refused.body["error"]["details"]["fields"]["options"].is_array(),
        "{refused:?}"
    );
}
