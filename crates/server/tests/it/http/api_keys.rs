//! API key management.

use alerts::Plan;
use foundation::Scope;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::http::test_server::TestServer;

const PUBLIC: [&str; 7] = [
    "alerts:read",
    "alerts:write",
    "watchlist:read",
    "watchlist:write",
    "webhooks:read",
    "webhooks:write",
    "stocks:read",
];

#[tokio::test]
async fn key_is_shown_once_and_works_until_deleted() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Premium).await;
    let body = json!({"name": " my script ", "scopes": ["alerts:read", "alerts:read"]});
    let made = ann.post("/v1/api-keys", body).await.ok(201);
    assert_eq!(made.header("cache-control"), "no-store");
    let data = &made.body["data"];
    let key = data["api_key"].as_str().unwrap();
    assert!(
        key.len() == 67 && key.starts_with(data["key_prefix"].as_str().unwrap()),
        "{key}"
    );
    let expected = (&json!("my script"), &json!(["alerts:read"]), &json!("premium"));
    assert_eq!((&data["name"], &data["scopes"], &data["rate_limit_tier"]), expected);
    assert_eq!(data["created_at"], "2024-03-08T15:00:00.000Z");
    let show = async |path: &str| server.anonymous("GET", path).header("x-api-key", key).send().await;
    let _ = show("/v1/alerts").await.ok(200);
    let _ = show("/v1/webhooks").await.refused(403, "FORBIDDEN");
    let listed = ann.get("/api/v1/api-keys").await.ok(200);
    assert!(
        !listed.text.contains(key) && !listed.text.contains("api_key\""),
        "{}",
        listed.text
    );
    let listed = listed.body["data"].as_array().unwrap();
    let names: Vec<_> = listed.iter().map(|key| key["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["test", "my script"]);
    assert!(listed[1].as_object().unwrap().contains_key("last_used_at"));
    let path = format!("/v1/api-keys/{}", data["id"].as_str().unwrap());
    let gone = ann.request("DELETE", &path).send().await.ok(200);
    assert_eq!(gone.body["data"], json!({"id": data["id"], "deleted": true}));
    let _ = show("/v1/alerts").await.refused(401, "UNAUTHORIZED");
    let _ = ann.request("DELETE", &path).send().await.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn key_defaults_to_all_public_scopes() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Premium).await;
    for body in [json!({"name": "a"}), json!({"name": "a", "scopes": null})] {
        let made = ann.post("/v1/api-keys", body).await.ok(201);
        assert_eq!(made.body["data"]["scopes"], json!(PUBLIC));
    }
}

#[tokio::test]
async fn invalid_key_request_is_400() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Premium).await;
    for (body, fields) in [
        (json!({}), vec!["name"]),
        (json!({"name": "", "scopes": []}), vec!["name", "scopes"]),
        (json!({"name": 5, "scopes": "alerts:read"}), vec!["name", "scopes"]),
        (json!({"name": "a\nb"}), vec!["name"]),
        (json!({"name": "a".repeat(101)}), vec!["name"]),
        (
            json!({"name": "a", "scopes": ["alerts:read", "moon:read"]}),
            vec!["scopes"],
        ),
        (json!({"name": "a", "scopes": ["market:write"]}), vec!["scopes"]),
        (json!({"name": "a", "scopes": [["alerts:read"]]}), vec!["scopes"]),
    ] {
        let refused = ann
            .post("/v1/api-keys", body.clone())
            .await
            .refused(400, "VALIDATION_ERROR");
        let faults = refused.body["error"]["details"]["fields"].as_object().unwrap().keys();
        assert_eq!(faults.collect::<Vec<_>>(), fields, "{body}");
    }
    let listed = ann.get("/v1/api-keys").await.ok(200);
    assert_eq!(listed.body["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn concurrent_key_creation_respects_the_basic_limit() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Basic).await;
    let full = ann
        .post("/v1/api-keys", json!({"name": "two"}))
        .await
        .refused(403, "FORBIDDEN");
    let details = json!({"reason": "plan", "required": "premium"});
    assert_eq!(full.body["error"]["details"], details);
    let id = ann.get("/v1/api-keys").await.body["data"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let _ = ann
        .request("DELETE", &format!("/v1/api-keys/{id}"))
        .send()
        .await
        .ok(200);
    let wishes = (0..50).map(|n| ann.post("/v1/api-keys", json!({"name": format!("key {n}")})));
    let responses = join_all(wishes).await;
    let made = responses.iter().filter(|response| response.status == 201).count();
    assert_eq!(made, 1);
    let is_of_plan = |response: &&crate::http::test_server::TestResponse| response.body["error"]["details"] == details;
    assert_eq!(responses.iter().filter(is_of_plan).count(), 49);
    assert_eq!(ann.get("/v1/api-keys").await.body["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn keys_cannot_manage_keys() {
    let server = TestServer::new().await;
    let (ann, bob) = (
        server.create_user("ann", Plan::Premium).await,
        server.create_user("bob", Plan::Premium).await,
    );
    let id = bob.get("/v1/api-keys").await.body["data"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    for (method, path, body) in [
        ("GET", "/v1/api-keys".to_owned(), None),
        ("POST", "/v1/api-keys".to_owned(), Some(json!({"name": "a"}))),
        ("DELETE", format!("/v1/api-keys/{id}"), None),
    ] {
        let refused = ann
            .send_with_key(method, &path, body.clone())
            .await
            .refused(403, "FORBIDDEN");
        assert_eq!(
            refused.body["error"]["details"]["reason"], "session_required",
            "{method} {path}"
        );
        let unauthenticated = server
            .anonymous(method, &path)
            .json(&body.unwrap_or(json!({})))
            .send()
            .await;
        let _ = unauthenticated.refused(401, "UNAUTHORIZED");
    }
    for id in [id.as_str(), "nonsense", "00000000-0000-4000-8000-000000000000"] {
        let path = format!("/v1/api-keys/{id}");
        let _ = ann.request("DELETE", &path).send().await.refused(404, "NOT_FOUND");
    }
    let _ = bob.send_with_key("GET", "/v1/alerts", None).await.ok(200);
}

#[tokio::test]
async fn repeated_key_creation_returns_the_same_key() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Premium).await;
    let create = async || {
        let request = ann.request("POST", "/v1/api-keys").header("idempotency-key", "one");
        request.json(&json!({"name": "a"})).send().await.ok(201)
    };
    let (first, repeat) = (create().await, create().await);
    assert_eq!(repeat.header("idempotent-replayed"), "true");
    assert_eq!(first.body["data"], repeat.body["data"]);
    assert_eq!(ann.get("/v1/api-keys").await.body["data"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn operators_can_create_keys_with_operator_scopes() {
    let server = TestServer::new().await;
    let body: Value = json!({"email": "operator@example.com", "password": crate::http::test_user::PASSWORD});
    let signed_in = server
        .anonymous("POST", "/v1/auth/login")
        .json(&body)
        .send()
        .await
        .ok(200);
    let bearer = format!("Bearer {}", signed_in.body["data"]["access_token"].as_str().unwrap());
    let request = server
        .anonymous("POST", "/v1/api-keys")
        .header("authorization", &bearer);
    let all: Vec<_> = Scope::ALL.iter().map(|scope| scope.name()).collect();
    let made = request
        .json(&json!({"name": "all", "scopes": all}))
        .send()
        .await
        .ok(201);
    assert_eq!(made.body["data"]["scopes"], json!(all));
}
