//! The start page.

use serde_json::json;

use super::Browser;
use crate::http::test_server::TestServer;

#[tokio::test]
async fn alert_that_is_true_and_waits_is_apart_with_the_reason_in_local_time() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let options = json!({"repeat": "each_time", "cooldown": "1h"});
    let alert = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 125, "options": options});
    let alert = server.post("/v1/alerts", alert).await.ok(201);
    let _ = server.create_alert(200).await;
    server.set_price("AAPL", 126.0).await;
    let browser = Browser::operator(&server).await;
    let page = browser.get("/").await.is(200);
    let (near, waiting) = page.text.split_once("True, but waiting").expect(&page.text);
    assert!(near.contains("AAPL rises to 200.00 or above"), "{near}");
    assert!(
        !near.contains("AAPL rises to 125.00 or above</a>\n<span class=\"number"),
        "{near}"
    );
    assert!(waiting.contains("The cooldown ends at <time datetime="), "{waiting}");
    let id = alert.body["data"]["id"].as_str().unwrap();
    let page = browser.get(&format!("/alerts/{id}")).await.is(200);
    assert!(
        page.text.contains("the cooldown ends at <time datetime="),
        "{}",
        page.text
    );
    assert!(page.text.contains("<dt>Fires</dt><dd>Each time</dd>"), "{}", page.text);
    assert!(!page.text.contains("Z (until"), "{}", page.text);
}

#[tokio::test]
async fn account_without_alerts_is_told_the_next_step() {
    let server = TestServer::new().await;
    let page = Browser::operator(&server).await.get("/").await.is(200);
    let (_, near) = page.text.split_once("id=\"nearest\"").unwrap();
    assert!(near.contains("You have no alerts yet."), "{near}");
    assert!(near.contains("<a href=\"/alerts/new\">New alert</a>"), "{near}");
}
