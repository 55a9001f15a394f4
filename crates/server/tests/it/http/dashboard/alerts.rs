//! The list of alerts.

use serde_json::json;

use super::{Browser, hidden, notice_of};
use crate::http::test_server::TestServer;

/// Creates alerts on a stock with these thresholds, and returns their ids.
async fn create(server: &TestServer, thresholds: &[i64]) -> Vec<String> {
    server.set_price("AAPL", 100.0).await;
    let mut ids = Vec::new();
    for threshold in thresholds {
        ids.push(server.create_alert(*threshold).await);
    }
    ids
}

async fn status(server: &TestServer, id: &str) -> String {
    let alert = server.get(&format!("/v1/alerts/{id}")).await.ok(200);
    alert.body["data"]["status"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn filters_and_order_are_in_the_address() {
    let server = TestServer::new().await;
    let ids = create(&server, &[150, 110, 130]).await;
    let browser = Browser::operator(&server).await;
    let _ = server
        .post(&format!("/v1/alerts/{}/pause", ids[0]), json!({}))
        .await
        .ok(200);
    let paused = browser
        .get("/alerts?status=paused&symbol=&tag=&search=&condition=")
        .await
        .is(200);
    assert!(
        paused.text.contains(&ids[0]) && !paused.text.contains(&ids[1]),
        "{}",
        paused.text
    );
    let nearest = browser.get("/alerts?status=active&sort=distance").await.is(200);
    let (near, far) = (nearest.text.find(&ids[1]).unwrap(), nearest.text.find(&ids[2]).unwrap());
    assert!(near < far, "{}", nearest.text);
    let unknown = browser.get("/alerts?status=none").await.is(422);
    assert!(unknown.text.contains("must be"), "{}", unknown.text);
}

#[tokio::test]
async fn search_box_names_a_stock_that_the_service_knows() {
    let server = TestServer::new().await;
    let browser = Browser::operator(&server).await;
    let page = browser.get("/alerts").await.is(200);
    assert!(page.text.contains("placeholder=\"Symbol or rule\""), "{}", page.text);
    server.set_price("QQQ", 200.0).await;
    let page = browser.get("/alerts").await.is(200);
    assert!(
        page.text.contains("placeholder=\"QQQ, or QQQ &#60; 180\""),
        "{}",
        page.text
    );
    assert!(
        page.text.contains("placeholder=\"Alerts, QQQ, or QQQ &#60; 180\""),
        "{}",
        page.text
    );
    assert!(!page.text.contains("AAPL"), "{}", page.text);
}

#[tokio::test]
async fn htmx_gets_only_the_part_that_changes() {
    let server = TestServer::new().await;
    let ids = create(&server, &[110]).await;
    let browser = Browser::operator(&server).await;
    let part = browser.part("/alerts").await.is(200);
    assert!(
        part.text.contains(&ids[0]) && !part.text.contains("<html"),
        "{}",
        part.text
    );
    assert!(part.header("vary").contains("HX-Request"));
}

/// A firing can redraw the list between a change and the page that follows it.
#[tokio::test]
async fn live_redraw_leaves_the_notice_to_the_page() {
    let server = TestServer::new().await;
    let ids = create(&server, &[110]).await;
    let browser = Browser::operator(&server).await;
    let form = [("action", "pause"), ("alert", ids[0].as_str()), ("next", "/alerts")];
    let done = browser.post("/alerts/actions", &form).await;
    let (notice, _) = done.header("set-cookie").split_once(';').unwrap();
    for (target, has_notice) in [("div#alert-list", false), ("main#main", true)] {
        let request = server.anonymous("GET", "/alerts").header("hx-request", "true");
        let request = request.header("cookie", &format!("{}; {notice}", browser.cookie()));
        let part = request.header("hx-target", target).send().await.is(200);
        assert_eq!(
            part.text.contains("1 alert paused."),
            has_notice,
            "{target}: {}",
            part.text
        );
        let cookies = part.headers.get_all("set-cookie");
        let is_cleared = cookies
            .iter()
            .any(|cookie| cookie.as_bytes().starts_with(b"bellwether_notice=;"));
        assert_eq!(is_cleared, has_notice, "{target}");
    }
}

#[tokio::test]
async fn selected_alerts_are_changed_and_the_others_are_not() {
    let server = TestServer::new().await;
    let ids = create(&server, &[110, 120, 130]).await;
    let browser = Browser::operator(&server).await;
    let form = [
        ("action", "pause"),
        ("alert", &ids[0]),
        ("alert", &ids[2]),
        ("next", "/alerts"),
    ];
    let done = browser.post("/alerts/actions", &form).await;
    let page = browser.follow(&done).await.is(200);
    assert!(page.text.contains("2 alerts paused."), "{}", page.text);
    let statuses = [
        status(&server, &ids[0]).await,
        status(&server, &ids[1]).await,
        status(&server, &ids[2]).await,
    ];
    assert_eq!(statuses, ["paused", "active", "paused"]);
    // The notice is shown once.
    assert!(page.header("set-cookie").contains("bellwether_notice=; ") || page.text.contains("role=\"status\""));
    let later = browser.get("/alerts").await.text;
    assert!(!notice_of(&later).contains("2 alerts paused."), "{later}");
}

#[tokio::test]
async fn all_alerts_of_a_filter_are_changed_on_all_pages() {
    let server = TestServer::new().await;
    let thresholds: Vec<i64> = (101..=160).collect();
    let ids = create(&server, &thresholds).await;
    let _ = server
        .post(&format!("/v1/alerts/{}/pause", ids[0]), json!({}))
        .await
        .ok(200);
    let browser = Browser::operator(&server).await;
    let first = browser.get("/alerts?status=active").await.is(200);
    assert!(first.text.contains("All 59 alerts of all pages") && first.text.contains("rel=\"next\""));
    let form = [("action", "delete"), ("all", "yes"), ("next", "/alerts?status=active")];
    let done = browser.post("/alerts/actions", &form).await;
    let page = browser.follow(&done).await.is(200);
    assert!(page.text.contains("59 alerts deleted."), "{}", page.text);
    let left = server.get("/v1/alerts").await.ok(200);
    assert_eq!(left.body["data"].as_array().unwrap().len(), 1);
    let undone = browser
        .post("/alerts/undo", &[("undo", &hidden(&page, "undo")), ("next", "/alerts")])
        .await;
    let page = browser.follow(&undone).await.is(200);
    assert!(
        page.text.contains("59 alerts are as they were before."),
        "{}",
        page.text
    );
}

#[tokio::test]
async fn alert_that_cannot_be_changed_is_named_with_its_reason() {
    let server = TestServer::new().await;
    let ids = create(&server, &[110, 120]).await;
    server.set_price("AAPL", 111.0).await;
    assert_eq!(status(&server, &ids[0]).await, "triggered");
    let browser = Browser::operator(&server).await;
    let form = [
        ("action", "pause"),
        ("alert", &ids[0]),
        ("alert", &ids[1]),
        ("next", "/alerts"),
    ];
    let page = browser.follow(&browser.post("/alerts/actions", &form).await).await;
    assert!(
        page.text
            .contains("1 alert paused. 1 was not: only an active alert can be paused"),
        "{}",
        page.text
    );
    let nothing = browser
        .post("/alerts/actions", &[("action", "pause"), ("next", "/alerts")])
        .await;
    let page = browser.follow(&nothing).await;
    assert!(page.text.contains("Select at least one alert first."), "{}", page.text);
}

#[tokio::test]
async fn notice_of_a_snooze_has_its_end_and_counts_active_alerts_alone() {
    let server = TestServer::new().await;
    let ids = create(&server, &[110, 120, 130]).await;
    let pause = format!("/v1/alerts/{}/pause", ids[2]);
    let _ = server.post(&pause, json!({})).await.ok(200);
    let browser = Browser::operator(&server).await;
    let selected = ids.iter().map(|id| ("alert", id.as_str()));
    let form: Vec<_> = [("action", "snooze"), ("snooze", "1d"), ("next", "/alerts")]
        .into_iter()
        .chain(selected)
        .collect();
    let page = browser.follow(&browser.post("/alerts/actions", &form).await).await;
    let (_, notice) = page
        .text
        .split_once("2 alerts snoozed until ")
        .unwrap_or_else(|| panic!("{}", page.text));
    let reason = ". 1 was not: only an active alert can be snoozed, and this one is paused; resume it first";
    assert!(notice.contains(reason), "{notice}");

    // A resumption ends a snooze.
    let form: Vec<_> = [("action", "resume"), ("next", "/alerts")]
        .into_iter()
        .chain(ids.iter().map(|id| ("alert", id.as_str())))
        .collect();
    let page = browser.follow(&browser.post("/alerts/actions", &form).await).await;
    assert!(page.text.contains("3 alerts resumed."), "{}", page.text);
    let alert = server.get(&format!("/v1/alerts/{}", ids[0])).await.ok(200);
    assert_eq!(alert.body["data"]["options"].get("snoozed_until"), None);
    let undo = hidden(&page, "undo");
    let _ = browser.post("/alerts/undo", &[("undo", &undo)]).await.is(303);
    let alert = server.get(&format!("/v1/alerts/{}", ids[0])).await.ok(200);
    assert!(
        alert.body["data"]["options"]["snoozed_until"].is_string(),
        "{}",
        alert.text
    );
}

#[tokio::test]
async fn list_is_exported_for_spreadsheets() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 110, "tags": ["=1+1"]});
    let _ = server.post("/v1/alerts", body).await.ok(201);
    let browser = Browser::operator(&server).await;
    let table = browser.get("/alerts.csv?status=active").await.is(200);
    assert_eq!(table.header("content-type"), "text/csv; charset=utf-8");
    let lines: Vec<&str> = table.text.lines().collect();
    assert_eq!(lines[0], "id,stock,alert,state,price,distance,last_fired,tags");
    assert!(
        lines[1].ends_with(",AAPL,fires at or above 110.00,active,100.00,10.00%,,'=1+1"),
        "{}",
        lines[1]
    );
}

#[tokio::test]
async fn past_moment_of_an_alert_is_explained_on_its_page() {
    let server = TestServer::new().await;
    let ids = create(&server, &[110]).await;
    let browser = Browser::operator(&server).await;
    let page = browser.get(&format!("/alerts/{}", ids[0])).await.is(200);
    assert!(
        page.text
            .contains("It does not fire, because the condition is not true:"),
        "{}",
        page.text
    );
    let early = browser
        .get(&format!("/alerts/{}?at=2020-01-01T10:00", ids[0]))
        .await
        .is(200);
    assert!(early.text.contains("id=\"at-error\""), "{}", early.text);
    let malformed = browser.get(&format!("/alerts/{}?at=yesterday", ids[0])).await.is(200);
    assert!(
        malformed.text.contains("must be a date and time such as"),
        "{}",
        malformed.text
    );
}
