//! Notification channels over HTTP.

use foundation::Scope;
use serde_json::{Value, json};
use server::HttpConfig;
use testkit::Database;
use testkit::stub_server::{StubResponse, StubServer};

use crate::http::test_server::{TestResponse, TestServer};

const PATH: &str = "/v1/notification-channels";

/// Starts a server that sends to addresses of this machine, on an empty database of the same kind.
pub(crate) async fn start_server(database: &Database) -> TestServer {
    let is_sqlite = database.url().starts_with("sqlite");
    let fresh = if is_sqlite {
        Database::sqlite()
    } else {
        Database::postgres().await
    };
    TestServer::with_database(fresh, HttpConfig::default(), |settings| {
        settings.delivery.webhooks.allow_private = vec!["127.0.0.0/8".parse().unwrap()];
    })
    .await
}

pub(crate) async fn patch(server: &TestServer, path: &str, body: Value) -> TestResponse {
    server.request("PATCH", path).json(&body).send().await
}

/// The public key of a browser.
pub(crate) const P256DH: &str =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";

/// Returns the only channel.
async fn listed_channel(server: &TestServer) -> Value {
    server.get(PATH).await.ok(200).body["data"][0].clone()
}

fn path_of(channel: &Value) -> String {
    format!("{PATH}/{}", channel["id"].as_str().unwrap())
}

