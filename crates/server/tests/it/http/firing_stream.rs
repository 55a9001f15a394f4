//! The stream of firings: `GET /firings/stream`.

use alerts::Plan;
use axum::body::BodyDataStream;
use foundation::Scope;
use futures_util::StreamExt;
use serde_json::Value;

use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::{TestServer, above};
use crate::http::test_user::TestUser;

const PATH: &str = "/v1/firings/stream";

/// A received event.
struct Event {
    name: String,
    id: String,
    data: Value,
}

/// Reads the events of a stream one by one.
struct Events {
    stream: BodyDataStream,
    text: String,
}

impl Events {
    async fn of(server: &TestServer, query: &str) -> Self {
        let stream = server.request("GET", &format!("{PATH}{query}")).stream().await;
        Self::from(stream)
    }

    fn from(stream: BodyDataStream) -> Self {
        Self {
            stream,
            text: String::new(),
        }
    }

    /// Returns the next event; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let block = block.to_owned();
                self.text = rest.to_owned();
                if block.starts_with(':') {
                    continue;
                }
                let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
                return Some(Event {
                    name: field("event: ").unwrap().to_owned(),
                    id: field("id: ").unwrap().to_owned(),
                    data: serde_json::from_str(field("data: ").unwrap()).unwrap(),
                });
            }
            let chunk = self.stream.next().await?.unwrap();
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    async fn expect(&mut self, name: &str) -> Event {
        let event = self.next().await.expect("the stream has another event");
        assert_eq!(event.name, name);
        event
    }
}

/// Opens a stream with the key of another user.
async fn stream_of(user: &TestUser<'_>, query: &str) -> Events {
    let request = user.server.anonymous("GET", &format!("{PATH}{query}"));
    Events::from(request.header("x-api-key", &user.key).stream().await)
}

/// Revokes the key of a user.
async fn revoke_key(user: &TestUser<'_>) {
    let keys = user.get("/v1/api-keys").await.ok(200);
    for key in keys.body["data"].as_array().unwrap() {
        let path = format!("/v1/api-keys/{}", key["id"].as_str().unwrap());
        let _ = user.request("DELETE", &path).send().await.ok(200);
    }
}

/// Creates an alert that fires at a price, and lets it fire.
async fn fire(server: &TestServer, threshold: u32) -> String {
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(i64::from(threshold)).await;
    server.set_price("AAPL", f64::from(threshold)).await;
    id
}

on_each_database! {
    firing_is_an_event_with_all_its_fields
    broken_stream_continues_after_its_last_event
}

async fn firing_is_an_event_with_all_its_fields(server: TestServer) {
    let mut events = Events::of(&server, "").await;
    let open = events.expect("open").await;
    assert_eq!(open.data["position"].to_string(), open.id);
    let alert = fire(&server, 125).await;
    let firing = events.expect("firing").await;
    assert_eq!(firing.data["alert_id"], alert);
    let id = firing.data["id"].as_str().unwrap();
    let read = server.get(&format!("/v1/firings/{id}")).await.ok(200);
    for field in [
        "symbol",
        "condition",
        "threshold",
        "trigger_price",
        "reason",
        "timeline",
    ] {
        assert_eq!(firing.data[field], read.body["data"][field], "{field}");
    }
}

async fn broken_stream_continues_after_its_last_event(server: TestServer) {
    let (first, second) = (fire(&server, 125).await, fire(&server, 130).await);
    let mut events = Events::of(&server, "?after=0").await;
    assert_eq!(events.expect("open").await.id, "0");
    let event = events.expect("firing").await;
    assert_eq!(event.data["alert_id"], first);
    drop(events);
    // The header is newer than the parameter.
    let again = server
        .request("GET", &format!("{PATH}?after=0"))
        .header("last-event-id", &event.id);
    let mut events = Events::from(again.stream().await);
    assert_eq!(events.expect("open").await.id, event.id);
    assert_eq!(events.expect("firing").await.data["alert_id"], second);
    let third = fire(&server, 135).await;
    assert_eq!(events.expect("firing").await.data["alert_id"], third);
}

#[tokio::test]
async fn stream_needs_the_scope_to_read_alerts() {
    let server = TestServer::new().await;
    let _ = server.anonymous("GET", PATH).send().await.refused(401, "UNAUTHORIZED");
    let key = server
        .account("ann@example.com", Plan::Basic, false, &[Scope::StocksRead])
        .await;
    let refused = server.anonymous("GET", PATH).header("x-api-key", &key).send().await;
    let _ = refused.refused(403, "FORBIDDEN");
}

