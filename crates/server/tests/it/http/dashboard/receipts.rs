//! The page of an alert: where its firings go, the receipts of its latest firings, and their acknowledgement.

use serde_json::{Value, json};
use testkit::stub_server::{StubResponse, StubServer};

use super::{Browser, hidden, notice_of};
use crate::http::notification_channels::start_server;
use crate::http::test_server::{TestResponse, TestServer};

/// Creates a channel over the API, and returns its id.
async fn create_channel(server: &TestServer, channel_type: &str, name: &str, config: Value) -> String {
    let body = json!({"type": channel_type, "name": name, "config": config});
    let created = server.post("/v1/notification-channels", body).await.ok(201);
    created.body["data"]["id"].as_str().unwrap().to_owned()
}

/// Creates an alert with more members, and returns the address of its page.
async fn create_alert(server: &TestServer, members: Value) -> String {
    let mut body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 125});
    let members = members.as_object().unwrap().clone();
    body.as_object_mut().unwrap().extend(members);
    let created = server.post("/v1/alerts", body).await.ok(201);
    format!("/alerts/{}", created.body["data"]["id"].as_str().unwrap())
}

/// Waits until a page has a text.
async fn page_with(browser: &Browser<'_>, address: &str, text: &str) -> TestResponse {
    testkit::eventually_some("the page has the text", async || {
        let page = browser.get(address).await.is(200);
        page.text.contains(text).then_some(page)
    })
    .await
}

testkit::on_both_databases! {
    async fn alert_has_its_route_in_words(database) {
        let server = start_server(database).await;
        let browser = Browser::operator(&server).await;
        server.set_price("AAPL", 100.0).await;
        let slack = create_channel(&server, "sms", "<b>Slack</b>", json!({})).await;
        let phone = create_channel(&server, "sms", "Telegram", json!({})).await;
        let plain = create_alert(&server, json!({})).await;
        let page = browser.get(&plain).await.is(200);
        assert!(page.text.contains("<dt>Channel</dt><dd>Email</dd>"), "{}", page.text);
        assert!(!page.text.contains("Urgent") && !page.text.contains("Latest firings"), "{}", page.text);

        let routed = json!({"channels": [slack, phone], "policy": "failover", "ack_timeout": "15m", "urgent": true, "threshold": 126});
        let page = browser.get(&create_alert(&server, routed).await).await.is(200);
        let sentence = "<bdi>&#60;b&#62;Slack&#60;/b&#62;, then Telegram after 15 minutes without an acknowledgement</bdi>";
        assert!(page.text.contains(sentence) && page.text.contains("<dt>Urgent</dt>"), "{}", page.text);
        assert!(!page.text.contains("default route"), "{}", page.text);

        let route = json!({"channels": [phone]});
        let _ = server.request("PUT", "/v1/notification-route").json(&route).send().await.ok(200);
        let page = browser.get(&plain).await.is(200);
        assert!(page.text.contains("<bdi>Telegram</bdi> (<a href=\"/settings/channels\">default route</a>)"), "{}", page.text);
    }

    async fn firing_has_a_receipt_and_is_acknowledged_once(database) {
        let server = start_server(database).await;
        let browser = Browser::operator(&server).await;
        let slack = StubServer::start(StubResponse::complete("200 OK", "", "ok")).await;
        let config = json!({"url": format!("{}/services/very-secret", slack.origin())});
        let channel = create_channel(&server, "slack", "Trading room", config).await;
        server.set_price("AAPL", 100.0).await;
        let alert = create_alert(&server, json!({"channels": [channel]})).await;
        server.set_price("AAPL", 126.0).await;
        let page = page_with(&browser, &alert, "</span> Accepted</span>").await;
        let (_, receipts) = page.text.split_once("id=\"receipts\"").unwrap();
        let (receipts, _) = receipts.split_once("</section>").unwrap();
        for part in ["<bdi>Trading room</bdi>", ">126.00<", ">0 ms<", "data-label=\"Attempts\" class=\"number\">1<", ">Acknowledge</button>"] {
            assert!(receipts.contains(part), "{part}: {receipts}");
        }
        let firing = hidden(&page, "firing");
        // Deliveries name the channel, too.
        let deliveries = browser.get("/deliveries").await.is(200);
        assert!(deliveries.text.contains("data-label=\"Channel\">Trading room</td>"), "{}", deliveries.text);
        assert!(!deliveries.text.contains("very-secret") && !page.text.contains("very-secret"));

        let ann = Browser::of_another_account(&server).await;
        let form = [("firing", firing.as_str()), ("next", alert.as_str())];
        let refused = ann.post("/fired/acknowledge", &[("firing", firing.as_str()), ("next", "/fired")]).await;
        let refused = ann.follow(&refused).await.is(200);
        assert!(notice_of(&refused.text).contains("There is no such firing"), "{}", refused.text);
        for _ in 0..2 {
            let page = browser.follow(&browser.post("/fired/acknowledge", &form).await).await.is(200);
            assert!(notice_of(&page.text).contains("The firing is acknowledged."), "{}", page.text);
            assert!(page.text.contains("Acknowledged by <bdi>operator@example.com</bdi>, dashboard or API"), "{}", page.text);
            assert!(!page.text.contains(">Acknowledge</button>"), "{}", page.text);
            assert_eq!(page.text.matches("<strong>acknowledged</strong>").count(), 1, "{}", page.text);
        }
    }

    async fn receipt_of_a_failed_message_has_its_error(database) {
        let server = start_server(database).await;
        let browser = Browser::operator(&server).await;
        let slack = StubServer::start(StubResponse::complete("404 Not Found", "", "no_service")).await;
        let config = json!({"url": format!("{}/services/very-secret", slack.origin())});
        let channel = create_channel(&server, "slack", "Trading room", config).await;
        server.set_price("AAPL", 100.0).await;
        let alert = create_alert(&server, json!({"channels": [channel]})).await;
        server.set_price("AAPL", 126.0).await;
        let page = page_with(&browser, &alert, "Failed</span>").await;
        let (_, receipts) = page.text.split_once("id=\"receipts\"").unwrap();
        let (_, failed) = receipts.split_once("<bdi>Trading room</bdi>").unwrap();
        let (failed, _) = failed.split_once("</tr>").unwrap();
        assert!(failed.contains("<td data-label=\"Error\" class=\"wrap\">refused</td>"), "{receipts}");
        let list = browser.get("/settings/channels").await.is(200);
        assert!(list.text.contains("Last message failed") && list.text.contains("no_service"), "{}", list.text);
    }
}

#[tokio::test]
async fn alert_over_many_stocks_has_the_receipts_of_its_stocks() {
    let server = TestServer::new().await;
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
    let (_, receipts) = page.text.split_once("id=\"receipts\"").unwrap();
    let (receipts, _) = receipts.split_once("</section>").unwrap();
    assert_eq!(receipts.matches(">Acknowledge</button>").count(), 2, "{receipts}");
    assert!(
        receipts.contains("MSFT <span") && receipts.contains("AAPL <span"),
        "{receipts}"
    );
}
