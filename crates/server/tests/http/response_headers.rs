//! Headers of every answer: how long it may be kept, and HTTPS only.

use http::Method;
use serde_json::json;
use testkit::Database;

use crate::signing::{ANN, PASSWORD, unlimited, world};
use crate::world::{World, above};

#[tokio::test]
async fn private_reads_are_stored_by_nobody() {
    let world = World::new().await;
    world.stock_at("AAPL", 190.0).await;
    let alert = world.alert(200).await;
    for path in [
        format!("/v1/alerts/{alert}").as_str(),
        "/api/v1/user/subscription",
        "/v1/alerts",
        "/v1/webhooks",
        "/v1/stocks/AAPL",
        "/v1/alerts/11111111-1111-4111-8111-111111111111",
    ] {
        let read = world.get(path).await;
        assert_eq!(read.header("cache-control"), "no-store", "{path}");
    }
    let made = world.post("/v1/alerts", above(210)).await;
    assert_eq!(made.header("cache-control"), "no-store");
    let refused = world.stranger("POST", "/v1/alerts").json(&above(1)).send().await;
    assert_eq!(refused.header("cache-control"), "no-store");
}

#[tokio::test]
async fn reads_with_a_cookie_are_stored_by_nobody() {
    let world = world(Database::sqlite()).await;
    world.confirmed(ANN).await;
    let ann = world.signed_in(ANN).await;
    let read = world
        .stranger("GET", "/v1/auth/session")
        .header("cookie", &ann.cookie)
        .send()
        .await;
    assert_eq!((read.status, read.header("cache-control")), (200, "no-store"));
    let body = json!({"email": ANN, "password": PASSWORD});
    let login = world.stranger("POST", "/v1/auth/login").json(&body).send().await;
    assert_eq!((login.status, login.header("cache-control")), (200, "no-store"));
}

#[tokio::test]
async fn answers_that_say_themselves_how_long_they_may_be_kept_are_left_alone() {
    let world = World::new().await;
    let page = world.request("GET", "/docs").send().await;
    assert_eq!(page.header("cache-control"), "no-cache");
    let keys = world.get("/.well-known/jwks.json").await;
    assert!(keys.header("cache-control").contains("max-age"));
}

#[tokio::test]
async fn public_answers_without_credentials_have_no_rule() {
    let world = World::new().await;
    let status = world.stranger("GET", "/v1/market/status").send().await;
    assert!(
        status
            .headers
            .get("cache-control")
            .is_none_or(|value| value != "no-store"),
        "{status:?}"
    );
}

#[tokio::test]
async fn browsers_come_by_https_only_where_the_public_url_is_https() {
    let secure = World::new().await;
    for path in ["/healthz", "/v1/alerts", "/docs", "/nothing"] {
        let answer = secure.get(path).await;
        assert_eq!(answer.header("strict-transport-security"), "max-age=31536000", "{path}");
    }
    let plain = World::on(Database::sqlite(), unlimited(), |service| {
        service.public_url = "http://127.0.0.1:8080".to_owned();
    });
    let answer = plain.await.get("/v1/alerts").await;
    assert!(!answer.headers.contains_key("strict-transport-security"), "{answer:?}");
}

#[tokio::test]
async fn a_cookie_write_under_a_foreign_host_and_origin_is_refused() {
    let world = world(Database::sqlite()).await;
    world.confirmed(ANN).await;
    let ann = world.signed_in(ANN).await;
    for site in [None, Some("same-origin"), Some("none")] {
        let request = world.stranger(Method::PATCH.as_str(), "/v1/auth/session");
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
async fn a_duplicate_key_in_a_body_is_refused_by_its_name() {
    let world = World::new().await;
    world.stock_at("AAPL", 190.0).await;
    let body = r#"{"symbol": "AAPL", "condition": "price_above", "threshold": 200, "threshold": 1}"#;
    let request = world
        .request("POST", "/v1/alerts")
        .header("content-type", "application/json");
    let refused = request.body(body).send().await.refused(400, "BAD_REQUEST");
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("\"threshold\" appears twice"), "{message}");
    assert_eq!(world.get("/v1/alerts").await.body["data"], json!([]));
}

#[tokio::test]
async fn pages_allow_no_inline_style_but_their_own() {
    let world = World::new().await;
    for path in ["/unsubscribe?token=none", "/confirm?token=none", "/sign-in", "/docs"] {
        let page = world.stranger("GET", path).send().await;
        let policy = page.header("content-security-policy");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
    }
}
