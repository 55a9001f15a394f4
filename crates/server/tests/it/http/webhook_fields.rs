//! Webhook fields are applied or rejected, never ignored.

use serde_json::{Value, json};
use server::HttpConfig;

use crate::http::test_server::{TestResponse, TestServer};

const URL: &str = "https://93.184.215.14/hook";

async fn start_servers() -> Vec<TestServer> {
    let mut servers = Vec::new();
    for database in testkit::fresh_databases().await {
        servers.push(TestServer::with_database(database, HttpConfig::default(), |_| ()).await);
    }
    servers
}

async fn create(server: &TestServer, more: Value) -> TestResponse {
    let mut body = json!({"url": URL, "events": ["alert.triggered"]});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    server.post("/v1/webhooks", body).await
}

async fn patch(server: &TestServer, id: &Value, body: Value) -> TestResponse {
    let path = format!("/v1/webhooks/{}", id.as_str().unwrap());
    server.request("PATCH", &path).json(&body).send().await
}

#[tokio::test]
async fn webhook_can_be_created_disabled_and_enabled_later() {
    for server in start_servers().await {
        let created = create(&server, json!({"is_active": false})).await.ok(201);
        let webhook = &created.body["data"];
        assert_eq!(
            (&webhook["is_active"], &webhook["disabled_reason"]),
            (&json!(false), &json!("owner"))
        );
        let listed = server.get("/v1/webhooks").await.ok(200);
        assert_eq!(listed.body["data"][0]["is_active"], false);
        assert_eq!(listed.body["data"][0]["disabled_at"], webhook["disabled_at"]);
        let active = patch(&server, &webhook["id"], json!({"is_active": true})).await.ok(200);
        assert_eq!(active.body["data"]["disabled_reason"], Value::Null);
        let active = create(&server, json!({"is_active": true})).await.ok(201);
        assert_eq!(active.body["data"]["is_active"], true);
        let refused = create(&server, json!({"is_active": "no"}))
            .await
            .refused(400, "VALIDATION_ERROR");
        assert!(refused.body["error"]["details"]["fields"]["is_active"].is_array());
    }
}

#[tokio::test]
async fn secret_and_signature_cannot_be_patched() {
    for server in start_servers().await {
        let created = create(&server, json!({})).await.ok(201);
        let id = &created.body["data"]["id"];
        for (field, value, fix) in [
            ("secret", "another", "rotate-secret"),
            ("signature", "body", "create another"),
        ] {
            let refused = patch(&server, id, json!({field: value, "is_active": false})).await;
            let refused = refused.refused(400, "VALIDATION_ERROR");
            let fault = refused.body["error"]["details"]["fields"][field][0].as_str().unwrap();
            assert!(fault.contains(fix), "{fault}");
            let _ = patch(&server, id, json!({field: null})).await.ok(200);
        }
        let path = format!("/v1/webhooks/{}", id.as_str().unwrap());
        assert_eq!(
            server.get(&path).await.ok(200).body["data"]["is_active"],
            true,
            "nothing was changed"
        );
    }
}
