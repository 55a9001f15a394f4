//! Undo restores the exact former state.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{Browser, hidden, notice_of};
use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::TestServer;

on_each_database! {
    undo_of_a_resumption_restores_the_status_and_the_initial_price
    undo_of_a_deletion_restores_the_alert_its_tags_and_its_history
    undo_of_a_pause_lets_the_alert_fire_again
    undo_restores_a_snooze_for_explanations_of_past_moments
    undo_keeps_a_cooldown_in_explanations_of_past_moments
    alert_that_has_changed_since_keeps_its_state
    change_that_changes_nothing_offers_no_undo
    undo_ends_after_ten_minutes_and_is_for_its_owner_alone
    alert_over_many_stocks_is_restored_with_its_stocks
    undo_of_a_deletion_is_refused_if_an_equal_alert_exists
}

pub(super) struct Fixture {
    pub(super) server: TestServer,
    key: String,
}

impl Fixture {
    pub(super) async fn new(server: TestServer) -> Self {
        let key = server.key.clone();
        let fixture = Self { server, key };
        fixture.quote("AAPL", 100.0).await;
        fixture
    }

    pub(super) async fn call(&self, method: &str, path: &str, body: Value) -> Value {
        let request = self.server.anonymous(method, path).header("x-api-key", &self.key);
        let response = if method == "GET" {
            request.send().await
        } else {
            request.json(&body).send().await
        };
        assert!(response.status < 300, "{response:?}");
        response.body
    }

    pub(super) async fn quote(&self, symbol: &str, price: f64) {
        let batch =
            json!({"stocks": [{"symbol": symbol, "name": symbol}], "quotes": [{"symbol": symbol, "price": price}]});
        let _ = self.call("POST", "/v1/market/ingest", batch).await;
    }

    pub(super) async fn create(&self, body: Value) -> String {
        let created = self.call("POST", "/v1/alerts", body).await;
        created["data"]["id"].as_str().unwrap().to_owned()
    }

    pub(super) async fn alert(&self, id: &str) -> Value {
        self.call("GET", &format!("/v1/alerts/{id}"), Value::Null).await["data"].clone()
    }

    /// Changes an alert on the page and returns the id by which the change can be undone.
    pub(super) async fn change(&self, browser: &Browser<'_>, id: &str, action: &str) -> String {
        let form = [("action", action), ("alert", id), ("snooze", "1h"), ("next", "/alerts")];
        let page = browser.follow(&browser.post("/alerts/actions", &form).await).await;
        hidden(&page, "undo")
    }

    pub(super) async fn undo(&self, browser: &Browser<'_>, undo: &str) -> String {
        let page = browser
            .post("/alerts/undo", &[("undo", undo), ("next", "/alerts")])
            .await;
        browser.follow(&page).await.text
    }
}

pub(super) fn above(threshold: i64) -> Value {
    json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold, "tags": ["swing"]})
}

async fn undo_of_a_resumption_restores_the_status_and_the_initial_price(server: TestServer) {
    let fixture = Fixture::new(server).await;
    let browser = Browser::operator(&fixture.server).await;
    let id = fixture.create(above(125)).await;
    let _ = fixture.change(&browser, &id, "pause").await;
    let before = fixture.alert(&id).await;
    fixture.quote("AAPL", 110.0).await;
    let undo = fixture.change(&browser, &id, "resume").await;
    let resumed = fixture.alert(&id).await;
    assert_eq!(
        (&resumed["status"], &resumed["initial_price"]),
        (&json!("active"), &json!(110))
    );
    let page = fixture.undo(&browser, &undo).await;
    assert!(page.contains("1 alert is as it was before."), "{page}");
    let after = fixture.alert(&id).await;
    for member in [
        "status",
        "initial_price",
        "threshold",
        "created_at",
        "triggered_at",
        "tags",
    ] {
        assert_eq!(after[member], before[member], "{member}");
    }
}

