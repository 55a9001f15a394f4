//! Routes of firings over HTTP: what arrives at which channel, and when.

use jiff::SignedDuration;
use serde_json::{Value, json};
use testkit::eventually_some;
use testkit::stub_server::{ReceivedRequest, StubResponse, StubServer};

use crate::http::notification_channels::start_server;
use crate::http::test_server::{TestResponse, TestServer};
use crate::http::test_user::PASSWORD;

const CHANNELS: &str = "/v1/notification-channels";
const ROUTE: &str = "/v1/notification-route";

/// A server with the prices of AAPL, and two chat services.
pub(crate) struct Chats {
    pub(crate) server: TestServer,
    pub(crate) slack: StubServer,
    pub(crate) discord: StubServer,
    /// The ids of the channels.
    pub(crate) ids: [String; 2],
}

impl Chats {
    pub(crate) async fn start(database: &testkit::Database) -> Self {
        let server = start_server(database).await;
        let slack = StubServer::start(StubResponse::complete("200 OK", "", "ok")).await;
        let discord = StubServer::start(StubResponse::complete("200 OK", "", r#"{"id": "7"}"#)).await;
        let mut ids = Vec::new();
        for (channel_type, stub) in [("slack", &slack), ("discord", &discord)] {
            let config = json!({"url": format!("{}/api/webhooks/1/secret", stub.origin())});
            let body = json!({"type": channel_type, "config": config});
            let created = server.post(CHANNELS, body).await.ok(201);
            ids.push(created.body["data"]["id"].as_str().unwrap().to_owned());
        }
        server.set_price("AAPL", 189.2).await;
        let ids = ids.try_into().unwrap();
        Self {
            server,
            slack,
            discord,
            ids,
        }
    }

    async fn create_alert(&self, routing: &Value) -> TestResponse {
        let mut body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 190, "note": "Sell half."});
        body.as_object_mut()
            .unwrap()
            .extend(routing.as_object().unwrap().clone());
        self.server.post("/v1/alerts", body).await
    }

    /// Creates an alert with a routing, fires it, and returns its id.
    pub(crate) async fn fire(&self, routing: &Value) -> String {
        let created = self.create_alert(routing).await.ok(201);
        self.server.set_price("AAPL", 191.0).await;
        created.body["data"]["id"].as_str().unwrap().to_owned()
    }

    async fn set_preferences(&self, preferences: &Value) {
        let sign_in = json!({"email": "operator@example.com", "password": PASSWORD});
        let signed_in = self
            .server
            .anonymous("POST", "/v1/auth/login")
            .json(&sign_in)
            .send()
            .await;
        let signed_in = signed_in.ok(200);
        let bearer = format!("Bearer {}", signed_in.body["data"]["access_token"].as_str().unwrap());
        let request = self
            .server
            .anonymous("PUT", "/v1/user/preferences")
            .header("authorization", &bearer);
        let _ = request.json(preferences).send().await.ok(200);
    }

    pub(crate) async fn firing(&self) -> Value {
        self.server.data("/v1/firings").await[0].clone()
    }

    /// Returns the firing once its messages have these types and states.
    pub(crate) async fn firing_with(&self, expected: &[(&str, &str)]) -> Value {
        let expected: Vec<(&str, &str)> = expected.to_vec();
        eventually_some(&format!("the messages are {expected:?}"), async || {
            let firing = self.firing().await;
            let messages = firing["messages"].as_array().unwrap().clone();
            let of = |message: &Value, name: &str| message[name].as_str().unwrap().to_owned();
            let found: Vec<(String, String)> = messages
                .iter()
                .map(|message| (of(message, "type"), of(message, "state")))
                .collect();
            let is_expected = found
                .iter()
                .map(|(kind, state)| (kind.as_str(), state.as_str()))
                .eq(expected.iter().copied());
            is_expected.then_some(firing)
        })
        .await
    }
}

/// Returns the link that acknowledges, from the message that Slack got.
pub(crate) fn acknowledge_path(request: &ReceivedRequest) -> String {
    let (_, rest) = request
        .body
        .split_once("https://alerts.example.com/acknowledge?t=")
        .unwrap();
    let token = rest
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')
        .next()
        .unwrap();
    format!("/acknowledge?t={token}")
}

