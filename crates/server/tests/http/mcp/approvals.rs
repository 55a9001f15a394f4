//! Agents that wait for the account's owner.

use serde_json::{Value, json};
use testkit::Database;

use super::call_of;
use crate::world::{Answer, World};

struct Owner {
    world: World,
    token: String,
}

impl Owner {
    /// An owner who has agents wait, and whose agent shows the key "test".
    async fn on(database: Database) -> Self {
        let world = World::on(database, server::Settings::default(), |_| ()).await;
        world.stock_at("AAPL", 189.2).await;
        let operator = world.signed_in("operator@example.com").await;
        let token = format!("Bearer {}", operator.access);
        let owner = Self { world, token };
        let answer = owner.say(json!({"required": true})).await.ok(200);
        assert_eq!(
            answer.body["data"],
            json!({"required": true, "approval": null, "result": null})
        );
        owner
    }

    async fn say(&self, body: Value) -> Answer {
        let asked = self
            .world
            .stranger("POST", "/v1/approvals")
            .header("authorization", &self.token);
        asked.json(&body).send().await
    }

    async fn asked(&self) -> Value {
        let asked = self
            .world
            .stranger("GET", "/v1/approvals")
            .header("authorization", &self.token);
        asked.send().await.ok(200).body["data"]["approvals"].clone()
    }

    /// What an agent's call has wait.
    async fn waiting(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.world.tool(tool, arguments).await;
        assert_eq!(answer["waits_for_approval"], true, "{answer}");
        assert_eq!(answer["approve_at"], "https://alerts.example.com/approvals");
        answer["approval"].clone()
    }

    async fn alerts(&self) -> usize {
        self.world.get("/v1/alerts").await.ok(200).body["data"]
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
    agents_do_not_wait_unless_the_owner_wants_it,
    what_is_approved_is_done_once_in_the_agents_name,
    what_is_denied_is_never_done,
    the_same_change_waits_once,
    what_would_be_refused_is_refused_at_once,
    what_is_refused_when_it_is_approved_waits_again,
    after_seven_days_it_is_too_late,
    of_twenty_yeses_at_once_one_counts,
    every_change_can_wait,
];

async fn agents_do_not_wait_unless_the_owner_wants_it(database: Database) {
    let owner = Owner::on(database).await;
    let _ = owner.say(json!({"required": false})).await.ok(200);
    let made = owner.world.tool("create_alert", above(200)).await;
    assert_eq!((&made["status"], owner.alerts().await), (&json!("active"), 1));
    assert_eq!(made["created_by"], json!({"kind": "api_key", "name": "test"}));
}

async fn what_is_approved_is_done_once_in_the_agents_name(database: Database) {
    let owner = Owner::on(database).await;
    let waiting = owner.waiting("create_alert", above(200)).await;
    assert_eq!(waiting["preview"], "Make an alert: AAPL price_above 200, told by email");
    assert_eq!((&waiting["status"], owner.alerts().await), (&json!("pending"), 0));
    let yes = json!({"id": waiting["id"], "decision": "approve"});
    let answer = owner.say(yes.clone()).await.ok(200);
    let data = &answer.body["data"];
    assert_eq!(
        (&data["approval"]["status"], owner.alerts().await),
        (&json!("approved"), 1)
    );
    assert_eq!(data["result"]["created_by"], json!({"kind": "api_key", "name": "test"}));
    let _ = owner.say(yes).await.refused(409, "CONFLICT");
    assert_eq!(owner.alerts().await, 1);
}

async fn what_is_denied_is_never_done(database: Database) {
    let owner = Owner::on(database).await;
    let waiting = owner.waiting("create_alert", above(200)).await;
    let answer = owner
        .say(json!({"id": waiting["id"], "decision": "deny"}))
        .await
        .ok(200);
    assert_eq!(answer.body["data"]["approval"]["status"], "denied");
    let _ = owner
        .say(json!({"id": waiting["id"], "decision": "approve"}))
        .await
        .refused(409, "CONFLICT");
    assert_eq!(owner.alerts().await, 0);
}

async fn the_same_change_waits_once(database: Database) {
    let owner = Owner::on(database).await;
    let first = owner.waiting("create_alert", above(200)).await;
    assert_eq!(owner.waiting("create_alert", above(200)).await["id"], first["id"]);
    assert_ne!(owner.waiting("create_alert", above(210)).await["id"], first["id"]);
    assert_eq!(owner.asked().await.as_array().unwrap().len(), 2);
}

async fn what_would_be_refused_is_refused_at_once(database: Database) {
    let owner = Owner::on(database).await;
    let nobody = "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11";
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
        ("pause_alert", json!({"alert_id": nobody}), "no such alert"),
        (
            "delete_watchlist_item",
            json!({"item_id": nobody, "confirm": true}),
            "no such watchlist item",
        ),
    ] {
        let text = owner.world.refused(tool, arguments).await;
        assert!(text.contains(part), "{tool}: {text}");
    }
    assert_eq!(owner.asked().await, json!([]));
}

