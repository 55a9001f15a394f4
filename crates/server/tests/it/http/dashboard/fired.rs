//! The feed of firings, and what the account has seen of it.

use super::{Browser, hidden};
use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::TestServer;

/// A server with an alert that has fired at 125, and its id.
async fn with_firing(server: &TestServer) -> String {
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(125).await;
    server.set_price("AAPL", 125.0).await;
    id
}

on_each_database! {
    firing_is_new_until_it_is_marked_as_seen
    firing_after_the_page_stays_new
    fired_alert_is_armed_again_at_a_new_level
    level_that_the_price_has_passed_is_refused_with_the_offer_to_flip
}

async fn firing_is_new_until_it_is_marked_as_seen(server: TestServer) {
    let browser = Browser::operator(&server).await;
    let _ = with_firing(&server).await;
    let today = browser.get("/").await.is(200);
    assert!(today.text.contains("Fired since your last visit"), "{}", today.text);
    assert!(today.text.contains("data-count=\"1\""), "{}", today.text);
    let feed = browser.get("/fired").await.is(200);
    assert!(feed.text.contains("firing unseen"), "{}", feed.text);
    // A page that is read changes nothing.
    assert!(browser.get("/fired").await.text.contains("firing unseen"));

    let form = [("position", hidden(&feed, "position")), ("next", "/fired".to_owned())];
    let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let seen = browser.post("/fired/seen", &form).await;
    let feed = browser.follow(&seen).await.is(200);
    assert!(
        !feed.text.contains("firing unseen") && feed.text.contains("AAPL"),
        "{}",
        feed.text
    );
    assert!(!browser.get("/").await.text.contains("Fired since your last visit"));
}

async fn firing_after_the_page_stays_new(server: TestServer) {
    let browser = Browser::operator(&server).await;
    let _ = with_firing(&server).await;
    let page = browser.get("/fired").await.is(200);
    let position = hidden(&page, "position");
    server.set_price("AAPL", 100.0).await;
    let _ = server.create_alert(130).await;
    server.set_price("AAPL", 130.0).await;
    let _ = browser.post("/fired/seen", &[("position", &position)]).await.is(303);
    let feed = browser.get("/fired").await.is(200);
    assert_eq!(feed.text.matches("firing unseen").count(), 1, "{}", feed.text);
    // An older page in another tab does not bring firings back, and no form marks firings of the future.
    let _ = browser.post("/fired/seen", &[("position", "0")]).await.is(303);
    assert_eq!(browser.get("/fired").await.text.matches("firing unseen").count(), 1);
    let _ = browser
        .post("/fired/seen", &[("position", "9223372036854775807")])
        .await
        .is(303);
    server.set_price("AAPL", 100.0).await;
    let _ = server.create_alert(140).await;
    server.set_price("AAPL", 140.0).await;
    assert_eq!(browser.get("/fired").await.text.matches("firing unseen").count(), 1);
}

async fn fired_alert_is_armed_again_at_a_new_level(server: TestServer) {
    let browser = Browser::operator(&server).await;
    let id = with_firing(&server).await;
    let feed = browser.get("/fired").await.is(200);
    assert!(feed.text.contains("name=\"level\" value=\"125"), "{}", feed.text);
    let form = [("alert", id.as_str()), ("level", "150"), ("next", "/fired")];
    let feed = browser.follow(&browser.post("/fired/rearm", &form).await).await.is(200);
    assert!(
        feed.text.contains("AAPL is armed again.") && !feed.text.contains("name=\"level\""),
        "{}",
        feed.text
    );
    let alert = server.get(&format!("/v1/alerts/{id}")).await.ok(200);
    assert_eq!(alert.body["data"]["status"], "active");
    assert_eq!(alert.body["data"]["threshold"], 150.0);
}

#[tokio::test]
async fn refused_level_leaves_the_alert_as_it_is_and_says_why() {
    let server = TestServer::new().await;
    let browser = Browser::operator(&server).await;
    let id = with_firing(&server).await;
    for level in ["-1", "much", "1e400"] {
        let form = [("alert", id.as_str()), ("level", level), ("next", "/fired")];
        let feed = browser.post("/fired/rearm", &form).await.is(422);
        assert!(feed.text.contains("id=\"rearm-error-"), "{level}: {}", feed.text);
        let alert = server.get(&format!("/v1/alerts/{id}")).await.ok(200);
        assert_eq!(alert.body["data"]["status"], "triggered", "{level}");
    }
}

#[tokio::test]
async fn alert_of_another_account_is_not_armed() {
    let server = TestServer::new().await;
    let id = with_firing(&server).await;
    let ann = Browser::of_another_account(&server).await;
    let form = [("alert", id.as_str()), ("next", "/fired")];
    let feed = ann.follow(&ann.post("/fired/rearm", &form).await).await.is(200);
    assert!(feed.text.contains("role=\"alert\""), "{}", feed.text);
    let alert = server.get(&format!("/v1/alerts/{id}")).await.ok(200);
    assert_eq!(alert.body["data"]["status"], "triggered");
}

async fn level_that_the_price_has_passed_is_refused_with_the_offer_to_flip(server: TestServer) {
    let browser = Browser::operator(&server).await;
    let id = with_firing(&server).await;
    let form = [("alert", id.as_str()), ("level", "120"), ("next", "/fired?page=1")];
    let refused = browser.post("/fired/rearm", &form).await.is(422);
    for shown in [
        "AAPL is at 125.00, so this would fire at once.",
        r#"name="level" value="120""#,
        r#"name="flip" value="below""#,
        "Flip to below",
        r#"aria-invalid="true""#,
    ] {
        assert!(refused.text.contains(shown), "{shown}: {}", refused.text);
    }
    let alert = server.get(&format!("/v1/alerts/{id}")).await.ok(200);
    assert_eq!(
        (&alert.body["data"]["status"], &alert.body["data"]["threshold"]),
        (&"triggered".into(), &125.into())
    );

    let flipped = [form[0], form[1], ("flip", "below")];
    let _ = browser.post("/fired/rearm", &flipped).await.is(303);
    let alert = server.get(&format!("/v1/alerts/{id}")).await.ok(200);
    assert_eq!(
        (&alert.body["data"]["status"], &alert.body["data"]["condition"]),
        (&"active".into(), &"price_below".into())
    );
    assert_eq!(alert.body["data"]["threshold"], 120);
}
