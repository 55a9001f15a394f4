//! Reads from a process of what another process on the same database has written: rows and lists have every answered write at once.

use serde_json::{Value, json};
use testkit::Database;

use crate::http::identity::start_server;
use crate::http::test_server::{TestServer, above};

/// Starts two processes that know the price of AAPL.
async fn two_processes() -> [TestServer; 2] {
    let first = start_server(Database::postgres().await).await;
    first.set_price("AAPL", 100.0).await;
    let second = first.another_process().await;
    [first, second]
}

/// A client that reads rows and a list from one process, and keeps the tag of the list.
struct Reader<'a> {
    server: &'a TestServer,
    /// The path of the rows and their list.
    path: &'a str,
    tag: String,
}

impl<'a> Reader<'a> {
    fn new(server: &'a TestServer, path: &'a str) -> Self {
        let tag = "W/\"none\"".to_owned();
        Self { server, path, tag }
    }

    async fn row(&self, id: &str) -> Value {
        let path = format!("{}/{id}", self.path);
        self.server.get(&path).await.ok(200).body["data"].clone()
    }

    /// Reads the list by its last tag. It must have changed. Returns the items.
    async fn changed_list(&mut self) -> Vec<Value> {
        let request = self.server.request("GET", self.path);
        let list = request.header("if-none-match", &self.tag).send().await.ok(200);
        self.tag = list.header("etag").to_owned();
        list.body["data"].as_array().unwrap().clone()
    }

    /// Asserts that the row, and its item in the list, have these members.
    async fn assert_has(&mut self, id: &str, members: &Value) {
        let (row, list) = (self.row(id).await, self.changed_list().await);
        let item = list.iter().find(|item| item["id"] == id).unwrap();
        for (name, value) in members.as_object().unwrap() {
            assert_eq!((&row[name], &item[name]), (value, value), "{name}");
        }
    }

    /// Asserts that the row is gone, and that the list does not have it.
    async fn assert_deleted(&mut self, id: &str) {
        let row = self.server.get(&format!("{}/{id}", self.path)).await;
        let _ = row.refused(404, "NOT_FOUND");
        assert!(self.changed_list().await.iter().all(|item| item["id"] != id));
    }
}

/// Creates a row, and returns its id.
async fn create(server: &TestServer, path: &str, body: Value) -> String {
    let created = server.post(path, body).await.ok(201);
    created.body["data"]["id"].as_str().unwrap().to_owned()
}

async fn change(server: &TestServer, method: &str, path: &str, body: Value) {
    server.request(method, path).json(&body).send().await.ok(200);
}

#[tokio::test]
async fn alert_that_one_process_changes_is_changed_in_row_and_list_of_another() {
    let [first, second] = two_processes().await;
    let mut reader = Reader::new(&second, "/v1/alerts");
    assert_eq!(reader.changed_list().await, [] as [Value; 0]);
    let id = create(&first, "/v1/alerts", above(200)).await;
    reader
        .assert_has(&id, &json!({"status": "active", "threshold": 200}))
        .await;
    let path = format!("/v1/alerts/{id}");
    for (body, members) in [
        (json!({"threshold": 150}), json!({"threshold": 150})),
        (json!({"note": "wait"}), json!({"note": "wait", "threshold": 150})),
        (json!({"tags": ["swing"]}), json!({"tags": ["swing"], "note": "wait"})),
    ] {
        change(&first, "PATCH", &path, body).await;
        reader.assert_has(&id, &members).await;
    }
    for (action, status) in [("pause", "paused"), ("activate", "active")] {
        change(&first, "POST", &format!("{path}/{action}"), json!({})).await;
        reader.assert_has(&id, &json!({"status": status})).await;
    }
    first.set_price("AAPL", 151.0).await;
    reader
        .assert_has(&id, &json!({"status": "triggered", "threshold": 150}))
        .await;
    change(&first, "DELETE", &path, json!({})).await;
    reader.assert_deleted(&id).await;
}

