//! Tests of channels: messages through the queue, with a receipt.

use jiff::SignedDuration;

use super::Browser;
use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::{TestResponse, TestServer};

const NUMBER: &str = "+14155550123";

on_each_database! {
    test_email_has_a_receipt_and_one_a_minute_is_sent
    test_text_message_goes_to_the_verified_number
}

/// Sends a test, and returns the address of its receipt.
async fn send_test(browser: &Browser<'_>, channel: &str) -> TestResponse {
    let form = [("action", "test"), ("channel", channel)];
    browser.post("/settings/channels", &form).await.is(303)
}

/// Waits until the receipt says that the message was accepted.
async fn accepted(browser: &Browser<'_>, sent: &TestResponse) -> TestResponse {
    let waiting = async {
        loop {
            let page = browser.get(sent.header("location")).await.is(200);
            if page.text.contains("Accepted for delivery") {
                return page;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(testkit::HANG_LIMIT, waiting).await.unwrap()
}

async fn test_email_has_a_receipt_and_one_a_minute_is_sent(server: TestServer) {
    let browser = Browser::operator(&server).await;
    let sent = send_test(&browser, "email").await;
    assert!(
        sent.header("location").starts_with("/settings/channels?test="),
        "{sent:?}"
    );
    let page = accepted(&browser, &sent).await;
    for part in [
        "Receipt of the test",
        "Queued",
        "Taken from the queue",
        "<bdi>operator@example.com</bdi>",
    ] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
    assert!(!page.text.contains("every 1s"), "{}", page.text);
    let mails = async || server.get("/v1/outbox?to=operator@example.com").await.ok(200).body["data"].clone();
    assert_eq!(mails().await[0]["subject"], "Test message from Bellwether");

    let again = send_test(&browser, "email").await;
    let page = browser.follow(&again).await.is(200);
    assert!(
        page.text.contains("A test was sent within this minute"),
        "{}",
        page.text
    );
    assert_eq!(mails().await.as_array().unwrap().len(), 1);
    server.clock.advance(SignedDuration::from_mins(1));
    let _ = accepted(&browser, &send_test(&browser, "email").await).await;
    assert_eq!(mails().await.as_array().unwrap().len(), 2);

    let ann = Browser::of_another_account(&server).await;
    let page = ann.get(sent.header("location")).await.is(200);
    assert!(!page.text.contains("Receipt of the test"), "{}", page.text);
}

async fn test_text_message_goes_to_the_verified_number(server: TestServer) {
    let browser = Browser::operator(&server).await;
    let refused = browser.follow(&send_test(&browser, "sms").await).await.is(200);
    assert!(refused.text.contains("must be verified first"), "{}", refused.text);
    assert!(!refused.text.contains("Send a test message"), "{}", refused.text);

    let form = [("action", "code"), ("phone", NUMBER), ("sms_consent", "on")];
    let _ = browser.post("/settings/channels", &form).await.is(200);
    let code = async {
        loop {
            let outbox = server.get("/v1/outbox?channel=sms").await.ok(200);
            if let Some(text) = outbox.body["data"][0]["text"].as_str() {
                return text.split(' ').next().unwrap().to_owned();
            }
            tokio::task::yield_now().await;
        }
    };
    let code = tokio::time::timeout(testkit::HANG_LIMIT, code).await.unwrap();
    let form = [("action", "verify"), ("phone", NUMBER), ("token", code.as_str())];
    let page = browser
        .follow(&browser.post("/settings/channels", &form).await)
        .await
        .is(200);
    assert!(page.text.contains("Send a test message"), "{}", page.text);
    let page = accepted(&browser, &send_test(&browser, "sms").await).await;
    assert!(page.text.contains(&format!("<bdi>{NUMBER}</bdi>")), "{}", page.text);
}

#[tokio::test]
async fn unknown_channel_is_refused() {
    let server = TestServer::new().await;
    let browser = Browser::operator(&server).await;
    let page = browser.follow(&send_test(&browser, "pigeon").await).await.is(200);
    assert!(page.text.contains("role=\"alert\""), "{}", page.text);
}
