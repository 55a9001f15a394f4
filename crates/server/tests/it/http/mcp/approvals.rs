//! Changes of agents that require the owner's approval.

use serde_json::{Value, json};
use testkit::Database;

use super::call_of;
use crate::http::test_server::{TestResponse, TestServer};

struct Owner {
    server: TestServer,
    token: String,
}

impl Owner {
    /// Creates an owner who requires approvals, with an agent that uses the key "test".
    async fn on(database: Database) -> Self {
        let server = TestServer::with_database(database, server::HttpConfig::default(), |_| ()).await;
        server.set_price("AAPL", 189.2).await;
        let operator = server.signed_in("operator@example.com").await;
        let token = format!("Bearer {}", operator.access);
        let owner = Self { server, token };
        let response = owner.decide(json!({"required": true})).await.ok(200);
        assert_eq!(
            response.body["data"],
            json!({"required": true, "approval": null, "result": null})
        );
        owner
    }

    async fn decide(&self, body: Value) -> TestResponse {
        let asked = self
            .server
            .anonymous("POST", "/v1/approvals")
            .header("authorization", &self.token);
        asked.json(&body).send().await
    }

    async fn approvals(&self) -> Value {
        let asked = self
            .server
            .anonymous("GET", "/v1/approvals")
            .header("authorization", &self.token);
        asked.send().await.ok(200).body["data"]["approvals"].clone()
    }

    /// Calls a tool and returns the pending approval.
    async fn request_change(&self, tool: &str, arguments: Value) -> Value {
        let response = self.server.tool(tool, arguments).await;
        assert_eq!(response["waits_for_approval"], true, "{response}");
        assert_eq!(response["approve_at"], "https://alerts.example.com/approvals");
        response["approval"].clone()
    }

    async fn alerts(&self) -> usize {
        self.server.get("/v1/alerts").await.ok(200).body["data"]
            .as_array()
            .unwrap()
            .len()
    }
}

fn above(threshold: i64) -> Value {
    json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold})
}