/// Creates an alert of another user that fires at a price, and lets it fire.
async fn fire_for(user: &TestUser<'_>, threshold: u32) -> String {
    user.server.set_price("AAPL", 100.0).await;
    let request = user
        .server
        .anonymous("POST", "/v1/alerts")
        .header("x-api-key", &user.key);
    let created = request.json(&above(i64::from(threshold))).send().await.ok(201);
    user.server.set_price("AAPL", f64::from(threshold)).await;
    created.body["data"]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn silent_stream_ends_when_its_key_is_revoked() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Basic).await;
    let mut events = stream_of(&ann, "").await;
    let _ = events.expect("open").await;
    let alert = fire_for(&ann, 125).await;
    assert_eq!(events.expect("firing").await.data["alert_id"], alert);
    revoke_key(&ann).await;
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn stream_has_no_firings_of_another_account() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Basic).await;
    let mut events = stream_of(&ann, "?after=0").await;
    let _ = events.expect("open").await;
    let _ = fire(&server, 125).await;
    let own = fire_for(&ann, 130).await;
    assert_eq!(events.expect("firing").await.data["alert_id"], own);
}

#[tokio::test]
async fn backlog_of_several_batches_comes_once_and_in_order() {
    let server = TestServer::new().await;
    let mut alerts = Vec::new();
    server.set_price("AAPL", 100.0).await;
    for threshold in 101..=250 {
        alerts.push(server.create_alert(threshold).await);
    }
    server.set_price("AAPL", 250.0).await;
    let mut events = Events::of(&server, "?after=0").await;
    let _ = events.expect("open").await;
    let mut last = 0;
    let mut fired = Vec::new();
    for _ in 0..alerts.len() {
        let event = events.expect("firing").await;
        let position: i64 = event.id.parse().unwrap();
        assert!(position > last, "{position} after {last}");
        last = position;
        fired.push(event.data["alert_id"].as_str().unwrap().to_owned());
    }
    alerts.sort_unstable();
    fired.sort_unstable();
    assert_eq!(fired, alerts);
}

#[tokio::test]
async fn other_sites_cannot_open_the_stream_with_a_cookie() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Basic).await;
    let cookie = format!("__Host-bellwether_session={}", ann.cookie);
    let request = |site: &'static str| {
        let request = server.anonymous("GET", PATH).header("cookie", &cookie);
        request.header("sec-fetch-site", site)
    };
    let refused = request("same-site").send().await;
    let _ = refused.refused(403, "FORBIDDEN");
    let mut events = Events::from(request("same-origin").stream().await);
    let _ = events.expect("open").await;
    let with_key = server.request("GET", PATH).header("sec-fetch-site", "cross-site");
    let mut events = Events::from(with_key.stream().await);
    let _ = events.expect("open").await;
}

#[tokio::test]
async fn position_that_the_history_has_not_reached_is_refused() {
    let server = TestServer::new().await;
    let refused = server.get(&format!("{PATH}?after=1000000")).await;
    let _ = refused.refused(422, "VALIDATION_ERROR");
}

#[tokio::test]
async fn malformed_position_is_refused() {
    let server = TestServer::new().await;
    for position in ["x", "-1", "99999999999999999999"] {
        let refused = server.get(&format!("{PATH}?after={position}")).await;
        let _ = refused.refused(422, "VALIDATION_ERROR");
    }
    for position in ["x", "", "-1"] {
        let request = server.request("GET", PATH).header("last-event-id", position);
        let refused = request.send().await.refused(422, "VALIDATION_ERROR");
        assert!(refused.text.contains("Last-Event-ID"), "{}", refused.text);
    }
}

#[tokio::test]
async fn twenty_first_stream_of_an_account_is_refused_until_one_has_ended() {
    let server = TestServer::new().await;
    let mut open = Vec::new();
    for _ in 0..20 {
        open.push(server.request("GET", PATH).stream().await);
    }
    let refused = server.get(PATH).await.refused(429, "RATE_LIMITED");
    assert_eq!(refused.header("retry-after"), "10");
    open.pop();
    let mut events = Events::of(&server, "").await;
    let _ = events.expect("open").await;
}
