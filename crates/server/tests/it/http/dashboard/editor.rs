//! The builder of an alert that exists.

use serde_json::json;

use super::Browser;
use crate::http::test_server::TestServer;

const METADATA: &str = "of a client";

async fn alert_of_a_client(server: &TestServer) -> String {
    server.set_price("AAPL", 100.0).await;
    let alert = json!({
        "symbol": "AAPL", "condition": "price_below", "threshold": 80, "parameters": {"origin": METADATA},
        "note": "buy", "tags": ["dip"], "options": {"repeat": "each_time", "cooldown": "1h"},
    });
    let created = server.post("/v1/alerts", alert).await.ok(201);
    created.body["data"]["id"].as_str().unwrap().to_owned()
}

fn form<'a>(changed: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut form = vec![
        ("text", "same"),
        ("read_rule", "same"),
        ("symbol", "AAPL"),
        ("condition", "price_below"),
        ("threshold", "80"),
        ("options.repeat", "each_time"),
        ("options.cooldown", "1h"),
        ("notification", "email"),
        ("note", "buy"),
        ("tags", "dip"),
    ];
    form.extend(changed);
    form
}

#[tokio::test]
async fn editor_shows_the_alert_as_rule_and_form() {
    let server = TestServer::new().await;
    let id = alert_of_a_client(&server).await;
    let browser = Browser::operator(&server).await;
    let page = browser.get(&format!("/alerts/{id}/edit")).await.is(200);
    for shown in [
        "AAPL falls to 80.00 or below each time cooldown 1h</textarea>",
        r#"name="threshold" value="80""#,
        r#"name="options.cooldown" value="1h""#,
        "buy</textarea>",
        r#"value="dip""#,
        "Save changes",
    ] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
}

#[tokio::test]
async fn editor_changes_what_differs_and_keeps_what_clients_have_added() {
    let server = TestServer::new().await;
    let id = alert_of_a_client(&server).await;
    let browser = Browser::operator(&server).await;
    let edit = format!("/alerts/{id}/edit");
    let saved = browser
        .post(
            &edit,
            &form(&[("threshold", "75"), ("note", ""), ("options.cooldown", "")]),
        )
        .await
        .is(303);
    assert_eq!(saved.header("location"), format!("/alerts/{id}"));
    let alert = server.get(&format!("/v1/alerts/{id}")).await.ok(200).body["data"].clone();
    assert_eq!(alert["threshold"], 75);
    assert_eq!(alert["options"], json!({"repeat": "each_time"}));
    assert_eq!(alert["parameters"]["origin"], METADATA);
    assert_eq!((alert["note"].clone(), &alert["tags"]), (json!(null), &json!(["dip"])));
    // The rule counts if it was typed.
    let _ = browser.post(&edit, &form(&[("text", "AAPL >= 120")])).await.is(303);
    let alert = server.get(&format!("/v1/alerts/{id}")).await.ok(200).body["data"].clone();
    assert_eq!(
        (&alert["condition"], &alert["threshold"]),
        (&"price_above".into(), &json!(120))
    );
    assert_eq!(alert["options"], json!(null));
}

#[tokio::test]
async fn unchanged_alert_is_not_armed_anew() {
    let server = TestServer::new().await;
    let id = alert_of_a_client(&server).await;
    let browser = Browser::operator(&server).await;
    let path = format!("/v1/alerts/{id}/history");
    let before = server.get(&path).await.ok(200).body["data"].clone();
    let _ = browser.post(&format!("/alerts/{id}/edit"), &form(&[])).await.is(303);
    assert_eq!(server.get(&path).await.ok(200).body["data"], before);
}

#[tokio::test]
async fn stock_of_an_alert_stays_and_errors_are_at_the_inputs() {
    let server = TestServer::new().await;
    let id = alert_of_a_client(&server).await;
    server.set_price("MSFT", 100.0).await;
    let browser = Browser::operator(&server).await;
    let edit = format!("/alerts/{id}/edit");
    let other = browser.post(&edit, &form(&[("text", "MSFT <= 80")])).await.is(422);
    assert!(
        other.text.contains("stock of an alert cannot be changed"),
        "{}",
        other.text
    );
    let refused = browser.post(&edit, &form(&[("threshold", "-1")])).await.is(422);
    assert!(refused.text.contains(r#"id="threshold-error""#), "{}", refused.text);
    let alert = server.get(&format!("/v1/alerts/{id}")).await.ok(200).body["data"].clone();
    assert_eq!(alert["threshold"], 80);
}

#[tokio::test]
async fn other_accounts_cannot_edit_the_alert() {
    let server = TestServer::new().await;
    let id = alert_of_a_client(&server).await;
    let other = Browser::of_another_account(&server).await;
    let edit = format!("/alerts/{id}/edit");
    let _ = other.get(&edit).await.is(404);
    let _ = other.post(&edit, &form(&[("threshold", "75")])).await.is(404);
}
