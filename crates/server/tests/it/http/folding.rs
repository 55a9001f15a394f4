//! Many firings in one message, over HTTP.

use serde_json::{Value, json};
use testkit::eventually_some;
use testkit::stub_server::{StubResponse, StubServer};

use crate::http::notification_channels::start_server;
use crate::http::notification_routes::acknowledge_path;
use crate::http::test_server::{TestResponse, TestServer};

const CHANNELS: &str = "/v1/notification-channels";

/// A server with the prices of AAPL and a Slack channel.
struct Slack {
    server: TestServer,
    stub: StubServer,
    id: String,
}

impl Slack {
    /// `throttle` has further fields of the channel.
    async fn start(database: &testkit::Database, throttle: Value) -> Self {
        let server = start_server(database).await;
        let stub = StubServer::start(StubResponse::complete("200 OK", "", "ok")).await;
        let config = json!({"url": format!("{}/services/1", stub.origin())});
        let mut body = json!({"type": "slack", "config": config});
        body.as_object_mut()
            .unwrap()
            .extend(throttle.as_object().cloned().unwrap());
        let created = server.post(CHANNELS, body).await.ok(201);
        let id = created.body["data"]["id"].as_str().unwrap().to_owned();
        server.set_price("AAPL", 189.2).await;
        Self { server, stub, id }
    }

    /// Lets some alerts of the channel fire at once.
    async fn fire(&self, number: u32) {
        for nth in 0..number {
            let threshold = 190.0 + f64::from(nth) / 100.0;
            let alert =
                json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold, "channels": [self.id]});
            let _ = self.server.post("/v1/alerts", alert).await.ok(201);
        }
        self.server.set_price("AAPL", 191.0).await;
    }

    async fn patch(&self, body: Value) -> TestResponse {
        let path = format!("{CHANNELS}/{}", self.id);
        self.server.request("PATCH", &path).json(&body).send().await
    }

    /// Returns the firings once the messages of all of them have a state.
    async fn firings(&self, number: usize, state: &str) -> Vec<Value> {
        eventually_some(&format!("{number} messages are {state}"), async || {
            let firings = self.server.data("/v1/firings").await;
            let firings = firings.as_array().unwrap().clone();
            let is_done = |firing: &Value| firing["messages"][0]["state"] == json!(state);
            (firings.len() == number && firings.iter().all(is_done)).then_some(firings)
        })
        .await
    }
}

testkit::on_both_databases! {
    async fn burst_is_one_message_that_lists_and_acknowledges_all_firings(database) {
        let slack = Slack::start(database, json!({"burst_limit": 3})).await;
        slack.fire(8).await;
        let sent = slack.stub.next_request().await;
        for part in [
            "8 alerts have fired",
            "AAPL 191.00 USD",
            "price 191.00 is at or above 190.00",
            "price 191.00 is at or above 190.07",
            "https://alerts.example.com/fired",
            "Acknowledge all",
        ] {
            assert!(sent.body.contains(part), "{part}: {}", sent.body);
        }
        assert!(!sent.body.contains("change-alert"), "{}", sent.body);
        let firings = slack.firings(8, "accepted").await;
        let message = &firings[0]["messages"][0]["id"];
        assert!(firings.iter().all(|firing| &firing["messages"][0]["id"] == message), "{firings:?}");

        let path = acknowledge_path(&sent);
        let page = slack.server.anonymous("GET", &path).send().await;
        assert!(page.text.contains("Acknowledge all of these alerts?"), "{}", page.text);
        let posted = slack.server.anonymous("POST", &path).body("").send().await;
        assert_eq!(posted.status, 200, "{}", posted.text);
        let firings = slack.server.data("/v1/firings").await;
        let is_acknowledged = |firing: &Value| firing["acknowledged"]["via"] == json!("slack");
        assert!(firings.as_array().unwrap().iter().all(is_acknowledged), "{firings}");
    }

    async fn digest_holds_messages_until_it_is_removed(database) {
        let slack = Slack::start(database, json!({"digest": "hourly"})).await;
        slack.fire(2).await;
        let held = slack.firings(2, "held").await;
        assert_eq!(held[0]["messages"][0]["error"], json!("digest"));
        let changed = slack.patch(json!({"digest": null})).await.ok(200);
        assert_eq!(changed.body["data"]["digest"], Value::Null);
        assert!(slack.stub.next_request().await.body.contains("2 alerts have fired"));
        let _ = slack.firings(2, "accepted").await;
    }

    async fn limits_of_a_channel_are_read_and_checked(database) {
        let slack = Slack::start(database, json!({"burst_limit": 5, "digest": "daily at 07:30", "daily_budget": 20})).await;
        let path = format!("{CHANNELS}/{}", slack.id);
        let channel = slack.server.data(&path).await;
        let limits = (&channel["burst_limit"], &channel["digest"], &channel["daily_budget"]);
        assert_eq!(limits, (&json!(5), &json!("daily at 07:30"), &json!(20)));
        let _ = slack.patch(json!({"name": "Room"})).await.ok(200);
        assert_eq!(slack.server.data(&path).await["daily_budget"], json!(20));
        let removed = json!({"burst_limit": null, "digest": null, "daily_budget": null});
        let removed = slack.patch(removed).await.ok(200);
        assert_eq!((&removed.body["data"]["burst_limit"], &removed.body["data"]["daily_budget"]), (&Value::Null, &Value::Null));
        for (field, value) in [
            ("burst_limit", json!(0)),
            ("burst_limit", json!(1_001)),
            ("digest", json!("weekly")),
            ("digest", json!("daily at 24:00")),
            ("daily_budget", json!(-1)),
            ("daily_budget", json!("20")),
        ] {
            let refused = slack.patch(json!({field: value})).await.refused(422, "VALIDATION_ERROR");
            assert!(refused.body["error"]["details"]["fields"][field].is_array(), "{}", refused.body);
        }
    }

    async fn webhook_has_no_limits(database) {
        let slack = Slack::start(database, json!({})).await;
        let hook = json!({"url": format!("{}/hook", slack.stub.origin()), "events": ["alert.triggered"]});
        let hook = slack.server.post("/v1/webhooks", hook).await.ok(201);
        let config = json!({"webhook_id": hook.body["data"]["id"]});
        let body = json!({"type": "webhook", "config": config, "burst_limit": 3, "digest": "hourly", "daily_budget": 1});
        let refused = slack.server.post(CHANNELS, body).await.refused(422, "VALIDATION_ERROR");
        let fields = refused.body["error"]["details"]["fields"].as_object().unwrap();
        assert_eq!(fields.keys().collect::<Vec<_>>(), ["burst_limit", "daily_budget", "digest"]);
    }
}