async fn undo_of_a_deletion_restores_the_alert_its_tags_and_its_history(server: TestServer) {
    let fixture = Fixture::new(server).await;
    let browser = Browser::operator(&fixture.server).await;
    let id = fixture.create(above(125)).await;
    let before = fixture.alert(&id).await;
    let undo = fixture.change(&browser, &id, "delete").await;
    let request = fixture.server.anonymous("GET", &format!("/v1/alerts/{id}"));
    let _ = request
        .header("x-api-key", &fixture.key)
        .send()
        .await
        .refused(404, "NOT_FOUND");
    let _ = fixture.undo(&browser, &undo).await;
    let mut after = fixture.alert(&id).await;
    // The time of its evaluation is new.
    after["evaluation"] = before["evaluation"].clone();
    assert_eq!(after, before);
    let tagged = fixture.call("GET", "/v1/alerts?tags=swing", Value::Null).await;
    assert_eq!(tagged["data"][0]["id"], id);
    let history = fixture
        .call("GET", &format!("/v1/alerts/{id}/history"), Value::Null)
        .await;
    let actions: Vec<_> = history["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["action_type"].clone())
        .collect();
    assert_eq!(actions, ["updated", "deleted", "created"]);
    // A second undo has nothing left to do.
    let page = fixture.undo(&browser, &undo).await;
    assert!(page.contains("Nothing is left to undo"), "{page}");
}

async fn change_that_changes_nothing_offers_no_undo(server: TestServer) {
    let fixture = Fixture::new(server).await;
    let browser = Browser::operator(&fixture.server).await;
    let paused = fixture.create(above(125)).await;
    let active = fixture.create(above(130)).await;
    let _ = fixture.change(&browser, &paused, "pause").await;
    let form = [("action", "pause"), ("alert", &paused), ("next", "/alerts")];
    let page = browser.follow(&browser.post("/alerts/actions", &form).await).await.text;
    assert!(page.contains("1 alert already has this state."), "{page}");
    assert!(!notice_of(&page).contains("name=\"undo\""), "{page}");
    let form = [("action", "resume"), ("alert", &active), ("next", "/alerts")];
    let page = browser.follow(&browser.post("/alerts/actions", &form).await).await.text;
    assert!(!notice_of(&page).contains("name=\"undo\""), "{page}");
    // Together with another alert the change can be undone.
    let form = [
        ("action", "pause"),
        ("alert", &paused),
        ("alert", &active),
        ("next", "/alerts"),
    ];
    let page = browser.follow(&browser.post("/alerts/actions", &form).await).await;
    assert!(
        page.text.contains("1 alert paused. 1 alert already has this state."),
        "{}",
        page.text
    );
    let page = fixture.undo(&browser, &hidden(&page, "undo")).await;
    assert!(page.contains("1 alert is as it was before."), "{page}");
    assert_eq!(fixture.alert(&active).await["status"], "active");
    assert_eq!(fixture.alert(&paused).await["status"], "paused");
}

async fn undo_of_a_pause_lets_the_alert_fire_again(server: TestServer) {
    let fixture = Fixture::new(server).await;
    let browser = Browser::operator(&fixture.server).await;
    for action in ["pause", "snooze", "delete"] {
        let id = fixture.create(above(125)).await;
        let undo = fixture.change(&browser, &id, action).await;
        let _ = fixture.undo(&browser, &undo).await;
        fixture.quote("AAPL", 126.0).await;
        assert_eq!(fixture.alert(&id).await["status"], "triggered", "{action}");
        let _ = fixture.call("DELETE", &format!("/v1/alerts/{id}"), Value::Null).await;
        fixture.quote("AAPL", 100.0).await;
    }
}

async fn alert_that_has_changed_since_keeps_its_state(server: TestServer) {
    let fixture = Fixture::new(server).await;
    let browser = Browser::operator(&fixture.server).await;
    let id = fixture.create(above(125)).await;
    let _ = fixture.change(&browser, &id, "pause").await;
    let undo = fixture.change(&browser, &id, "resume").await;
    fixture.quote("AAPL", 126.0).await;
    assert_eq!(fixture.alert(&id).await["status"], "triggered");
    let page = fixture.undo(&browser, &undo).await;
    assert!(page.contains("Nothing is left to undo"), "{page}");
    assert_eq!(fixture.alert(&id).await["status"], "triggered");
}

async fn undo_ends_after_ten_minutes_and_is_for_its_owner_alone(server: TestServer) {
    let fixture = Fixture::new(server).await;
    let browser = Browser::operator(&fixture.server).await;
    let id = fixture.create(above(125)).await;
    let undo = fixture.change(&browser, &id, "pause").await;
    fixture
        .server
        .account(
            "ann@example.com",
            alerts::Plan::Premium,
            false,
            foundation::Scope::PUBLIC,
        )
        .await;
    let ann = Browser::signed_in(&fixture.server, "ann@example.com").await;
    let page = fixture.undo(&ann, &undo).await;
    assert!(page.contains("Nothing is left to undo"), "{page}");
    fixture.server.clock.advance(SignedDuration::from_mins(10));
    let page = fixture.undo(&browser, &undo).await;
    assert!(page.contains("1 alert is as it was before."), "{page}");
    let undo = fixture.change(&browser, &id, "pause").await;
    fixture
        .server
        .clock
        .advance(SignedDuration::from_mins(10) + SignedDuration::from_secs(1));
    let page = fixture.undo(&browser, &undo).await;
    assert!(page.contains("Nothing is left to undo"), "{page}");
    assert_eq!(fixture.alert(&id).await["status"], "paused");
}

async fn alert_over_many_stocks_is_restored_with_its_stocks(server: TestServer) {
    let fixture = Fixture::new(server).await;
    fixture.quote("MSFT", 100.0).await;
    let browser = Browser::operator(&fixture.server).await;
    let body = json!({"scope": {"symbols": ["AAPL", "MSFT"]}, "condition": "price_above", "threshold": 125});
    let id = fixture.create(body).await;
    for action in ["delete", "pause"] {
        let undo = fixture.change(&browser, &id, action).await;
        let page = fixture.undo(&browser, &undo).await;
        assert!(page.contains("1 alert is as it was before."), "{action}: {page}");
        assert_eq!(fixture.alert(&id).await["status"], "active");
    }
    fixture.quote("MSFT", 126.0).await;
    let members = fixture
        .call("GET", &format!("/v1/alerts/{id}/members"), Value::Null)
        .await;
    let statuses: Vec<_> = members["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|member| member["state"].clone())
        .collect();
    assert_eq!(statuses, ["active", "triggered"]);
}

async fn undo_of_a_deletion_is_refused_if_an_equal_alert_exists(server: TestServer) {
    let fixture = Fixture::new(server).await;
    let browser = Browser::operator(&fixture.server).await;
    let id = fixture.create(above(125)).await;
    let undo = fixture.change(&browser, &id, "delete").await;
    let twin = fixture.create(above(125)).await;
    assert_ne!(id, twin);
    let page = fixture.undo(&browser, &undo).await;
    assert!(page.contains("You have created an equal alert meanwhile"), "{page}");
    let all = fixture.call("GET", "/v1/alerts", Value::Null).await;
    assert_eq!(all["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn undo_on_the_page_of_an_alert_loads_that_page() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(125).await;
    let browser = Browser::operator(&server).await;
    let page = format!("/alerts/{id}");
    for (next, status, header) in [
        (page.as_str(), 204, "hx-redirect"),
        ("/alerts?status=paused", 303, "location"),
    ] {
        let form = [("action", "pause"), ("alert", id.as_str()), ("next", next)];
        let paused = browser.follow(&browser.post("/alerts/actions", &form).await).await;
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("undo", hidden(&paused, "undo").as_str()), ("next", next)])
            .finish();
        let request = browser.request("POST", "/alerts/undo").header("hx-request", "true");
        let request = request.header("origin", "https://alerts.example.com");
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let undone = request.body(body).send().await.is(status);
        assert_eq!(undone.header(header), next);
        assert!(undone.headers.contains_key("set-cookie"), "the page has a notice");
    }
}

async fn undo_restores_a_snooze_for_explanations_of_past_moments(server: TestServer) {
    let fixture = Fixture::new(server).await;
    let browser = Browser::operator(&fixture.server).await;
    let id = fixture.create(above(125)).await;
    let _ = fixture.change(&browser, &id, "snooze").await;
    let undo = fixture.change(&browser, &id, "delete").await;
    let _ = fixture.undo(&browser, &undo).await;
    fixture.server.clock.advance(SignedDuration::from_mins(5));
    let path = format!("/v1/alerts/{id}/explain?at=2024-03-08T15:04:00Z");
    let past = fixture.call("GET", &path, Value::Null).await;
    assert_eq!(past["data"]["gates"][0]["gate"], "snoozed");
}

async fn undo_keeps_a_cooldown_in_explanations_of_past_moments(server: TestServer) {
    let fixture = Fixture::new(server).await;
    let browser = Browser::operator(&fixture.server).await;
    let mut body = above(105);
    body["options"] = json!({"repeat": "each_time", "cooldown": "2h"});
    let id = fixture.create(body).await;
    fixture.quote("AAPL", 105.0).await;
    fixture.server.clock.advance(SignedDuration::from_mins(5));
    let undo = fixture.change(&browser, &id, "pause").await;
    let _ = fixture.undo(&browser, &undo).await;
    fixture.server.clock.advance(SignedDuration::from_mins(5));
    let path = format!("/v1/alerts/{id}/explain?at=2024-03-08T15:09:00Z");
    let past = fixture.call("GET", &path, Value::Null).await;
    assert_eq!(past["data"]["gates"][0]["gate"], "cooldown", "{past}");
}
