//! Notes of first-party clients in an alert's history.

use alerts::Plan;
use serde_json::{Value, json};

use crate::http::test_server::{TestServer, above};
use crate::http::test_user::TestUser;

const PATH: &str = "/v1/alerts/history";

async fn alert_of(user: &TestUser<'_>) -> String {
    user.server.set_price("AAPL", 100.0).await;
    let made = user.post("/v1/alerts", above(200)).await.ok(201);
    made.body["data"]["id"].as_str().unwrap().to_owned()
}

fn note(id: &str) -> Value {
    json!({
        "alert_id": id, "symbol": "aapl", "action_type": "notification_sent", "previous_status": "active",
        "new_status": "triggered", "alert_data": {"b": 1.0, "a": ["x"]}, "trigger_price": 200.01,
        "notification_status": "sent",
    })
}

#[tokio::test]
async fn note_is_recorded_without_changing_the_alert() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Basic).await;
    let id = alert_of(&ann).await;
    let before = ann.get(&format!("/v1/alerts/{id}")).await.ok(200);
    let noted = ann.post(PATH, note(&id)).await.ok(200);
    assert_eq!(noted.body["data"], json!({"success": true}));
    let entry = ann.get(&format!("/v1/alerts/{id}/history")).await.ok(200).body["data"][0].clone();
    assert_eq!(
        entry,
        json!({
            "position": entry["position"], "alert_id": id, "symbol": "AAPL", "action_type": "notification_sent",
            "action_timestamp": "2024-03-08T15:00:00.000Z", "previous_status": "active", "new_status": "triggered",
            "trigger_price": 200.01,
            "details": {"source": "client", "alert_data": {"b": 1, "a": ["x"]}, "notification_status": "sent"},
        })
    );
    let after = ann.get(&format!("/v1/alerts/{id}")).await.ok(200);
    assert_eq!(before.body["data"], after.body["data"]);
}

#[tokio::test]
async fn notes_require_a_session() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Basic).await;
    let id = alert_of(&ann).await;
    let by_cookie = async |origin: &str| {
        let request = server.anonymous("POST", PATH).header("origin", origin);
        let cookie = format!("__Host-bellwether_session={}", ann.cookie);
        request.header("cookie", &cookie).json(&note(&id)).send().await
    };
    let _ = by_cookie("https://alerts.example.com").await.ok(200);
    let _ = by_cookie("https://evil.example.com").await.refused(403, "FORBIDDEN");
    let refused = ann
        .send_with_key("POST", PATH, Some(note(&id)))
        .await
        .refused(403, "FORBIDDEN");
    assert_eq!(refused.body["error"]["details"]["reason"], "session_required");
    let unauthenticated = server.anonymous("POST", PATH).json(&note(&id)).send().await;
    let _ = unauthenticated.refused(401, "UNAUTHORIZED");
}

#[tokio::test]
async fn note_requires_an_own_alert_and_its_stock() {
    let server = TestServer::new().await;
    let (ann, bob) = (
        server.create_user("ann", Plan::Basic).await,
        server.create_user("bob", Plan::Basic).await,
    );
    let id = alert_of(&ann).await;
    let _ = bob.post(PATH, note(&id)).await.refused(404, "NOT_FOUND");
    let mut wrong = note(&id);
    wrong["symbol"] = json!("MSFT");
    let refused = ann.post(PATH, wrong).await.refused(422, "VALIDATION_ERROR");
    let faults = &refused.body["error"]["details"]["fields"]["symbol"];
    assert_eq!(*faults, json!(["must be AAPL, which this alert is about"]));
    let _ = ann.request("DELETE", &format!("/v1/alerts/{id}")).send().await.ok(200);
    let mut deleted = note(&id);
    deleted["new_status"] = json!("deleted");
    let _ = ann.post(PATH, deleted).await.ok(200);
    let history = ann.get(&format!("/v1/alerts/{id}/history")).await.ok(200);
    assert_eq!(history.body["data"][0]["new_status"], "deleted");
}
