//! Rate limits.

use foundation::Scope;
use jiff::SignedDuration;
use serde_json::json;
use server::{HttpConfig, RateLimits};

use crate::http::test_server::TestServer;

async fn start_server(basic_per_hour: u32) -> TestServer {
    let settings = HttpConfig {
        limits: RateLimits {
            basic_per_hour,
            ..RateLimits::default()
        },
        trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
        ..HttpConfig::default()
    };
    TestServer::with_config(settings).await
}

#[tokio::test]
async fn limit_applies_to_the_account_across_keys() {
    let server = start_server(2).await;
    let ann = server
        .account("ann@example.com", alerts::Plan::Basic, false, Scope::PUBLIC)
        .await;
    let get = async |key: &str, path: &str| server.anonymous("GET", path).header("x-api-key", key).send().await;
    assert_eq!(
        get(&ann, "/v1/alerts").await.ok(200).header("x-ratelimit-remaining"),
        "1"
    );
    let another = server.another_key("ann@example.com", Scope::PUBLIC).await;
    assert_eq!(
        get(&another, "/api/v1/alerts")
            .await
            .ok(200)
            .header("x-ratelimit-remaining"),
        "0"
    );
    let refused = get(&ann, "/v1/alerts").await.refused(429, "RATE_LIMITED");
    assert_eq!(refused.header("retry-after"), "3600");
    assert_eq!(refused.header("x-ratelimit-remaining"), "0");
    let _ = get(&ann, "/v1/market/status").await.ok(200);
    assert_eq!(
        server.get("/v1/alerts").await.ok(200).header("x-ratelimit-limit"),
        "10000"
    );
    server.clock.advance(SignedDuration::from_hours(1));
    let _ = get(&ann, "/v1/alerts").await.ok(200);
}

#[tokio::test]
async fn key_guessing_is_limited_without_affecting_others() {
    let server = start_server(3).await;
    for guess in 0..3 {
        let key = format!("sk_{guess:064}");
        let guessed = server.anonymous("GET", "/v1/alerts").header("x-api-key", &key);
        let _ = guessed.send().await.refused(401, "UNAUTHORIZED");
    }
    let nothing = server.anonymous("GET", "/v1/alerts");
    let _ = nothing.send().await.refused(429, "RATE_LIMITED");
    let _ = server.get("/v1/alerts").await.ok(200);
    let elsewhere = server.anonymous("GET", "/v1/alerts").at_address("192.0.2.2");
    let _ = elsewhere.send().await.refused(401, "UNAUTHORIZED");
}

#[tokio::test]
async fn address_is_blocked_for_a_minute_after_too_many_unknown_keys() {
    let server = start_server(1_000).await;
    let newcomer = server
        .account("ann@example.com", alerts::Plan::Basic, false, Scope::PUBLIC)
        .await;
    let ask = async |key: &str, address: &str| {
        let request = server.anonymous("GET", "/v1/alerts").at_address(address);
        request.header("x-api-key", key).send().await
    };
    let _ = server.get("/v1/alerts").await.ok(200);
    for guess in 0..100 {
        let key = format!("sk_{guess:064}");
        let _ = ask(&key, "192.0.2.1").await.refused(401, "UNAUTHORIZED");
    }
    // A valid key is not looked up either, so the attacker does not learn that it is valid.
    let refused = ask(&newcomer, "192.0.2.1").await.refused(429, "RATE_LIMITED");
    assert_eq!(refused.header("retry-after"), "60");
    assert_eq!(refused.header("x-ratelimit-remaining"), "0");
    server.clock.advance(SignedDuration::from_secs(59));
    let _ = ask(&newcomer, "192.0.2.1").await.refused(429, "RATE_LIMITED");
    // A key that was valid before is still looked up. A request without a key needs no look-up.
    let _ = server.get("/v1/alerts").await.ok(200);
    let nothing = server.anonymous("GET", "/v1/alerts").send().await;
    let _ = nothing.refused(401, "UNAUTHORIZED");
    let elsewhere = server.another_key("ann@example.com", Scope::PUBLIC).await;
    let _ = ask(&elsewhere, "192.0.2.2").await.ok(200);
    server.clock.advance(SignedDuration::from_secs(1));
    let _ = ask(&newcomer, "192.0.2.1").await.ok(200);
}

#[tokio::test]
async fn forwarded_address_is_used_only_from_a_trusted_proxy() {
    let server = start_server(1).await;
    let ask = async |peer: &str, client: &str| {
        let request = server
            .anonymous("GET", "/v1/alerts")
            .at_address(peer)
            .header("x-forwarded-for", client);
        request.send().await.status
    };
    assert_eq!(ask("10.0.0.1", "203.0.113.1").await, 401);
    assert_eq!(ask("10.0.0.1", "203.0.113.1").await, 429);
    assert_eq!(ask("10.0.0.2", "203.0.113.2").await, 401);
    assert_eq!(ask("192.0.2.9", "203.0.113.3").await, 401);
    assert_eq!(ask("192.0.2.9", "203.0.113.4").await, 429, "forged headers are ignored");
}

#[tokio::test]
async fn rejected_requests_count_but_pushed_market_data_does_not() {
    let settings = HttpConfig {
        limits: RateLimits {
            premium_per_hour: 2,
            ..RateLimits::default()
        },
        ..HttpConfig::default()
    };
    let server = TestServer::with_config(settings).await;
    for _ in 0..5 {
        server.set_price("AAPL", 100.0).await;
    }
    let _ = server
        .post("/v1/alerts", json!({}))
        .await
        .refused(422, "VALIDATION_ERROR");
    let _ = server.get("/v1/alerts/nonsense").await.refused(422, "VALIDATION_ERROR");
    let _ = server.get("/v1/alerts").await.refused(429, "RATE_LIMITED");
}

#[tokio::test]
async fn ingest_without_permission_is_rate_limited() {
    let server = start_server(2).await;
    let ann = server
        .account("ann@example.com", alerts::Plan::Basic, false, Scope::PUBLIC)
        .await;
    let push = async |key: &str| {
        let request = server.anonymous("POST", "/v1/market/ingest").header("x-api-key", key);
        request.json(&json!({})).send().await
    };
    for left in ["1", "0"] {
        let refused = push(&ann).await.refused(403, "FORBIDDEN");
        assert_eq!(refused.header("x-ratelimit-remaining"), left);
    }
    let _ = push(&ann).await.refused(429, "RATE_LIMITED");
    let status = server.anonymous("GET", "/v1/market/status").header("x-api-key", &ann);
    let _ = status.send().await.refused(429, "RATE_LIMITED");
    let reader = server.another_key("operator@example.com", Scope::PUBLIC).await;
    let refused = push(&reader).await.refused(403, "FORBIDDEN");
    assert_eq!(refused.header("x-ratelimit-remaining"), "9999");
    let pushed = push(&server.key).await.ok(200);
    assert_eq!(pushed.header("x-ratelimit-remaining"), i32::MAX.to_string());
    for _ in 0..2 {
        let _ = push("sk_nobody").await.refused(401, "UNAUTHORIZED");
    }
    let _ = push("sk_nobody").await.refused(429, "RATE_LIMITED");
}

#[tokio::test]
async fn routes_outside_the_api_are_not_limited() {
    let server = start_server(1).await;
    for _ in 0..3 {
        assert_eq!(server.anonymous("GET", "/healthz").send().await.status, 200);
        assert_eq!(server.anonymous("GET", "/openapi.json").send().await.status, 200);
    }
}
