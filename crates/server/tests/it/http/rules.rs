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
    agent_gives_the_expression_as_an_argument
    ended_snooze_is_not_shown_and_can_be_written_back
    options_without_effect_are_refused
    errors_of_expressions_name_their_place
    guest_cannot_send_options
}

fn expression(when: &str) -> Value {
    json!({"symbol": "AAPL", "condition": "expression", "parameters": {"when": when}})
}

async fn expression_is_answered_in_its_canonical_form(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let mut body = expression("RSI crosses below 30 AND (aapl.price > SMA(200))");
    body["parameters"]["within"] = json!("90m");
    let made = server.post("/v1/alerts", body).await.ok(201);
    let data = &made.body["data"];
    assert_eq!(
        data["parameters"]["when"],
        "rsi(14) crosses below 30 and price > sma(200)"
    );
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
    assert_eq!(made["sentence"], "AAPL rises above 1.02 * its 20-day high once per day");
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

async fn agent_gives_the_expression_as_an_argument(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "expression", "when": "rsi < 30"});
    let made = server.tool("create_alert", body.clone()).await;
    assert_eq!(made["parameters"], json!({"when": "rsi(14) < 30"}));
    let mut twice = body.clone();
    twice["parameters"] = json!({"when": "rsi < 30"});
    let text = server.refused("create_alert", twice).await;
    assert!(text.contains("when: must be omitted"), "{text}");
    let mut previewed = body;
    previewed["preview"] = json!(true);
    assert!(server.tool("create_alert", previewed).await["preview"].is_object());
}

async fn ended_snooze_is_not_shown_and_can_be_written_back(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let mut body = above(125);
    body["options"] = json!({"repeat": "each_time"});
    let made = server.post("/v1/alerts", body.clone()).await.ok(201);
    let path = format!("/v1/alerts/{}", made.body["data"]["id"].as_str().unwrap());
    let change = |method: &'static str, body: Value| server.request(method, &path).json(&body).send();
    let snoozed = change("PATCH", json!({"snooze": "1m"})).await.ok(200);
    let sent = snoozed.body["data"]["options"].clone();
    assert!(sent["snoozed_until"].is_string(), "{sent}");
    server.clock.advance(jiff::SignedDuration::from_mins(2));
    let read = server.get(&path).await.ok(200);
    let listed = server.get("/v1/alerts").await.ok(200);
    for alert in [&read.body["data"], &listed.body["data"][0]] {
        assert_eq!(alert["options"], json!({"repeat": "each_time"}));
    }
    for method in ["PUT", "PATCH"] {
        let written = change(method, json!({"options": sent})).await.ok(200);
        assert_eq!(written.body["data"]["options"], json!({"repeat": "each_time"}));
    }
    let again = server.post("/v1/alerts", body).await.ok(200);
    assert_eq!(again.body["data"]["id"], made.body["data"]["id"]);
}

async fn options_without_effect_are_refused(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    for (when, options, field) in [
        ("price > 5", json!({"base": "open"}), "options.base"),
        ("volume > 5", json!({"trigger": "bid"}), "options.trigger"),
        ("price > 5", json!({"cooldown_refire": true}), "options.cooldown_refire"),
    ] {
        let mut body = expression(when);
        body["options"] = options;
        let refused = server.post("/v1/alerts", body).await.refused(422, "VALIDATION_ERROR");
        let fields = &refused.body["error"]["details"]["fields"];
        assert_eq!(fields[field].as_array().map(Vec::len), Some(1), "{fields}");
    }
    let mut body = expression("price > 5");
    body["parameters"]["within"] = json!("15m");
    let refused = server.post("/v1/alerts", body).await.refused(422, "VALIDATION_ERROR");
    assert!(refused.body["error"]["details"]["fields"]["parameters.within"].is_array());
}

async fn errors_of_expressions_name_their_place(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    server.set_price("SPY", 500.0).await;
    for (when, position, part) in [
        (
            "SPY.price > 5 and SPY.high_since_armed > 3",
            19,
            "write high_since_armed",
        ),
        ("price > 5 and SPY > 500", 15, "did you mean `SPY.price`?"),
        ("price > 5 and BF-B.price > 5", 15, "`BF.B.price`"),
        ("price > 5 \0", 11, "U+0000"),
        ("price > 5)", 10, "expected `and`, `or` or the end"),
        ("macd(26,12,9) > 1", 1, "write macd(12, 26, 9)"),
    ] {
        let refused = server
            .post("/v1/alerts", expression(when))
            .await
            .refused(422, "VALIDATION_ERROR");
        let error = &refused.body["error"];
        assert_eq!(error["details"]["position"], position, "{error}");
        assert!(error["message"].as_str().unwrap().contains(part), "{error}");
        assert!(!error["details"]["expected"].as_array().unwrap().is_empty(), "{error}");
    }
    let refused = server.post("/v1/alerts", expression("macd(26,12,9) > 1")).await;
    let refused = refused.refused(422, "VALIDATION_ERROR");
    assert_eq!(refused.body["error"]["details"]["expected"], json!(["macd(12, 26, 9)"]));
}