testkit::on_both_databases! {
    async fn slack_channel_is_created_tested_changed_and_deleted(database) {
        let server = start_server(database).await;
        let slack = StubServer::start(StubResponse::complete("200 OK", "", "ok")).await;
        let url = format!("{}/services/very-secret", slack.origin());
        let body = json!({"type": "slack", "name": "Trading room", "config": {"url": url}});
        let created = server.post(PATH, body).await.ok(201);
        let channel = created.body["data"].clone();
        let expected = json!({
            "id": channel["id"], "type": "slack", "name": "Trading room", "config": {"url": "***"}, "templates": null, "burst_limit": null, "digest": null, "daily_budget": null, "verified_at": null,
            "created_at": "2024-03-08T15:00:00.000Z", "last_success_at": null, "last_error": null, "enabled": true,
        });
        assert_eq!(channel, expected);
        let path = path_of(&channel);
        let tested = server.post(&format!("{path}/test"), json!({})).await.ok(200);
        assert_eq!(tested.body["data"], json!({"accepted": true, "http_status": 200, "error": null}));
        let read = server.get(&path).await.ok(200);
        assert_eq!(read.body["data"]["verified_at"], "2024-03-08T15:00:00.000Z");
        let listed = server.get(PATH).await.ok(200);
        assert_eq!(listed.body["data"], json!([read.body["data"]]));

        slack.set_response(StubResponse::complete("404 Not Found", "", "no_service"));
        let tested = server.post(&format!("{path}/test"), json!({})).await.ok(200);
        assert_eq!((&tested.body["data"]["accepted"], &tested.body["data"]["http_status"]), (&json!(false), &json!(404)));
        let changed = patch(&server, &path, json!({"name": "Desk", "enabled": false, "config": {"url": "***"}})).await.ok(200);
        assert_eq!((&changed.body["data"]["name"], &changed.body["data"]["enabled"]), (&json!("Desk"), &json!(false)));
        assert_eq!(changed.body["data"]["last_error"], tested.body["data"]["error"]);
        let deleted = server.request("DELETE", &path).send().await.ok(200);
        assert_eq!(deleted.body["data"], json!({"id": channel["id"], "deleted": true}));
        for method in ["GET", "DELETE"] {
            let _ = server.request(method, &path).send().await.refused(404, "NOT_FOUND");
        }
        for response in [created, read, listed, changed] {
            assert!(!response.text.contains("very-secret"));
        }
    }

    async fn browser_subscribes_with_the_public_key_and_has_one_channel(database) {
        let mut server = start_server(database).await;
        let push = StubServer::start(StubResponse::complete("201 Created", "", "")).await;
        let key = server.get(&format!("{PATH}/web-push-key")).await.ok(200).body["data"]["public_key"].clone();
        assert_eq!(key.as_str().map(str::len), Some(87));
        let config = json!({"endpoint": format!("{}/very-secret", push.origin()), "p256dh": P256DH, "auth": "BTBZMqHH6r4Tts7J_aSIgg"});
        let body = json!({"type": "web_push", "name": "Laptop", "config": config});
        let created = server.post(PATH, body.clone()).await.ok(201);
        assert_eq!(created.body["data"]["config"], json!({"endpoint": "***", "p256dh": "***", "auth": "***"}));
        let again = server.post(PATH, body).await.ok(200);
        assert_eq!(again.body["data"], created.body["data"]);
        let tested = server.post(&format!("{}/test", path_of(&created.body["data"])), json!({})).await.ok(200);
        assert_eq!(tested.body["data"], json!({"accepted": true, "http_status": 201, "error": null}));
        let authorization = push.next_request().await.headers["authorization"].clone();
        assert!(authorization.ends_with(&format!(", k={}", key.as_str().unwrap())), "{authorization}");
        let listed = server.get(PATH).await.ok(200);
        assert_eq!(listed.body["data"].as_array().map(Vec::len), Some(1));
        for response in [created, listed] {
            assert!(!response.text.contains("very-secret") && !response.text.contains(P256DH));
        }
        push.set_response(StubResponse::complete("410 Gone", "", ""));
        let tested = server.post(&format!("{}/test", path_of(&listed_channel(&server).await)), json!({})).await.ok(200);
        assert_eq!(tested.body["data"]["http_status"], 410);
        assert_eq!(server.get(PATH).await.ok(200).body["data"], json!([]));
        server.key = server.another_key("operator@example.com", &[Scope::AlertsRead]).await;
        let _ = server.get(&format!("{PATH}/web-push-key")).await.refused(403, "FORBIDDEN");
        let _ = server.anonymous("GET", &format!("{PATH}/web-push-key")).send().await.refused(401, "UNAUTHORIZED");
    }

    async fn errors_are_422_by_field_and_unknown_ids_404(database) {
        let server = start_server(database).await;
        for (body, field) in [
            (json!({"type": "slack", "config": {"url": "http://93.184.216.34"}}), "config.url"),
            (json!({"type": "slack", "config": {"url": "https://10.0.0.1"}}), "config.url"),
            (json!({"type": "discord"}), "config.url"),
            (json!({"type": "ntfy", "config": {"topic": "a/b"}}), "config.topic"),
            (json!({"type": "webhook", "config": {"webhook_id": "0d9f5a5e-31e0-4cc7-8f36-5d4a8b7a1f0e"}}), "config.webhook_id"),
            (json!({"type": "slack", "config": {"hook": "a"}}), "config.hook"),
            (json!({"type": "web_push", "config": {"endpoint": "https://10.0.0.1", "p256dh": P256DH, "auth": "BTBZMqHH6r4Tts7J_aSIgg"}}), "config.endpoint"),
            (json!({"type": "web_push", "config": {"endpoint": "https://a.example", "p256dh": "A".repeat(87), "auth": "BTBZMqHH6r4Tts7J_aSIgg"}}), "config.p256dh"),
            (json!({"type": "web_push", "config": {"endpoint": "https://a.example", "p256dh": P256DH, "auth": "AA"}}), "config.auth"),
            (json!({"type": "fax"}), "type"),
        ] {
            let refused = server.post(PATH, body.clone()).await.refused(422, "VALIDATION_ERROR");
            assert!(refused.body["error"]["details"]["fields"][field].is_array(), "{body} {refused:?}");
        }
        for id in ["0d9f5a5e-31e0-4cc7-8f36-5d4a8b7a1f0e", "7"] {
            let path = format!("{PATH}/{id}");
            let _ = server.get(&path).await.refused(404, "NOT_FOUND");
            let _ = patch(&server, &path, json!({"name": "a"})).await.refused(404, "NOT_FOUND");
            let _ = server.request("DELETE", &path).send().await.refused(404, "NOT_FOUND");
            let _ = server.post(&format!("{path}/test"), json!({})).await.refused(404, "NOT_FOUND");
        }
    }

    async fn scopes_are_those_of_webhooks(database) {
        let mut server = start_server(database).await;
        let channel = server.post(PATH, json!({"type": "sms"})).await.ok(201).body["data"].clone();
        let path = path_of(&channel);
        server.key = server.another_key("operator@example.com", &[Scope::WebhooksRead]).await;
        let _ = server.get(PATH).await.ok(200);
        let _ = server.get(&path).await.ok(200);
        let _ = server.post(PATH, json!({"type": "sms"})).await.refused(403, "FORBIDDEN");
        let _ = patch(&server, &path, json!({"name": "a"})).await.refused(403, "FORBIDDEN");
        let _ = server.post(&format!("{path}/test"), json!({})).await.refused(403, "FORBIDDEN");
        let _ = server.request("DELETE", &path).send().await.refused(403, "FORBIDDEN");
        server.key = server.another_key("operator@example.com", &[Scope::AlertsRead]).await;
        let _ = server.get(PATH).await.refused(403, "FORBIDDEN");
        let _ = server.anonymous("GET", PATH).send().await.refused(401, "UNAUTHORIZED");
    }

    async fn telegram_channel_has_a_code(database) {
        let server = start_server(database).await;
        let body = json!({"type": "telegram", "config": {"bot_token": "123456:ABC-DEF1234ghIkl"}});
        let created = server.post(PATH, body).await.ok(201).body["data"].clone();
        assert_eq!(created["config"], json!({"bot_token": "***"}));
        assert_eq!(created["link"]["expires_at"], "2024-03-08T15:15:00.000Z");
        assert_eq!(created["link"]["code"].as_str().map(str::len), Some(16));
        let read = server.get(&path_of(&created)).await.ok(200);
        assert_eq!(read.body["data"]["link"], Value::Null);
        let tested = server.post(&format!("{}/test", path_of(&created)), json!({})).await.ok(200);
        assert_eq!((&tested.body["data"]["accepted"], &tested.body["data"]["http_status"]), (&json!(false), &Value::Null));
    }

    async fn link_page_verifies_an_address_on_post_only(database) {
        let server = start_server(database).await;
        let body = json!({"type": "email", "config": {"address": "desk@example.org"}});
        let path = path_of(&server.post(PATH, body).await.ok(201).body["data"]);
        let token = testkit::eventually_some("the link is sent", async || {
            let outbox = server.get("/v1/outbox?to=desk@example.org").await.ok(200);
            let text = outbox.body["data"][0]["text"].as_str()?.to_owned();
            let (_, rest) = text.split_once("/confirm-channel?token=")?;
            Some(rest[..43].to_owned())
        })
        .await;
        let page = server.anonymous("GET", &format!("/confirm-channel?token={token}")).send().await;
        assert!(page.status == 200 && page.text.contains("Receive alerts at this address?"), "{page:?}");
        assert_eq!(server.get(&path).await.ok(200).body["data"]["verified_at"], Value::Null);
        let submit = || {
            let request = server.anonymous("POST", "/confirm-channel").body(format!("token={token}"));
            request.header("content-type", "application/x-www-form-urlencoded")
        };
        let page = submit().send().await;
        assert!(page.status == 200 && page.text.contains("desk@example.org"), "{page:?}");
        assert_eq!(server.get(&path).await.ok(200).body["data"]["verified_at"], "2024-03-08T15:00:00.000Z");
        assert_eq!(submit().send().await.status, 400);
        assert_eq!(server.anonymous("GET", "/confirm-channel?token=short").send().await.status, 400);
    }
}
