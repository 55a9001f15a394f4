//! Authentication and scopes.

use foundation::Scope;
use serde_json::json;
use server::document;

use crate::http::test_server::TestServer;

const NOBODYS_ID: &str = "11111111-1111-4111-8111-111111111111";

/// Public routes.
const PUBLIC: [&str; 10] = [
    "/api/v1/alerts/verify",
    "/api/v1/auth/confirm",
    "/api/v1/auth/login",
    "/api/v1/auth/magic-link",
    "/api/v1/auth/refresh",
    "/api/v1/auth/register",
    "/api/v1/auth/request-reset",
    "/api/v1/auth/reset-confirm",
    "/api/v1/redirect",
    "/api/v1/user/account/email/confirm",
];

#[tokio::test]
async fn every_documented_route_requires_authentication() {
    let server = TestServer::new().await;
    let document = document::generate();
    let mut asked = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let path = path.replace("{id}", NOBODYS_ID).replace("{symbol}", "AAPL");
            let method = method.to_uppercase();
            let response = server
                .anonymous(&method, &path)
                .header("host", "alerts.example.com")
                .json(&json!({}))
                .send()
                .await;
            let is_public = !["/mcp", "/metrics"].contains(&path.as_str())
                && (!path.starts_with("/api/v1/") || PUBLIC.contains(&path.as_str()));
            assert_eq!(operation["security"] == json!([]), is_public, "{method} {path}");
            if is_public {
                assert!(
                    matches!(response.status, 200 | 400 | 415 | 422),
                    "{method} {path}: {response:?}"
                );
            } else if path == "/mcp" {
                assert_eq!(response.status, 401, "{response:?}");
                assert!(response.headers.contains_key("www-authenticate"));
            } else {
                let refused = response.refused(401, "UNAUTHORIZED");
                assert!(refused.headers.contains_key("www-authenticate"));
                asked += 1;
            }
        }
    }
    assert!(asked >= 15, "only {asked} routes ask who is there");
}

#[tokio::test]
async fn key_is_accepted_from_each_header() {
    let server = TestServer::new().await;
    let wrong = format!("sk_{}", "0".repeat(64));
    for (key, status) in [(server.key.as_str(), 200), (wrong.as_str(), 401)] {
        for (name, value) in [
            ("x-api-key", key.to_owned()),
            ("authorization", format!("ApiKey {key}")),
            ("authorization", format!("Bearer {key}")),
        ] {
            let response = server.anonymous("GET", "/v1/alerts").header(name, &value).send().await;
            assert_eq!(response.status, status, "{name}: {response:?}");
            assert!(!response.text.contains(key));
        }
    }
}

#[tokio::test]
async fn contradictory_keys_are_rejected() {
    let server = TestServer::new().await;
    let request = server
        .request("GET", "/v1/alerts")
        .header("authorization", "Bearer sk_other");
    let _ = request.send().await.refused(401, "UNAUTHORIZED");
}

#[tokio::test]
async fn missing_scope_is_named() {
    let server = TestServer::new().await;
    let key = server
        .account("ann@example.com", alerts::Plan::Basic, false, &[Scope::AlertsRead])
        .await;
    for (method, path, scope) in [
        ("POST", "/v1/alerts", "alerts:write"),
        ("GET", "/v1/quotes?symbols=AAPL", "stocks:read"),
        ("POST", "/v1/market/ingest", "market:write"),
    ] {
        let request = server
            .anonymous(method, path)
            .header("x-api-key", &key)
            .json(&json!({}));
        let refused = request.send().await.refused(403, "FORBIDDEN");
        assert_eq!(
            refused.body["error"]["details"],
            json!({"reason": "scope", "required": scope})
        );
    }
    let _ = server
        .anonymous("GET", "/v1/alerts")
        .header("x-api-key", &key)
        .send()
        .await
        .ok(200);
}

#[tokio::test]
async fn unknown_verification_token_is_404() {
    let server = TestServer::new().await;
    let show = async |body| server.anonymous("POST", "/v1/alerts/verify").json(&body).send().await;
    let _ = show(json!({"token": "vt_1"})).await.refused(404, "NOT_FOUND");
    for body in [
        json!({}),
        json!({"token": ""}),
        json!({"token": 5}),
        json!({"token": null}),
    ] {
        let refused = show(body).await.refused(422, "VALIDATION_ERROR");
        assert!(refused.body["error"]["details"]["fields"]["token"].is_array());
    }
}