macro_rules! on_both {
    ($($name:ident),* $(,)?) => {
        mod sqlite { $(#[tokio::test] async fn $name() { super::$name(testkit::Database::sqlite()).await; })* }
        mod postgresql { $(#[tokio::test] async fn $name() { super::$name(testkit::Database::postgres().await).await; })* }
    };
}

on_both![
    changes_need_no_approval_by_default,
    approved_change_is_made_once_as_the_agent,
    denied_change_is_never_made,
    same_change_waits_once,
    invalid_change_is_rejected_immediately,
    failed_approval_stays_pending,
    approval_expires_after_seven_days,
    only_one_of_twenty_concurrent_approvals_counts,
    every_change_can_require_approval,
    preview_names_the_channels_of_a_route,
];

async fn preview_names_the_channels_of_a_route(database: Database) {
    let owner = Owner::on(database).await;
    let mut ids = Vec::new();
    for name in ["Phone", "Second phone"] {
        let body = json!({"type": "sms", "name": name});
        let created = owner.server.post("/v1/notification-channels", body).await.ok(201);
        ids.push(created.body["data"]["id"].clone());
    }
    let mut arguments = above(200);
    arguments["channels"] = json!(ids);
    arguments["urgent"] = json!(true);
    let all = owner.request_change("create_alert", arguments.clone()).await;
    let preview = "Make an alert: AAPL price_above 200, notified by email, sent to Phone and Second phone, also during quiet hours";
    assert_eq!(all["preview"], preview);
    arguments["policy"] = json!("failover");
    arguments["ack_timeout"] = json!("15m");
    let failover = owner.request_change("create_alert", arguments.clone()).await;
    let part = "sent to Phone, then Second phone, each after 15m without an acknowledgement";
    assert!(failover["preview"].as_str().unwrap().contains(part), "{failover}");
    arguments["channels"] = json!(["0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11"]);
    let refused = owner.server.refused("create_alert", arguments).await;
    assert!(
        refused.contains("must be ids of your notification channels"),
        "{refused}"
    );
}

async fn changes_need_no_approval_by_default(database: Database) {
    let owner = Owner::on(database).await;
    let _ = owner.decide(json!({"required": false})).await.ok(200);
    let made = owner.server.tool("create_alert", above(200)).await;
    assert_eq!((&made["status"], owner.alerts().await), (&json!("active"), 1));
    assert_eq!(made["created_by"], json!({"kind": "api_key", "name": "test"}));
}

async fn approved_change_is_made_once_as_the_agent(database: Database) {
    let owner = Owner::on(database).await;
    let waiting = owner.request_change("create_alert", above(200)).await;
    assert_eq!(
        waiting["preview"],
        "Make an alert: AAPL price_above 200, notified by email"
    );
    assert_eq!((&waiting["status"], owner.alerts().await), (&json!("pending"), 0));
    let yes = json!({"id": waiting["id"], "decision": "approve"});
    let response = owner.decide(yes.clone()).await.ok(200);
    let data = &response.body["data"];
    assert_eq!(
        (&data["approval"]["status"], owner.alerts().await),
        (&json!("approved"), 1)
    );
    assert_eq!(data["result"]["created_by"], json!({"kind": "api_key", "name": "test"}));
    let _ = owner.decide(yes).await.refused(409, "CONFLICT");
    assert_eq!(owner.alerts().await, 1);
}

async fn denied_change_is_never_made(database: Database) {
    let owner = Owner::on(database).await;
    let waiting = owner.request_change("create_alert", above(200)).await;
    let response = owner
        .decide(json!({"id": waiting["id"], "decision": "deny"}))
        .await
        .ok(200);
    assert_eq!(response.body["data"]["approval"]["status"], "denied");
    let _ = owner
        .decide(json!({"id": waiting["id"], "decision": "approve"}))
        .await
        .refused(409, "CONFLICT");
    assert_eq!(owner.alerts().await, 0);
}

async fn same_change_waits_once(database: Database) {
    let owner = Owner::on(database).await;
    let first = owner.request_change("create_alert", above(200)).await;
    assert_eq!(
        owner.request_change("create_alert", above(200)).await["id"],
        first["id"]
    );
    assert_ne!(
        owner.request_change("create_alert", above(210)).await["id"],
        first["id"]
    );
    assert_eq!(owner.approvals().await.as_array().unwrap().len(), 2);
}

async fn invalid_change_is_rejected_immediately(database: Database) {
    let owner = Owner::on(database).await;
    let unknown_id = "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11";
    for (tool, arguments, part) in [
        (
            "create_alert",
            json!({"symbol": "AAPL", "condition": "price_above"}),
            "threshold",
        ),
        (
            "create_alert",
            json!({"symbol": "NONE", "condition": "price_above", "threshold": 1}),
            "no such stock",
        ),
        ("pause_alert", json!({"alert_id": unknown_id}), "no such alert"),
        (
            "delete_watchlist_item",
            json!({"item_id": unknown_id, "confirm": true}),
            "no such watchlist item",
        ),
    ] {
        let text = owner.server.refused(tool, arguments).await;
        assert!(text.contains(part), "{tool}: {text}");
    }
    assert_eq!(owner.approvals().await, json!([]));
}

async fn failed_approval_stays_pending(database: Database) {
    let owner = Owner::on(database).await;
    let alert = owner.server.create_alert(200).await;
    let waiting = owner.request_change("pause_alert", json!({"alert_id": alert})).await;
    let gone = owner.server.request("DELETE", &format!("/v1/alerts/{alert}"));
    let _ = gone.send().await.ok(200);
    let yes = json!({"id": waiting["id"], "decision": "approve"});
    let _ = owner.decide(yes).await.refused(404, "NOT_FOUND");
    assert_eq!(owner.approvals().await[0]["status"], "pending");
}

async fn approval_expires_after_seven_days(database: Database) {
    let owner = Owner::on(database).await;
    let (first, second) = (
        owner.request_change("create_alert", above(200)).await,
        owner.request_change("create_alert", above(210)).await,
    );
    let week = jiff::SignedDuration::from_hours(7 * 24);
    let again = async |seconds| {
        owner
            .server
            .clock
            .advance(week - jiff::SignedDuration::from_secs(seconds));
        let operator = owner.server.signed_in("operator@example.com").await;
        format!("Bearer {}", operator.access)
    };
    let say = async |token: &str, id: &Value| {
        let asked = owner
            .server
            .anonymous("POST", "/v1/approvals")
            .header("authorization", token);
        asked.json(&json!({"id": id, "decision": "approve"})).send().await
    };
    let token = again(1).await;
    let _ = say(&token, &first["id"]).await.ok(200);
    owner.server.clock.advance(jiff::SignedDuration::from_secs(1));
    let _ = say(&token, &second["id"]).await.refused(409, "CONFLICT");
}

async fn only_one_of_twenty_concurrent_approvals_counts(database: Database) {
    let owner = Owner::on(database).await;
    let waiting = owner.request_change("create_alert", above(200)).await;
    let yes = json!({"id": waiting["id"], "decision": "approve"});
    let all = (0..20).map(|_| owner.decide(yes.clone()));
    let responses = futures_util::future::join_all(all).await;
    let done = responses.iter().filter(|response| response.status == 200).count();
    let decided = responses.iter().filter(|response| response.status == 409).count();
    assert_eq!((done, decided, owner.alerts().await), (1, 19, 1));
}

async fn every_change_can_require_approval(database: Database) {
    let owner = Owner::on(database).await;
    let alert = owner.server.create_alert(200).await;
    let item = json!({"stock_symbol": "AAPL", "intention": "buy"});
    let item = owner.server.post("/v1/watchlist", item).await.ok(201).body["data"]["id"].clone();
    owner.server.set_price("MSFT", 100.0).await;
    for (tool, arguments, preview) in [
        (
            "update_alert",
            json!({"alert_id": alert, "threshold": 210}),
            "Change the alert AAPL price_above 200 to AAPL price_above 210, notified by email",
        ),
        (
            "pause_alert",
            json!({"alert_id": alert}),
            "Pause the alert AAPL price_above 210",
        ),
        (
            "resume_alert",
            json!({"alert_id": alert}),
            "Make the alert AAPL price_above 210 active again",
        ),
        (
            "delete_alert",
            json!({"alert_id": alert, "confirm": true}),
            "Delete the alert AAPL price_above 210 for good",
        ),
        (
            "create_watchlist_item",
            json!({"stock_symbol": "MSFT", "intention": "sell"}),
            "Add MSFT to the watchlist, to sell",
        ),
        (
            "delete_watchlist_item",
            json!({"item_id": item, "confirm": true}),
            "Take AAPL off the watchlist, with its paper trade and what the analyst made for it",
        ),
    ] {
        let waiting = owner.request_change(tool, arguments).await;
        assert_eq!(waiting["preview"], preview, "{tool}");
        let response = owner.decide(json!({"id": waiting["id"], "decision": "approve"})).await;
        assert_eq!(response.status, 200, "{tool}: {response:?}");
    }
    assert_eq!(owner.server.get(&format!("/v1/alerts/{alert}")).await.status, 404);
    let watched = owner.server.get("/v1/watchlist").await.ok(200).body["data"].clone();
    let symbols: Vec<_> = watched
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["stock_symbol"])
        .collect();
    assert_eq!(symbols, ["MSFT"]);
}

#[tokio::test]
async fn agent_cannot_approve_changes() {
    let owner = Owner::on(Database::sqlite()).await;
    let waiting = owner.request_change("create_alert", above(200)).await;
    let yes = json!({"id": waiting["id"], "decision": "approve"});
    let _ = owner.server.post("/v1/approvals", yes).await.refused(403, "FORBIDDEN");
    let _ = owner
        .server
        .post("/v1/approvals", json!({"required": false}))
        .await
        .refused(403, "FORBIDDEN");
    let _ = owner.server.get("/v1/approvals").await.refused(403, "FORBIDDEN");
    assert_eq!(owner.alerts().await, 0);
}

#[tokio::test]
async fn invalid_decision_is_rejected() {
    let owner = Owner::on(Database::sqlite()).await;
    for body in [
        json!({}),
        json!({"id": "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11"}),
        json!({"decision": "approve"}),
        json!({"required": "yes"}),
        json!({"id": "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11", "decision": "maybe"}),
    ] {
        let response = owner.decide(body.clone()).await;
        let _ = response.refused(422, "VALIDATION_ERROR");
    }
    let unknown = json!({"id": "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11", "decision": "approve"});
    let _ = owner.decide(unknown).await.refused(404, "NOT_FOUND");
    let _ = owner
        .decide(json!({"id": "x", "decision": "approve"}))
        .await
        .refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn read_tools_need_no_approval() {
    let owner = Owner::on(Database::sqlite()).await;
    let response = owner.server.rpc(&call_of("list_alerts", json!({}))).await.is(200);
    assert_eq!(response.body["result"]["structuredContent"]["items"], json!([]));
}