#[tokio::test]
async fn two_processes_that_change_an_alert_in_turn_read_each_change() {
    let [first, second] = two_processes().await;
    let id = create(&first, "/v1/alerts", above(200)).await;
    let path = format!("/v1/alerts/{id}");
    let mut readers = [Reader::new(&first, "/v1/alerts"), Reader::new(&second, "/v1/alerts")];
    for (round, threshold) in (201..209).enumerate() {
        let writer = if round % 2 == 0 { &first } else { &second };
        change(writer, "PATCH", &path, json!({"threshold": threshold})).await;
        for reader in &mut readers {
            reader.assert_has(&id, &json!({"threshold": threshold})).await;
        }
    }
}

#[tokio::test]
async fn list_of_one_status_changes_with_a_change_in_another_process() {
    let [first, second] = two_processes().await;
    let id = create(&first, "/v1/alerts", above(200)).await;
    let mut active = Reader::new(&second, "/v1/alerts?status=active&minimal=true");
    let mut paused = Reader::new(&second, "/v1/alerts?status=paused");
    assert_eq!(active.changed_list().await.len(), 1);
    assert_eq!(paused.changed_list().await.len(), 0);
    change(&first, "POST", &format!("/v1/alerts/{id}/pause"), json!({})).await;
    assert_eq!(active.changed_list().await.len(), 0);
    assert_eq!(paused.changed_list().await.len(), 1);
}

#[tokio::test]
async fn webhook_that_one_process_changes_is_changed_in_row_and_list_of_another() {
    let [first, second] = two_processes().await;
    let mut reader = Reader::new(&second, "/v1/webhooks");
    let url = "https://93.184.216.34/hook";
    let body = json!({"url": url, "events": ["alert.triggered"]});
    let id = create(&first, "/v1/webhooks", body).await;
    reader.assert_has(&id, &json!({"url": url})).await;
    let (path, url) = (format!("/v1/webhooks/{id}"), "https://93.184.216.34/other");
    change(&first, "PATCH", &path, json!({"url": url})).await;
    reader.assert_has(&id, &json!({"url": url})).await;
    change(&first, "DELETE", &path, json!({})).await;
    reader.assert_deleted(&id).await;
}

#[tokio::test]
async fn channel_that_one_process_changes_is_changed_in_row_and_list_of_another() {
    let [first, second] = two_processes().await;
    let mut reader = Reader::new(&second, "/v1/notification-channels");
    let config = json!({"url": "https://93.184.216.34/services/secret"});
    let body = json!({"type": "slack", "name": "Trading room", "config": config});
    let id = create(&first, "/v1/notification-channels", body).await;
    reader.assert_has(&id, &json!({"name": "Trading room"})).await;
    let path = format!("/v1/notification-channels/{id}");
    change(&first, "PATCH", &path, json!({"name": "Night desk"})).await;
    reader.assert_has(&id, &json!({"name": "Night desk"})).await;
    change(&first, "DELETE", &path, json!({})).await;
    reader.assert_deleted(&id).await;
}

#[tokio::test]
async fn watchlist_item_that_one_process_changes_is_changed_in_the_list_of_another() {
    let [first, second] = two_processes().await;
    let mut reader = Reader::new(&second, "/v1/watchlist");
    let body = json!({"stock_symbol": "AAPL", "intention": "buy", "target_price": 80, "auto_alerts_enabled": false});
    let id = create(&first, "/v1/watchlist", body).await;
    let path = format!("/v1/watchlist/{id}");
    assert_eq!(reader.changed_list().await[0]["target_price"], 80);
    change(&first, "PATCH", &path, json!({"target_price": 90})).await;
    assert_eq!(reader.changed_list().await[0]["target_price"], 90);
    change(&first, "DELETE", &path, json!({})).await;
    assert_eq!(reader.changed_list().await, [] as [Value; 0]);
}
