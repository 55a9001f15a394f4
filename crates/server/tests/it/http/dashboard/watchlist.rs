//! The watchlist's screen.

use super::Browser;
use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::TestServer;

on_each_database! {
    stock_is_added_changed_and_removed
    one_alert_watches_the_whole_list
    proposal_is_accepted_with_another_level
    errors_of_refused_forms_are_at_their_inputs
}

async fn stock_is_added_changed_and_removed(server: TestServer) {
    let browser = Browser::operator(&server).await;
    server.set_price("AAPL", 100.0).await;
    let form = [("symbol", "aapl"), ("intention", "buy"), ("target", "90")];
    let page = browser.follow(&browser.post("/watchlist", &form).await).await.is(200);
    assert!(page.text.contains("AAPL is on your watchlist."), "{}", page.text);
    let again = browser.post("/watchlist", &form).await.is(422);
    assert!(again.text.contains("id=\"add-stock_symbol-error\""), "{}", again.text);

    let items = server.get("/v1/watchlist").await.ok(200);
    let id = items.body["data"][0]["id"].as_str().unwrap().to_owned();
    let form = [
        ("id", id.as_str()),
        ("symbol", "AAPL"),
        ("action", "change"),
        ("intention", "sell"),
        ("target", ""),
        ("notes", "<b>why</b>"),
        ("active", "on"),
    ];
    let page = browser
        .follow(&browser.post("/watchlist/change", &form).await)
        .await
        .is(200);
    assert!(
        page.text.contains("AAPL is changed.") && !page.text.contains("<b>why"),
        "{}",
        page.text
    );
    let item = &server.get("/v1/watchlist").await.ok(200).body["data"][0];
    assert_eq!(item["intention"], "sell");
    assert_eq!(item["notes"], "<b>why</b>");
    assert_eq!(item["auto_alerts_enabled"], false);
    assert!(item["target_price"].is_null());

    let form = [("id", id.as_str()), ("symbol", "AAPL"), ("action", "remove")];
    let page = browser
        .follow(&browser.post("/watchlist/change", &form).await)
        .await
        .is(200);
    assert!(page.text.contains("Your watchlist is empty."), "{}", page.text);
}

async fn one_alert_watches_the_whole_list(server: TestServer) {
    let browser = Browser::operator(&server).await;
    server.set_price("AAPL", 100.0).await;
    let _ = browser
        .post("/watchlist", &[("symbol", "AAPL"), ("intention", "buy")])
        .await
        .is(303);
    let created = browser
        .post("/watchlist/alert", &[("when", "price < 90"), ("part", "all")])
        .await
        .is(303);
    let page = browser.get(created.header("location")).await.is(200);
    assert!(page.text.contains("AAPL"), "{}", page.text);
}

async fn errors_of_refused_forms_are_at_their_inputs(server: TestServer) {
    let browser = Browser::operator(&server).await;
    server.set_price("AAPL", 100.0).await;
    let page = browser
        .post("/watchlist", &[("symbol", "NOPE"), ("intention", "sell")])
        .await
        .is(422);
    for shown in [
        r#"<p class="error" id="add-stock_symbol-error">"#,
        r#"name="symbol" value="NOPE""#,
        r#"aria-describedby="add-stock_symbol-error""#,
        r#"<option value="sell" selected>"#,
    ] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    assert!(!page.text.contains("role=\"alert\""), "{}", page.text);

    let form = [("symbol", "AAPL"), ("intention", "buy")];
    let _ = browser.post("/watchlist", &form).await.is(303);
    let form = [("part", "all"), ("when", "prise < 3")];
    let page = browser.post("/watchlist/alert", &form).await.is(422);
    assert!(page.text.contains("id=\"over-all-when-error\""), "{}", page.text);
    assert!(page.text.contains("value=\"prise &#60; 3\""), "{}", page.text);

    let items = server.get("/v1/watchlist").await.ok(200);
    let id = items.body["data"][0]["id"].as_str().unwrap().to_owned();
    let form = [
        ("id", id.as_str()),
        ("action", "change"),
        ("intention", "buy"),
        ("target", "-1"),
        ("active", "on"),
    ];
    let page = browser.post("/watchlist/change", &form).await.is(422);
    assert!(
        page.text.contains(&format!("id=\"target-{id}-error\"")),
        "{}",
        page.text
    );
}

async fn proposal_is_accepted_with_another_level(server: TestServer) {
    let browser = Browser::operator(&server).await;
    server.set_price("AAPL", 100.0).await;
    let form = [("symbol", "AAPL"), ("intention", "buy"), ("target", "90")];
    let _ = browser.post("/watchlist", &form).await;
    // Otherwise the analyst might create its alerts after the accepted one, which would not be the newest then.
    let _ = server.service.watchlists.run_analyst().await.unwrap();
    let items = server.get("/v1/watchlist").await.ok(200);
    let id = items.body["data"][0]["id"].as_str().unwrap().to_owned();
    let address = format!("/watchlist?proposals={id}");
    let list = browser.get("/watchlist").await.is(200);
    assert!(list.text.contains(&address), "{}", list.text);
    let page = browser.get(&address).await.is(200);
    for part in [
        "Own target",
        "name=\"threshold\" value=\"90\"",
        "AAPL falls to 90.00 or below",
    ] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
    let body = serde_json::json!({"symbol": "AAPL", "condition": "price_below", "threshold": 90}).to_string();
    let form = [("body", body.as_str()), ("threshold", "88.5"), ("next", &address)];
    let page = browser
        .follow(&browser.post("/watchlist/proposal", &form).await)
        .await
        .is(200);
    assert!(
        page.text.contains("The alert is created: AAPL falls to 88.50 or below"),
        "{}",
        page.text
    );
    let again = browser
        .follow(&browser.post("/watchlist/proposal", &form).await)
        .await
        .is(200);
    assert!(again.text.contains("You have this alert already"), "{}", again.text);
    let alerts = server.get("/v1/alerts").await.ok(200);
    assert_eq!(alerts.body["data"][0]["threshold"], 88.5);
    let broken = [("body", "{"), ("next", "/watchlist")];
    let page = browser
        .follow(&browser.post("/watchlist/proposal", &broken).await)
        .await;
    assert!(page.text.contains("The form is invalid"), "{}", page.text);
}