testkit::on_both_databases! {
    async fn firing_is_sent_to_all_channels_of_the_route_of_its_alert(database) {
        let chats = Chats::start(database).await;
        let alert = chats.fire(&json!({"channels": chats.ids})).await;
        let sent = chats.slack.next_request().await;
        assert!(sent.line.starts_with("POST /api/webhooks/1/secret "), "{}", sent.line);
        for part in ["AAPL 191.00 USD", "price 191.00 is at or above 190.00", "Sell half.", &format!("https://alerts.example.com/alerts/{alert}")] {
            assert!(sent.body.contains(part), "{part}: {}", sent.body);
        }
        assert!(chats.discord.next_request().await.body.contains("price 191.00 is at or above 190.00"));
        let firing = chats.firing_with(&[("slack", "accepted"), ("discord", "accepted")]).await;
        let message = &firing["messages"][0];
        assert_eq!((&message["channel_id"], &message["attempts"], &message["error"]), (&json!(chats.ids[0]), &json!(1), &Value::Null));
        assert!(message["sent_at"].is_string() && message["accepted_at"].is_string());
        let channel = chats.server.data(&format!("{CHANNELS}/{}", chats.ids[0])).await;
        assert!(channel["last_success_at"].is_string() && channel["verified_at"].is_string());
    }

    async fn failed_channel_is_followed_by_the_next_one(database) {
        let chats = Chats::start(database).await;
        chats.slack.set_response(StubResponse::complete("404 Not Found", "", "no_service"));
        let _ = chats.fire(&json!({"channels": chats.ids, "policy": "failover", "ack_timeout": "1h"})).await;
        let _ = chats.slack.next_request().await;
        let _ = chats.discord.next_request().await;
        let firing = chats.firing_with(&[("slack", "failed"), ("discord", "accepted")]).await;
        assert_ne!(firing["messages"][0]["id"], firing["messages"][1]["id"]);
        assert!(firing["messages"][0]["failed_at"].is_string());
        let channel = chats.server.data(&format!("{CHANNELS}/{}", chats.ids[0])).await;
        assert!(channel["last_error"].as_str().unwrap().contains("no_service"), "{channel}");
    }

    async fn next_channel_is_used_unless_the_firing_is_acknowledged_in_time(database) {
        let chats = Chats::start(database).await;
        let routing = json!({"channels": chats.ids, "policy": "failover", "ack_timeout": "5m"});
        let _ = chats.fire(&routing).await;
        let _ = chats.firing_with(&[("slack", "accepted")]).await;
        chats.server.clock.advance(SignedDuration::from_mins(5));
        let _ = chats.firing_with(&[("slack", "accepted"), ("discord", "accepted")]).await;
    }

    async fn link_in_a_message_acknowledges_on_post_only(database) {
        let chats = Chats::start(database).await;
        let routing = json!({"channels": chats.ids, "policy": "failover", "ack_timeout": "5m"});
        let alert = chats.fire(&routing).await;
        let path = acknowledge_path(&chats.slack.next_request().await);
        let _ = chats.firing_with(&[("slack", "accepted")]).await;
        for method in ["HEAD", "GET"] {
            assert_eq!(chats.server.anonymous(method, &path).send().await.status, 200);
        }
        assert_eq!(chats.firing().await["acknowledged"], Value::Null);
        for _ in 0..2 {
            let posted = chats.server.anonymous("POST", &path).body("").send().await;
            assert_eq!(posted.status, 200, "{}", posted.text);
        }
        let acknowledged = chats.firing().await["acknowledged"].clone();
        assert_eq!((&acknowledged["by"], &acknowledged["via"]), (&json!("operator@example.com"), &json!("slack")));
        let history = chats.server.data(&format!("/v1/alerts/{alert}/history")).await;
        let entry = history.as_array().unwrap().iter().find(|entry| entry["action_type"] == "acknowledged").unwrap();
        assert!(entry.to_string().contains("slack"), "{entry}");
        // Its escalation has ended: that of a later firing, due later, is advanced, and this one is not.
        let first = chats.firing().await;
        chats.server.set_price("AAPL", 189.0).await;
        let mut later = routing.clone();
        later["threshold"] = json!(190.5);
        let _ = chats.fire(&later).await;
        let _ = chats.firing_with(&[("slack", "accepted")]).await;
        chats.server.clock.advance(SignedDuration::from_mins(5));
        let _ = chats.firing_with(&[("slack", "accepted"), ("discord", "accepted")]).await;
        let path = format!("/v1/firings/{}", first["id"].as_str().unwrap());
        assert_eq!(chats.server.data(&path).await["messages"], first["messages"]);
    }

    async fn forged_and_expired_links_are_400(database) {
        let chats = Chats::start(database).await;
        let _ = chats.fire(&json!({"channels": chats.ids})).await;
        let path = acknowledge_path(&chats.slack.next_request().await);
        let forged = format!("{}A", &path[..path.len() - 1]);
        let other_page = path.replace("/acknowledge", "/change-alert");
        chats.server.clock.advance(SignedDuration::from_hours(31 * 24));
        for path in [path, forged, other_page, "/acknowledge".to_owned(), "/acknowledge?t=".to_owned()] {
            for method in ["GET", "POST"] {
                let answer = chats.server.anonymous(method, &path).body("").send().await;
                assert_eq!(answer.status, 400, "{method} {path}");
            }
        }
        assert_eq!(chats.firing().await["acknowledged"], Value::Null);
    }

    async fn route_of_the_account_is_that_of_alerts_without_one(database) {
        let chats = Chats::start(database).await;
        assert_eq!(chats.server.data(ROUTE).await, json!({"channels": [], "policy": "all", "ack_timeout": null}));
        let route = json!({"channels": [chats.ids[1]], "policy": "failover", "ack_timeout": "15m"});
        let put = async |body: &Value| chats.server.request("PUT", ROUTE).json(body).send().await;
        assert_eq!(put(&route).await.ok(200).body["data"], route);
        assert_eq!(chats.server.data(ROUTE).await, route);
        let _ = chats.fire(&json!({})).await;
        let _ = chats.firing_with(&[("discord", "accepted")]).await;
        let removed = put(&json!({"channels": []})).await.ok(200);
        assert_eq!(removed.body["data"]["channels"], json!([]));
    }

    async fn invalid_routes_are_422_by_field(database) {
        let chats = Chats::start(database).await;
        let unknown = "0d9f5a5e-31e0-4cc7-8f36-5d4a8b7a1f0e";
        for (body, field) in [
            (json!({"channels": [unknown]}), "channels"),
            (json!({"channels": ["seven"]}), "channels"),
            (json!({"channels": chats.ids, "policy": "any"}), "policy"),
            (json!({"channels": chats.ids, "policy": "failover", "ack_timeout": "30s"}), "ack_timeout"),
            (json!({"channels": chats.ids, "ack_timeout": "5m"}), "ack_timeout"),
            (json!({"policy": "failover"}), "policy"),
        ] {
            let refused = chats.create_alert(&body).await.refused(422, "VALIDATION_ERROR");
            assert!(refused.body["error"]["details"]["fields"][field].is_array(), "{body} {refused:?}");
            let refused = chats.server.request("PUT", ROUTE).json(&body).send().await.refused(422, "VALIDATION_ERROR");
            assert!(refused.body["error"]["details"]["fields"][field].is_array(), "{body} {refused:?}");
        }
        let refused = chats.create_alert(&json!({"urgent": "yes"})).await.refused(422, "VALIDATION_ERROR");
        assert!(refused.body["error"]["details"]["fields"]["urgent"].is_array());
    }

    async fn routing_of_an_alert_is_shown_and_changed_without_arming_it_again(database) {
        let chats = Chats::start(database).await;
        let routing = json!({"channels": chats.ids, "policy": "failover", "ack_timeout": "5m", "urgent": true});
        let created = chats.create_alert(&routing).await.ok(201).body["data"].clone();
        for (name, value) in routing.as_object().unwrap() {
            assert_eq!(created[name], *value, "{name}");
        }
        let path = format!("/v1/alerts/{}", created["id"].as_str().unwrap());
        let change = json!({"channels": [chats.ids[1]], "policy": "all", "urgent": false});
        let changed = chats.server.request("PATCH", &path).json(&change).send().await.ok(200);
        let changed = &changed.body["data"];
        assert_eq!((&changed["channels"], &changed["policy"]), (&json!([chats.ids[1]]), &json!("all")));
        assert_eq!((changed.get("ack_timeout"), changed.get("urgent")), (None, None));
        assert_eq!(changed["initial_price"], created["initial_price"]);
        // A channel that was deleted since does not prevent other changes.
        let deleted = chats.server.request("DELETE", &format!("{CHANNELS}/{}", chats.ids[1])).send().await;
        let _ = deleted.ok(200);
        let noted = chats.server.request("PATCH", &path).json(&json!({"note": "Hold."})).send().await.ok(200);
        assert_eq!(noted.body["data"]["note"], "Hold.");
    }

    async fn urgent_alert_passes_quiet_hours(database) {
        let chats = Chats::start(database).await;
        chats.set_preferences(&json!({"quiet_hours": {"start": "00:00", "end": "23:59"}})).await;
        let _ = chats.fire(&json!({"channels": [chats.ids[0]]})).await;
        let _ = chats.firing_with(&[("slack", "held")]).await;
        assert_eq!(chats.slack.pending_requests().await, 0);
        chats.server.set_price("AAPL", 189.0).await;
        let _ = chats.create_alert(&json!({"channels": [chats.ids[1]], "urgent": true, "threshold": 190.5})).await.ok(201);
        chats.server.set_price("AAPL", 192.0).await;
        let _ = chats.firing_with(&[("discord", "accepted")]).await;
    }

    async fn absence_keeps_messages_until_its_end(database) {
        let chats = Chats::start(database).await;
        chats.set_preferences(&json!({"away_until": "2024-03-11T08:00:00Z"})).await;
        let _ = chats.fire(&json!({"channels": [chats.ids[0]]})).await;
        let _ = chats.firing_with(&[("slack", "held")]).await;
        chats.server.clock.set("2024-03-11T07:59:59Z".parse().unwrap());
        assert_eq!(chats.slack.pending_requests().await, 0);
        chats.server.clock.set("2024-03-11T08:00:00Z".parse().unwrap());
        let _ = chats.firing_with(&[("slack", "accepted")]).await;
    }
}
