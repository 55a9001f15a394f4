//! Lists of alerts that a client reads again with the tag of its last response.

use serde_json::{Value, json};

use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::{TestResponse, TestServer, above};

on_each_database! {
    list_is_304_until_something_that_it_shows_changes
    list_of_one_status_changes_with_the_status
    end_of_a_snooze_changes_a_list
    tag_of_another_account_is_no_tag_of_this_one
}

async fn read(server: &TestServer, path: &str, tag: &str) -> TestResponse {
    server.request("GET", path).header("if-none-match", tag).send().await
}

/// A client that keeps the last response, and asks for changes of it.
struct Client<'a> {
    server: &'a TestServer,
    path: &'a str,
    tag: String,
}

impl<'a> Client<'a> {
    async fn new(server: &'a TestServer, path: &'a str) -> Self {
        let tag = "W/\"none\"".to_owned();
        let mut client = Self { server, path, tag };
        client.assert_changed("the first read").await;
        client
    }

    /// Asserts that the list has changed, and that it is unchanged afterwards.
    async fn assert_changed(&mut self, context: &str) {
        let changed = read(self.server, self.path, &self.tag).await;
        assert_eq!(changed.status, 200, "{context}");
        let plain = self.server.get(self.path).await.ok(200);
        assert_eq!(changed.body["data"], plain.body["data"], "{context}");
        assert_eq!(changed.header("etag"), plain.header("etag"), "{context}");
        self.tag = changed.header("etag").to_owned();
        self.assert_unchanged(context).await;
    }

    async fn assert_unchanged(&self, context: &str) {
        // The second time from the state that the first one may have kept.
        for _ in 0..2 {
            let unchanged = read(self.server, self.path, &self.tag).await;
            assert_eq!((unchanged.status, unchanged.bytes.len()), (304, 0), "{context}");
            assert_eq!(unchanged.header("etag"), self.tag, "{context}");
        }
    }
}

async fn patch(server: &TestServer, id: &str, body: Value) {
    let path = format!("/v1/alerts/{id}");
    server.request("PATCH", &path).json(&body).send().await.ok(200);
}

async fn ingest(server: &TestServer, batch: Value) {
    let response = server.post("/v1/market/ingest", batch).await.ok(200);
    assert_eq!(response.body["data"]["rejected"], json!([]), "{response:?}");
}

async fn list_is_304_until_something_that_it_shows_changes(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    server.set_price("MSFT", 300.0).await;
    let id = server.create_alert(200).await;
    let mut client = Client::new(&server, "/v1/alerts?limit=50").await;
    patch(&server, &id, json!({"note": "wait"})).await;
    client.assert_changed("a note").await;
    patch(&server, &id, json!({"tags": ["swing"]})).await;
    client.assert_changed("a tag").await;
    patch(&server, &id, json!({"threshold": 150})).await;
    client.assert_changed("a threshold").await;
    ingest(&server, json!({"quotes": [{"symbol": "AAPL", "price": 101}]})).await;
    client.assert_changed("a price").await;
    ingest(&server, json!({"quotes": [{"symbol": "MSFT", "price": 301}]})).await;
    client.assert_unchanged("the price of a stock without alerts").await;
    ingest(&server, json!({"stocks": [{"symbol": "AAPL", "name": "Apple Inc."}]})).await;
    client.assert_changed("a name").await;
    ingest(&server, json!({"quotes": [{"symbol": "AAPL", "price": 151}]})).await;
    client.assert_changed("a firing").await;
    server
        .post(&format!("/v1/alerts/{id}/activate"), json!({}))
        .await
        .ok(200);
    client.assert_changed("an activation").await;
    let scoped = json!({"scope": {"symbols": ["AAPL", "MSFT"]}, "condition": "price_above", "threshold": 900});
    let scoped = server.post("/v1/alerts", scoped).await.ok(201);
    client.assert_changed("an alert over two stocks").await;
    let scoped = scoped.body["data"]["id"].as_str().unwrap().to_owned();
    ingest(&server, json!({"quotes": [{"symbol": "MSFT", "price": 901}]})).await;
    client.assert_changed("a firing of a member").await;
    server
        .request("DELETE", &format!("/v1/alerts/{scoped}"))
        .send()
        .await
        .ok(200);
    client.assert_changed("a deletion").await;
}

async fn list_of_one_status_changes_with_the_status(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(200).await;
    let mut active = Client::new(&server, "/v1/alerts?status=active&minimal=true").await;
    let mut paused = Client::new(&server, "/v1/alerts?status=paused").await;
    server.post(&format!("/v1/alerts/{id}/pause"), json!({})).await.ok(200);
    active.assert_changed("a pause").await;
    paused.assert_changed("a pause").await;
}

async fn end_of_a_snooze_changes_a_list(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let mut snoozed = above(200);
    snoozed["options"] = json!({"snoozed_until": "2024-03-08T15:30:00Z"});
    server.post("/v1/alerts", snoozed).await.ok(201);
    let mut client = Client::new(&server, "/v1/alerts").await;
    server.clock.set("2024-03-08T15:29:59Z".parse().unwrap());
    client.assert_unchanged("before the end").await;
    server.clock.set("2024-03-08T15:30:00Z".parse().unwrap());
    client.assert_changed("the end").await;
}

async fn tag_of_another_account_is_no_tag_of_this_one(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let _ = server.create_alert(200).await;
    let client = Client::new(&server, "/v1/alerts").await;
    let scopes = [foundation::Scope::AlertsRead];
    let other = server
        .account("other@example.com", alerts::Plan::Basic, false, &scopes)
        .await;
    let request = server.anonymous("GET", "/v1/alerts").header("x-api-key", &other);
    let others = request.header("if-none-match", &client.tag).send().await.ok(200);
    assert_eq!(others.body["data"], json!([]));
}
