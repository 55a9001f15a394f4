//! The builder's part about notification: the route of an alert, and whether it is urgent.

use serde_json::{Value, json};

use super::Browser;
use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::TestServer;

const RULE: &str = "AAPL price <= 90";

on_each_database! {
    alert_is_created_with_a_route_and_edited_to_have_none
    refused_time_is_at_its_input_and_keeps_the_others
    sign_in_keeps_the_route_that_was_entered
}

/// Creates two channels, and returns their ids.
async fn create_channels(server: &TestServer) -> [String; 2] {
    let mut ids = Vec::new();
    for name in ["First", "Second"] {
        let created = server
            .post("/v1/notification-channels", json!({"type": "sms", "name": name}))
            .await;
        let id = created.ok(201).body["data"]["id"].as_str().unwrap().to_owned();
        ids.push(id);
    }
    ids.try_into().unwrap()
}

/// Returns the members of a route.
fn route_of(alert: &Value) -> Value {
    json!([
        alert["channels"],
        alert["policy"],
        alert["ack_timeout"],
        alert["urgent"]
    ])
}

async fn alert_is_created_with_a_route_and_edited_to_have_none(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let browser = Browser::operator(&server).await;
    let page = browser.get("/alerts/new").await.is(200);
    assert!(
        page.text.contains("Add a notification channel to choose"),
        "{}",
        page.text
    );
    let [first, second] = create_channels(&server).await;
    let page = browser.get("/alerts/new").await.is(200);
    assert!(
        page.text.contains("<details><summary>Notification</summary>"),
        "{}",
        page.text
    );

    let positions = [format!("position-{first}"), format!("position-{second}")];
    let form = [
        ("text", RULE),
        ("note", ""),
        ("tags", ""),
        ("urgent", "on"),
        ("channels", first.as_str()),
        ("channels", &second),
        (&positions[0], "2"),
        (&positions[1], "1"),
        ("policy", "failover"),
        ("ack_timeout", "15m"),
    ];
    let created = browser.post("/alerts/new", &form).await.is(303);
    let address = created.header("location").to_owned();
    let read = async || server.get(&format!("/v1{address}")).await.ok(200).body["data"].clone();
    assert_eq!(
        route_of(&read().await),
        json!([[second, first], "failover", "15m", true])
    );

    let edit = format!("{address}/edit");
    let page = browser.get(&edit).await.is(200);
    assert!(
        page.text.contains("<details open><summary>Notification</summary>"),
        "{}",
        page.text
    );
    assert!(
        page.text.contains("name=\"urgent\" value=\"on\" checked"),
        "{}",
        page.text
    );
    assert!(
        page.text.contains(&format!("value=\"{second}\" checked")),
        "{}",
        page.text
    );
    assert!(
        page.text
            .contains(&format!("name=\"{}\" min=\"1\" max=\"50\" value=\"1\"", positions[1])),
        "{}",
        page.text
    );
    // The same route again is no change.
    let _ = browser.post(&edit, &form).await.is(303);
    let history = server.get(&format!("/v1{address}/history")).await.ok(200);
    assert_eq!(history.body["data"].as_array().unwrap().len(), 1, "{history:?}");

    let all = [
        ("text", RULE),
        ("note", ""),
        ("tags", ""),
        ("channels", first.as_str()),
        ("policy", "all"),
        ("ack_timeout", "15m"),
    ];
    let _ = browser.post(&edit, &all).await.is(303);
    assert_eq!(route_of(&read().await), json!([[first], "all", null, null]));
    let none = [
        ("text", RULE),
        ("note", ""),
        ("tags", ""),
        ("policy", "all"),
        ("ack_timeout", ""),
    ];
    let _ = browser.post(&edit, &none).await.is(303);
    assert_eq!(read().await["channels"], Value::Null);
}

async fn refused_time_is_at_its_input_and_keeps_the_others(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let browser = Browser::operator(&server).await;
    let [first, _] = create_channels(&server).await;
    let form = [
        ("text", RULE),
        ("channels", first.as_str()),
        ("policy", "failover"),
        ("ack_timeout", "25h"),
    ];
    let page = browser.post("/alerts/new", &form).await.is(422);
    assert!(page.text.contains("id=\"ack_timeout-error\""), "{}", page.text);
    assert!(
        page.text.contains("<details open><summary>Notification</summary>"),
        "{}",
        page.text
    );
    assert!(
        page.text.contains(&format!("value=\"{first}\" checked")) && page.text.contains("value=\"25h\""),
        "{}",
        page.text
    );
    let alerts = server.get("/v1/alerts").await.ok(200);
    assert_eq!(alerts.body["data"], json!([]));
}

async fn sign_in_keeps_the_route_that_was_entered(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let [first, second] = create_channels(&server).await;
    let browser = Browser::operator(&server).await;
    let _ = browser.post("/sign-out", &[]).await.is(303);
    let form = [("text", RULE), ("channels", first.as_str()), ("channels", &second)];
    let response = browser.post("/alerts/new", &form).await.is(303);
    let location = response.header("location").to_owned();
    assert!(location.contains(&first) && location.contains(&second), "{location}");
}
