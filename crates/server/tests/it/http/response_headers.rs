//! Headers of every response: caching and HSTS.

use http::Method;
use serde_json::json;
use testkit::Database;

use crate::http::identity::{ANN, PASSWORD, start_server, unlimited};
use crate::http::test_server::{TestServer, above};

#[tokio::test]
async fn private_reads_are_not_cached() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 190.0).await;
    let alert = server.create_alert(200).await;
    for path in [
        format!("/v1/alerts/{alert}").as_str(),
        "/api/v1/user/subscription",
        "/v1/alerts",
        "/v1/webhooks",
        "/v1/stocks/AAPL",
        "/v1/alerts/11111111-1111-4111-8111-111111111111",
    ] {
        let read = server.get(path).await;
        assert_eq!(read.header("cache-control"), "no-store", "{path}");
    }
    let made = server.post("/v1/alerts", above(210)).await;
    assert_eq!(made.header("cache-control"), "no-store");
    let refused = server.anonymous("POST", "/v1/alerts").json(&above(1)).send().await;
    assert_eq!(refused.header("cache-control"), "no-store");
}

#[tokio::test]
async fn cookie_reads_are_not_cached() {
    let server = start_server(Database::sqlite()).await;
    server.confirmed(ANN).await;
    let ann = server.signed_in(ANN).await;
    let read = server
        .anonymous("GET", "/v1/auth/session")
        .header("cookie", &ann.cookie)
        .send()
        .await;
    assert_eq!((read.status, read.header("cache-control")), (200, "no-store"));
    let body = json!({"email": ANN, "password": PASSWORD});
    let login = server.anonymous("POST", "/v1/auth/login").json(&body).send().await;
    assert_eq!((login.status, login.header("cache-control")), (200, "no-store"));
}

#[tokio::test]
async fn existing_cache_control_is_kept() {
    let server = TestServer::new().await;
    let page = server.request("GET", "/docs").send().await;
    assert_eq!(page.header("cache-control"), "no-cache");
    let keys = server.get("/.well-known/jwks.json").await;
    assert!(keys.header("cache-control").contains("max-age"));
}

#[tokio::test]
async fn public_responses_have_no_cache_rule() {
    let server = TestServer::new().await;
    let status = server.anonymous("GET", "/v1/market/status").send().await;
    assert!(
        status
            .headers
            .get("cache-control")
            .is_none_or(|value| value != "no-store"),
        "{status:?}"
    );
}

#[tokio::test]
async fn hsts_requires_an_https_public_url() {
    let secure = TestServer::new().await;
    for path in ["/healthz", "/v1/alerts", "/docs", "/nothing"] {
        let response = secure.get(path).await;
        assert_eq!(
            response.header("strict-transport-security"),
            "max-age=31536000",
            "{path}"
        );
    }
    let plain = TestServer::with_database(Database::sqlite(), unlimited(), |service| {
        service.delivery.public_url = "http://127.0.0.1:8080".to_owned();
    });
    let response = plain.await.get("/v1/alerts").await;
    assert!(
        !response.headers.contains_key("strict-transport-security"),
        "{response:?}"
    );
}

#[tokio::test]
async fn cookie_write_with_a_foreign_host_and_origin_is_rejected() {
    let server = start_server(Database::sqlite()).await;
    server.confirmed(ANN).await;
    let ann = server.signed_in(ANN).await;
    for site in [None, Some("same-origin"), Some("none")] {
        let request = server.anonymous(Method::PATCH.as_str(), "/v1/auth/session");
        let mut request = request
            .header("cookie", &ann.cookie)
            .header("host", "rebound.example")
            .header("origin", "https://rebound.example");
        if let Some(site) = site {
            request = request.header("sec-fetch-site", site);
        }
        let refused = request
            .json(&json!({"full_name": "Eve"}))
            .send()
            .await
            .refused(403, "FORBIDDEN");
        assert_eq!(refused.body["error"]["details"]["reason"], "cross_origin", "{site:?}");
    }
}

#[tokio::test]
async fn duplicate_field_in_a_body_is_named() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 190.0).await;
    let body = r#"{"symbol": "AAPL", "condition": "price_above", "threshold": 200, "threshold": 1}"#;
    let request = server
        .request("POST", "/v1/alerts")
        .header("content-type", "application/json");
    let refused = request.body(body).send().await.refused(400, "BAD_REQUEST");
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("\"threshold\" appears twice"), "{message}");
    assert_eq!(server.get("/v1/alerts").await.body["data"], json!([]));
}

#[tokio::test]
async fn pages_allow_no_inline_style_or_script() {
    let server = TestServer::new().await;
    for path in ["/unsubscribe?token=none", "/confirm?token=none", "/sign-in", "/docs"] {
        let page = server.anonymous("GET", path).send().await;
        let policy = page.header("content-security-policy");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
    }
}