async fn what_is_refused_when_it_is_approved_waits_again(database: Database) {
    let owner = Owner::on(database).await;
    let alert = owner.world.alert(200).await;
    let waiting = owner.waiting("pause_alert", json!({"alert_id": alert})).await;
    let gone = owner.world.request("DELETE", &format!("/v1/alerts/{alert}"));
    let _ = gone.send().await.ok(200);
    let yes = json!({"id": waiting["id"], "decision": "approve"});
    let _ = owner.say(yes).await.refused(404, "NOT_FOUND");
    assert_eq!(owner.asked().await[0]["status"], "pending");
}

async fn after_seven_days_it_is_too_late(database: Database) {
    let owner = Owner::on(database).await;
    let (first, second) = (
        owner.waiting("create_alert", above(200)).await,
        owner.waiting("create_alert", above(210)).await,
    );
    let week = jiff::SignedDuration::from_hours(7 * 24);
    let again = async |seconds| {
        owner
            .world
            .clock
            .advance(week - jiff::SignedDuration::from_secs(seconds));
        let operator = owner.world.signed_in("operator@example.com").await;
        format!("Bearer {}", operator.access)
    };
    let say = async |token: &str, id: &Value| {
        let asked = owner
            .world
            .stranger("POST", "/v1/approvals")
            .header("authorization", token);
        asked.json(&json!({"id": id, "decision": "approve"})).send().await
    };
    let token = again(1).await;
    let _ = say(&token, &first["id"]).await.ok(200);
    owner.world.clock.advance(jiff::SignedDuration::from_secs(1));
    let _ = say(&token, &second["id"]).await.refused(409, "CONFLICT");
}

async fn of_twenty_yeses_at_once_one_counts(database: Database) {
    let owner = Owner::on(database).await;
    let waiting = owner.waiting("create_alert", above(200)).await;
    let yes = json!({"id": waiting["id"], "decision": "approve"});
    let all = (0..20).map(|_| owner.say(yes.clone()));
    let answers = futures_util::future::join_all(all).await;
    let done = answers.iter().filter(|answer| answer.status == 200).count();
    let decided = answers.iter().filter(|answer| answer.status == 409).count();
    assert_eq!((done, decided, owner.alerts().await), (1, 19, 1));
}

async fn every_change_can_wait(database: Database) {
    let owner = Owner::on(database).await;
    let alert = owner.world.alert(200).await;
    let item = json!({"stock_symbol": "AAPL", "intention": "buy"});
    let item = owner.world.post("/v1/watchlist", item).await.ok(201).body["data"]["id"].clone();
    owner.world.stock_at("MSFT", 100.0).await;
    for (tool, arguments, preview) in [
        (
            "update_alert",
            json!({"alert_id": alert, "threshold": 210}),
            "Change the alert AAPL price_above 200 to AAPL price_above 210, told by email",
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
        let waiting = owner.waiting(tool, arguments).await;
        assert_eq!(waiting["preview"], preview, "{tool}");
        let answer = owner.say(json!({"id": waiting["id"], "decision": "approve"})).await;
        assert_eq!(answer.status, 200, "{tool}: {answer:?}");
    }
    assert_eq!(owner.world.get(&format!("/v1/alerts/{alert}")).await.status, 404);
    let watched = owner.world.get("/v1/watchlist").await.ok(200).body["data"].clone();
    let symbols: Vec<_> = watched
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["stock_symbol"])
        .collect();
    assert_eq!(symbols, ["MSFT"]);
}

#[tokio::test]
async fn no_agent_approves_for_its_owner() {
    let owner = Owner::on(Database::sqlite()).await;
    let waiting = owner.waiting("create_alert", above(200)).await;
    let yes = json!({"id": waiting["id"], "decision": "approve"});
    let _ = owner.world.post("/v1/approvals", yes).await.refused(403, "FORBIDDEN");
    let _ = owner
        .world
        .post("/v1/approvals", json!({"required": false}))
        .await
        .refused(403, "FORBIDDEN");
    let _ = owner.world.get("/v1/approvals").await.refused(403, "FORBIDDEN");
    assert_eq!(owner.alerts().await, 0);
}

#[tokio::test]
async fn what_says_nothing_is_refused() {
    let owner = Owner::on(Database::sqlite()).await;
    for body in [
        json!({}),
        json!({"id": "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11"}),
        json!({"decision": "approve"}),
        json!({"required": "yes"}),
        json!({"id": "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11", "decision": "maybe"}),
    ] {
        let answer = owner.say(body.clone()).await;
        let _ = answer.refused(422, "VALIDATION_ERROR");
    }
    let unknown = json!({"id": "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11", "decision": "approve"});
    let _ = owner.say(unknown).await.refused(404, "NOT_FOUND");
    let _ = owner
        .say(json!({"id": "x", "decision": "approve"}))
        .await
        .refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn a_call_of_a_tool_does_not_wait_for_what_only_reads() {
    let owner = Owner::on(Database::sqlite()).await;
    let answer = owner.world.rpc(&call_of("list_alerts", json!({}))).await.is(200);
    assert_eq!(answer.body["result"]["structuredContent"]["items"], json!([]));
}
