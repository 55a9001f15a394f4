//! The deliveries' screen.

use serde_json::json;

use super::Browser;
use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::TestServer;

on_each_database! {
    delivery_is_listed_shown_with_its_body_and_sent_again
    alert_has_its_deliveries_and_messages
    message_about_a_firing_is_sent_again_once_a_minute
    message_of_another_account_or_of_another_kind_is_not_sent_again
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
    let page = browser.post("/deliveries/recover", &form).await.is(422);
    let error = r#"<p class="error" id="since-error">must be a date and time"#;
    assert!(page.text.contains(error), "{}", page.text);
    assert!(page.text.contains(r#"name="since" value="soon""#), "{}", page.text);
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

/// Waits until a message is in the outbox at least `count` times, and returns the outbox.
async fn mails(server: &TestServer, count: usize) -> Vec<serde_json::Value> {
    let sent = async {
        loop {
            let outbox = server.get("/v1/outbox?to=operator@example.com").await.ok(200);
            let mails = outbox.body["data"].as_array().unwrap().clone();
            if mails.len() >= count {
                return mails;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(testkit::HANG_LIMIT, sent).await.unwrap()
}

/// Returns the id of the first message on a page that can be sent again.
#[track_caller]
fn resendable(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"message\" value=\"").expect(page);
    rest.split('"').next().unwrap().to_owned()
}

async fn message_about_a_firing_is_sent_again_once_a_minute(server: TestServer) {
    let browser = Browser::operator(&server).await;
    let _ = deliver(&server).await;
    let before = mails(&server, 1).await;
    let settled = async {
        loop {
            let page = browser.get("/deliveries").await.is(200);
            if page.text.contains("name=\"message\"") {
                return page;
            }
            tokio::task::yield_now().await;
        }
    };
    let page = tokio::time::timeout(testkit::HANG_LIMIT, settled).await.unwrap();
    // Deliveries and messages name their alert.
    let sentence = ">AAPL rises to 125.00 or above</a>";
    assert_eq!(page.text.matches(sentence).count(), 2, "{}", page.text);
    let message = resendable(&page.text);
    let form = [("message", message.as_str()), ("next", "/deliveries")];
    for _ in 0..2 {
        let page = browser.post("/deliveries/messages/resend", &form).await;
        let page = browser.follow(&page).await.is(200);
        assert!(page.text.contains("The message is sent again."), "{}", page.text);
    }
    let after = mails(&server, 2).await;
    assert_eq!(after[0]["subject"], before[0]["subject"]);
    assert_ne!(after[0]["id"], before[0]["id"]);
    // The next minute is another request, once nothing waits any more.
    let settled = async {
        while browser
            .get("/deliveries")
            .await
            .is(200)
            .text
            .matches("name=\"message\"")
            .count()
            < 2
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(testkit::HANG_LIMIT, settled).await.unwrap();
    server.clock.advance(jiff::SignedDuration::from_mins(1));
    let _ = browser.post("/deliveries/messages/resend", &form).await.is(303);
    assert_eq!(mails(&server, 3).await.len(), 3);
}

async fn message_of_another_account_or_of_another_kind_is_not_sent_again(server: TestServer) {
    let browser = Browser::operator(&server).await;
    let test = browser
        .post("/settings/channels", &[("action", "test"), ("channel", "email")])
        .await;
    let (_, test) = test.header("location").split_once("test=").unwrap();
    let _ = mails(&server, 1).await;
    let form = [("message", test), ("next", "/deliveries")];
    let page = browser
        .follow(&browser.post("/deliveries/messages/resend", &form).await)
        .await;
    assert!(page.text.contains("There is no such message"), "{}", page.text);
    let _ = deliver(&server).await;
    let _ = mails(&server, 2).await;
    let settled = async {
        loop {
            let page = browser.get("/deliveries").await.is(200);
            if page.text.contains("name=\"message\"") {
                return resendable(&page.text);
            }
            tokio::task::yield_now().await;
        }
    };
    let message = tokio::time::timeout(testkit::HANG_LIMIT, settled).await.unwrap();
    let ann = Browser::of_another_account(&server).await;
    let form = [("message", message.as_str()), ("next", "/deliveries")];
    let page = ann.follow(&ann.post("/deliveries/messages/resend", &form).await).await;
    assert!(page.text.contains("There is no such message"), "{}", page.text);
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
