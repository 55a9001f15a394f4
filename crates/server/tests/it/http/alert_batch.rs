//! Many changes of alerts over HTTP, and alerts that programs manage.

use alerts::Plan;
use foundation::Scope;
use serde_json::{Value, json};

use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::{TestServer, above};

on_each_database! {
    batch_returns_the_alerts_in_the_order_of_the_request
    errors_are_those_of_single_requests
    repeated_batch_with_an_idempotency_key_gets_the_first_response
    list_is_filtered_by_source
    unmanaged_alert_has_no_managed_by
    batch_requires_the_scope_of_writes
    source_that_has_changed_meanwhile_is_409
    form_of_a_batch_is_checked
    guest_cannot_send_managed_by
}

const BATCH: &str = "/v1/alerts/batch";

fn managed(threshold: i64, name: &str) -> Value {
    let mut body = above(threshold);
    body["managed_by"] = json!({"source": "team", "name": name});
    body
}

async fn batch_returns_the_alerts_in_the_order_of_the_request(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let first = server.post("/v1/alerts", above(125)).await.ok(201);
    let gone = server.post("/v1/alerts", above(126)).await.ok(201);
    let body = json!({
        "create": [managed(130, "b"), managed(131, "a"), above(125)],
        "update": [{"id": first.body["data"]["id"], "alert": {"note": "sell half"}}],
        "delete": [gone.body["data"]["id"]],
        "source": "team",
    });
    let done = server.post(BATCH, body).await.ok(200);
    let data = &done.body["data"];
    let results = |list: &str| -> Vec<&str> {
        let items = data[list].as_array().unwrap();
        items.iter().map(|item| item["result"].as_str().unwrap()).collect()
    };
    assert_eq!(results("create"), ["created", "created", "existing"]);
    assert_eq!(results("update"), ["updated"]);
    assert_eq!(
        data["create"][0]["alert"]["managed_by"],
        json!({"source": "team", "name": "b"})
    );
    assert_eq!(data["create"][2]["alert"]["id"], first.body["data"]["id"]);
    assert_eq!(data["update"][0]["alert"]["note"], "sell half");
    assert_eq!(data["delete"][0]["alert_id"], gone.body["data"]["id"]);
    assert_eq!((&data["dry_run"], &data["source_revision"]), (&json!(false), &json!(2)));
    let empty = server.post(BATCH, json!({})).await.ok(200);
    assert_eq!(empty.body["data"]["source_revision"], Value::Null);
}

async fn errors_are_those_of_single_requests(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let unknown = "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11";
    let invalid = json!({"symbol": "AAPL", "condition": "new_high", "threshold": 3});
    let single = server.post("/v1/alerts", invalid.clone()).await;
    let body = json!({"create": [above(130), invalid], "update": [{"id": unknown, "alert": {}}], "delete": ["7"]});
    let refused = server.post(BATCH, body).await;
    assert_eq!(refused.status, 422, "{refused:?}");
    let error = &refused.body["error"];
    let items = error["details"]["refused"].as_array().unwrap();
    let places: Vec<_> = items
        .iter()
        .map(|item| {
            (
                item["list"].as_str().unwrap(),
                item["index"].as_u64().unwrap(),
                item["status"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(places, [("create", 1, 422), ("update", 0, 404), ("delete", 0, 422)]);
    for name in ["code", "message", "details"] {
        assert_eq!(items[0][name], single.body["error"][name], "{name}");
    }
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("create.1: threshold: must be omitted for new_high"),
        "{message}"
    );
    assert_eq!(server.get("/v1/alerts").await.ok(200).body["data"], json!([]));
}

async fn repeated_batch_with_an_idempotency_key_gets_the_first_response(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let send = async || {
        let request = server.request("POST", BATCH).json(&json!({"create": [above(130)]}));
        request.header("Idempotency-Key", "batch-1").send().await.ok(200)
    };
    let (first, second) = (send().await, send().await);
    assert_eq!(first.body["data"], second.body["data"]);
    assert_eq!(second.body["data"]["create"][0]["result"], "created");
}

async fn list_is_filtered_by_source(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    server
        .post(BATCH, json!({"create": [managed(130, "a"), above(131)]}))
        .await
        .ok(200);
    let listed = server.get("/v1/alerts?source=team").await.ok(200);
    assert_eq!(listed.body["data"].as_array().unwrap().len(), 1);
    assert_eq!(listed.body["data"][0]["managed_by"]["name"], "a");
    assert_eq!(listed.body["meta"]["pagination"]["total"], 1);
    for other in ["other", "te%25", "Team"] {
        let none = server.get(&format!("/v1/alerts?source={other}")).await.ok(200);
        assert_eq!(none.body["data"], json!([]), "{other}");
    }
}

async fn unmanaged_alert_has_no_managed_by(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let made = server.post("/v1/alerts", above(125)).await.ok(201);
    let listed = server.get("/v1/alerts").await.ok(200);
    assert!(!made.text.contains("managed_by") && !listed.text.contains("managed_by"));
    let ann = server.create_user("ann", Plan::Premium).await;
    ann.post("/v1/alerts", managed(126, "a")).await.ok(201);
    let export = ann.get("/v1/user/account/export").await.ok(200);
    let expected = json!({"source": "team", "name": "a"});
    assert_eq!(export.body["data"]["alerts"][0]["managed_by"], expected);
}

async fn batch_requires_the_scope_of_writes(server: TestServer) {
    let key = server
        .account("ann@example.com", Plan::Basic, false, &[Scope::AlertsRead])
        .await;
    let request = server.anonymous("POST", BATCH).header("X-API-Key", &key);
    let refused = request.json(&json!({"dry_run": true})).send().await;
    assert_eq!(refused.status, 403, "{refused:?}");
    assert_eq!(refused.body["error"]["details"]["required"], "alerts:write");
    let anonymous = server
        .anonymous("POST", BATCH)
        .json(&json!({"dry_run": true}))
        .send()
        .await;
    assert_eq!(anonymous.status, 401, "{anonymous:?}");
}

async fn source_that_has_changed_meanwhile_is_409(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let apply = |threshold: i64, name: &str| json!({"create": [managed(threshold, name)], "source": "team", "expected_source_revision": 0});
    server.post(BATCH, apply(130, "a")).await.ok(200);
    let refused = server.post(BATCH, apply(131, "b")).await;
    assert_eq!(refused.status, 409, "{refused:?}");
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("somebody else has changed the alerts of team"),
        "{message}"
    );
}

async fn form_of_a_batch_is_checked(server: TestServer) {
    let refused = server.post(BATCH, json!({"creates": [], "dry_run": "yes"})).await;
    assert_eq!(refused.status, 422, "{refused:?}");
    let fields = refused.body["error"]["details"]["fields"].as_object().unwrap();
    assert_eq!(fields.keys().collect::<Vec<_>>(), ["creates", "dry_run"]);
    let too_many = json!({"create": vec![json!({}); 1_001]});
    assert_eq!(server.post(BATCH, too_many).await.status, 422);
}

async fn guest_cannot_send_managed_by(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let mut body = managed(130, "a");
    body["email"] = json!("guest@example.com");
    let refused = server.anonymous("POST", "/v1/alerts").json(&body).send().await;
    assert_eq!(refused.status, 422, "{refused:?}");
    assert!(
        refused.body["error"]["details"]["fields"]["managed_by"].is_array(),
        "{refused:?}"
    );
}
