//! The deliveries' screen.

use serde_json::json;

use super::Browser;
use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::TestServer;

on_each_database! {
    delivery_is_listed_shown_with_its_body_and_sent_again
    alert_has_its_deliveries_and_messages
}

/// Creates a webhook and lets an alert fire, and returns the ids of the webhook and of the delivery.
async fn deliver(server: &TestServer) -> (String, String) {
    let body = json!({"url": "https://receiver.example/hook", "events": ["alert.triggered"]});
    let webhook = server.post("/v1/webhooks", body).await.ok(201);
    let webhook = webhook.body["data"]["id"].as_str().unwrap().to_owned();
    server.set_price("AAPL", 100.0).await;
    let _ = server.create_alert(125).await;
    server.set_price("AAPL", 125.0).await;
    let deliveries = server.get(&format!("/v1/webhooks/{webhook}/deliveries")).await.ok(200);
    let delivery = deliveries.body["data"][0]["id"].as_str().unwrap().to_owned();
    (webhook, delivery)
}

async fn delivery_is_listed_shown_with_its_body_and_sent_again(server: TestServer) {
    let browser = Browser::operator(&server).await;
    let empty = browser.get("/deliveries").await.is(200);
    assert!(empty.text.contains("You have no webhook"), "{}", empty.text);
    let (webhook, delivery) = deliver(&server).await;
    let path = format!("/deliveries/{webhook}/{delivery}");
    let list = browser.get("/deliveries").await.is(200);
    assert!(list.text.contains(&path), "{}", list.text);
    let none = browser.get("/deliveries?status=delivered").await.is(200);
    assert!(!none.text.contains(&path), "{}", none.text);
    let page = browser.get(&path).await.is(200);
    assert!(
        page.text.contains("alert.triggered") && page.text.contains("&#34;symbol&#34;"),
        "{}",
        page.text
    );

    let form = [("webhook", webhook.as_str()), ("delivery", &delivery), ("next", &path)];
    let page = browser
        .follow(&browser.post("/deliveries/resend", &form).await)
        .await
        .is(200);
    assert!(page.text.contains("The delivery is sent again."), "{}", page.text);
    let form = [
        ("webhook", webhook.as_str()),
        ("since", "2024-03-01T00:00"),
        ("next", "/deliveries"),
    ];
    let page = browser
        .follow(&browser.post("/deliveries/recover", &form).await)
        .await
        .is(200);
    assert!(page.text.contains("failed deliver"), "{}", page.text);
    let form = [
        ("webhook", webhook.as_str()),
        ("since", "soon"),
        ("next", "/deliveries"),
    ];
    let page = browser
        .follow(&browser.post("/deliveries/recover", &form).await)
        .await
        .is(200);
    assert!(page.text.contains("must be a date and time"), "{}", page.text);
}

async fn alert_has_its_deliveries_and_messages(server: TestServer) {
    let browser = Browser::operator(&server).await;
    server.set_price("AAPL", 100.0).await;
    let other = server.create_alert(500).await;
    let page = browser.get(&format!("/alerts/{other}")).await.is(200);
    assert!(
        page.text.contains("Nothing has been sent about this alert yet."),
        "{}",
        page.text
    );

    let (webhook, delivery) = deliver(&server).await;
    let fired = server.get("/v1/alerts?status=triggered").await.ok(200);
    let alert = fired.body["data"][0]["id"].as_str().unwrap().to_owned();
    let address = format!("/alerts/{alert}");
    let sent = async {
        loop {
            let page = browser.get(&address).await.is(200);
            if page.text.contains("</span> Sent</span>") {
                return page;
            }
            tokio::task::yield_now().await;
        }
    };
    let page = tokio::time::timeout(testkit::HANG_LIMIT, sent).await.unwrap();
    let path = format!("/deliveries/{webhook}/{delivery}");
    for part in [
        path.as_str(),
        "receiver.example",
        "<bdi>operator@example.com</bdi>",
        ">delivered</td>",
    ] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
    // Those of other alerts are on their pages.
    assert!(!browser.get(&format!("/alerts/{other}")).await.text.contains(&path));

    let form = [
        ("webhook", webhook.as_str()),
        ("delivery", &delivery),
        ("next", &address),
    ];
    let page = browser
        .follow(&browser.post("/deliveries/resend", &form).await)
        .await
        .is(200);
    assert!(page.text.contains("The delivery is sent again."), "{}", page.text);
    let ann = Browser::of_another_account(&server).await;
    let _ = ann.get(&address).await.is(404);
}

#[tokio::test]
async fn alert_over_many_stocks_has_the_deliveries_of_its_stocks() {
    let server = TestServer::new().await;
    let hook = json!({"url": "https://receiver.example/hook", "events": ["alert.triggered"]});
    let _ = server.post("/v1/webhooks", hook).await.ok(201);
    for symbol in ["AAPL", "MSFT"] {
        server.set_price(symbol, 100.0).await;
    }
    let alert = json!({"condition": "price_above", "threshold": 125, "scope": {"symbols": ["AAPL", "MSFT"]}});
    let alert = server.post("/v1/alerts", alert).await.ok(201);
    for symbol in ["AAPL", "MSFT"] {
        server.set_price(symbol, 130.0).await;
    }
    let path = format!("/alerts/{}", alert.body["data"]["id"].as_str().unwrap());
    let page = Browser::operator(&server).await.get(&path).await.is(200);
    assert_eq!(
        page.text.matches("action=\"/deliveries/resend\"").count(),
        2,
        "{}",
        page.text
    );
}

#[tokio::test]
async fn deliveries_of_another_account_do_not_exist() {
    let server = TestServer::new().await;
    let (webhook, delivery) = deliver(&server).await;
    let ann = Browser::of_another_account(&server).await;
    let _ = ann.get(&format!("/deliveries/{webhook}/{delivery}")).await.is(404);
    let form = [
        ("webhook", webhook.as_str()),
        ("delivery", &delivery),
        ("next", "/deliveries"),
    ];
    let page = ann.follow(&ann.post("/deliveries/resend", &form).await).await.is(200);
    assert!(page.text.contains("role=\"alert\""), "{}", page.text);
    assert!(
        !ann.get(&format!("/deliveries?webhook={webhook}"))
            .await
            .text
            .contains("receiver.example")
    );
}
