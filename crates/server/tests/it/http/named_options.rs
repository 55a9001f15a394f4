//! Options of the conditions that are no expressions, over HTTP.

use serde_json::{Value, json};

use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::TestServer;

on_each_database! {
    options_that_do_not_fit_name_their_reason
    daily_reminder_repeats_by_default
    expired_daily_reminder_tells_its_owner
    reminder_can_be_snoozed
    text_with_a_named_condition_is_read
}

fn body(condition: &str, parameters: Value, options: Value) -> Value {
    let mut body = json!({"symbol": "AAPL", "condition": condition, "options": options});
    if condition == "rsi_limit" {
        body["threshold"] = 70.into();
    }
    if !parameters.is_null() {
        body["parameters"] = parameters;
    }
    body
}

async fn options_that_do_not_fit_name_their_reason(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let (none, both) = (Value::Null, json!({"direction": "both"}));
    let date = json!({"date": "2024-06-03"});
    let rising = json!({"direction": "rising"});
    for (condition, parameters, options, field, reason) in [
        (
            "ma_crossover_golden",
            &none,
            json!({"rearm": {"at": 5}}),
            "options.rearm",
            "does not compare one metric",
        ),
        (
            "ma_crossover_death",
            &none,
            json!({"hold": "1d"}),
            "options.hold",
            "ends with its session",
        ),
        (
            "rsi_limit",
            &both,
            json!({"cooldown_refire": true}),
            "options.cooldown_refire",
            "the other side counts",
        ),
        (
            "social_buzz",
            &rising,
            json!({"trigger": "bid"}),
            "options.trigger",
            "does not depend on a price",
        ),
        (
            "daily_reminder",
            &none,
            json!({"repeat": "once"}),
            "options.repeat",
            "give options.max_firings 1",
        ),
        (
            "daily_reminder",
            &none,
            json!({"hold": "1h"}),
            "options.hold",
            "true at one judgement only",
        ),
        (
            "reminder",
            &date,
            json!({"repeat": "each_time"}),
            "options.repeat",
            "fires once",
        ),
        (
            "reminder",
            &date,
            json!({"expires_at": "2024-06-04"}),
            "options.expires_at",
            "fires at its moment",
        ),
    ] {
        let sent = body(condition, parameters.clone(), options);
        let refused = server.post("/v1/alerts", sent).await.refused(422, "VALIDATION_ERROR");
        let fields = &refused.body["error"]["details"]["fields"];
        let message = fields[field][0]
            .as_str()
            .unwrap_or_else(|| panic!("{condition}: {fields}"));
        assert!(message.contains(reason), "{condition}: {message}");
        assert_eq!(fields.as_object().unwrap().len(), 1, "{fields}");
    }
}

async fn daily_reminder_repeats_by_default(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let options = json!({"max_firings": 5, "expires_at": "2027-01-31"});
    let made = server
        .post("/v1/alerts", body("daily_reminder", Value::Null, options))
        .await
        .ok(201);
    assert_eq!(
        made.body["data"]["options"],
        json!({"repeat": "each_time", "max_firings": 5, "expires_at": "2027-01-31"})
    );
    let plain = body(
        "daily_reminder",
        json!({"delivery_time": "after_market_close"}),
        json!({"repeat": "each_time"}),
    );
    let plain = server.post("/v1/alerts", plain).await.ok(201);
    assert_eq!(plain.body["data"]["options"], Value::Null);
}

async fn expired_daily_reminder_tells_its_owner(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let options = json!({"expires_at": "2024-03-08T15:30:00Z", "notify_on_expiry": true});
    let made = server
        .post("/v1/alerts", body("daily_reminder", Value::Null, options))
        .await
        .ok(201);
    let id = made.body["data"]["id"].as_str().unwrap().to_owned();
    server.clock.set("2024-03-08T15:30:00Z".parse().unwrap());
    server.service.evaluate().await.unwrap();
    let read = server.get(&format!("/v1/alerts/{id}")).await.ok(200);
    assert_eq!(
        (&read.body["data"]["status"], &read.body["data"]["inactive_reason"]),
        (&json!("inactive"), &json!("expired"))
    );
    testkit::eventually_some("a message to the owner", async || {
        let outbox = server.get("/v1/outbox?limit=100").await.ok(200);
        let mut messages = outbox.body["data"].as_array().unwrap().iter();
        messages
            .any(|message| message.to_string().contains("expired"))
            .then_some(())
    })
    .await;
}

async fn reminder_can_be_snoozed(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let reminder = json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-06-03"}});
    let made = server.post("/v1/alerts", reminder).await.ok(201);
    let id = made.body["data"]["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/alerts/{id}");
    let patch = |body: Value| server.request("PATCH", &path).json(&body).send();
    let snoozed = patch(json!({"snooze": "2h"})).await.ok(200);
    assert!(snoozed.body["data"]["options"]["snoozed_until"].is_string());
    let explained = server.get(&format!("{path}/explain")).await.ok(200);
    let data = &explained.body["data"];
    assert_eq!((&data["holds"], &data["terms"]), (&json!(false), &json!([])));
    let ended = patch(json!({"snooze": null})).await.ok(200);
    assert_eq!(ended.body["data"]["options"], Value::Null);
}

async fn text_with_a_named_condition_is_read(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let text = json!({"text": "AAPL golden cross each time until 2027-01-31"});
    let read = server.post("/v1/alerts/parse", text).await.ok(200);
    assert_eq!(
        read.body["data"]["alert"],
        json!({
            "symbol": "AAPL",
            "condition": "ma_crossover_golden",
            "options": {"repeat": "each_time", "expires_at": "2027-01-31"},
        })
    );
    assert_eq!(
        read.body["data"]["sentence"],
        "AAPL golden cross each time until 2027-01-31"
    );
}
