//! The builder of a new alert.

use super::Browser;
use crate::http::test_server::TestServer;

#[tokio::test]
async fn rule_is_shown_as_a_sentence_without_being_stored() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let browser = Browser::operator(&server).await;
    let page = browser.get("/alerts/new?text=AAPL+%3C+80").await.is(200);
    assert!(page.text.contains("AAPL falls below 80.00"), "{}", page.text);
    let part = browser.part("/alerts/new?text=AAPL+prise+%3C+80").await.is(200);
    assert!(
        part.text.contains("unknown metric") && part.text.contains("<mark>prise"),
        "{}",
        part.text
    );
    assert!(!part.text.contains("<html"), "{}", part.text);
    assert_eq!(server.get("/v1/alerts").await.body["data"].as_array().unwrap().len(), 0);
}

#[tokio::test]
async fn rule_becomes_an_alert_and_an_equal_rule_leads_to_the_same() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let browser = Browser::operator(&server).await;
    let form = [
        ("text", "AAPL <= 80 each time cooldown 1h"),
        ("note", "buy"),
        ("tags", "swing, dip"),
    ];
    let created = browser.post("/alerts/new", &form).await.is(303);
    let again = browser.post("/alerts/new", &form).await.is(303);
    assert_eq!(created.header("location"), again.header("location"));
    let alerts = server.get("/v1/alerts").await.ok(200);
    let alert = &alerts.body["data"][0];
    assert_eq!(
        (&alert["condition"], &alert["threshold"]),
        (&"price_below".into(), &80.into())
    );
    assert_eq!(
        (&alert["note"], &alert["tags"]),
        (&"buy".into(), &serde_json::json!(["swing", "dip"]))
    );
    assert_eq!(alert["created_by"]["kind"], "person");
}

#[tokio::test]
async fn refused_rule_keeps_the_input_and_names_the_error() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let browser = Browser::operator(&server).await;
    let form = [("text", "AAPL pricee < 80"), ("note", "my note"), ("tags", "one")];
    let page = browser.post("/alerts/new", &form).await.is(422);
    for kept in ["AAPL pricee &#60; 80", "my note", "value=\"one\"", "unknown metric"] {
        assert!(page.text.contains(kept), "{kept}: {}", page.text);
    }
    let long = "x".repeat(41);
    let page = browser
        .post("/alerts/new", &[("text", "AAPL < 80"), ("tags", &long)])
        .await
        .is(422);
    assert!(page.text.contains("id=\"tags-error\""), "{}", page.text);
    let page = browser.post("/alerts/new", &[("text", "NOPE < 80")]).await;
    assert!(
        [404, 422].contains(&page.status) && page.text.contains("NOPE"),
        "{page:?}"
    );
}

#[tokio::test]
async fn form_survives_the_end_of_its_session() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let browser = Browser::operator(&server).await;
    let _ = browser.post("/sign-out", &[]).await.is(303);
    let response = browser
        .post("/alerts/new", &[("text", "AAPL < 80"), ("note", "a & b")])
        .await
        .is(303);
    let next = "%2Falerts%2Fnew%3Ftext%3DAAPL%2B%253C%2B80%26note%3Da%2B%2526%2Bb";
    assert_eq!(response.header("location"), format!("/sign-in?next={next}"));
}

#[tokio::test]
async fn search_box_leads_to_stocks_and_rules() {
    let server = TestServer::new().await;
    let browser = Browser::operator(&server).await;
    for (text, expected) in [
        ("aapl", "/stocks/AAPL"),
        ("AAPL+%3C+180", "/alerts/new?text=AAPL+%3C+180"),
        ("", "/alerts"),
    ] {
        let response = browser.get(&format!("/go?q={text}")).await.is(303);
        assert_eq!(response.header("location"), expected);
    }
}
