//! Rate limits.

use jiff::SignedDuration;
use serde_json::json;
use server::{Limits, Settings};
use service::Scope;

use crate::world::World;

async fn world(basic_per_hour: u32) -> World {
    let settings = Settings {
        limits: Limits {
            basic_per_hour,
            ..Limits::default()
        },
        trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
        ..Settings::default()
    };
    World::with(settings).await
}

#[tokio::test]
async fn an_account_has_its_plans_allowance_whatever_key_it_uses() {
    let world = world(2).await;
    let ann = world
        .account("ann@example.com", alerts::Plan::Basic, false, Scope::PUBLIC)
        .await;
    let get = async |key: &str, path: &str| world.stranger("GET", path).header("x-api-key", key).send().await;
    assert_eq!(
        get(&ann, "/v1/alerts").await.ok(200).header("x-ratelimit-remaining"),
        "1"
    );
    let another = world.another_key("ann@example.com", Scope::PUBLIC).await;
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
        world.get("/v1/alerts").await.ok(200).header("x-ratelimit-limit"),
        "10000"
    );
    world.clock.advance(SignedDuration::from_hours(1));
    let _ = get(&ann, "/v1/alerts").await.ok(200);
}

#[tokio::test]
async fn guessing_keys_ends_and_costs_neither_the_owner_nor_others() {
    let world = world(3).await;
    for guess in 0..3 {
        let key = format!("sk_{guess:064}");
        let guessed = world.stranger("GET", "/v1/alerts").header("x-api-key", &key);
        let _ = guessed.send().await.refused(401, "UNAUTHORIZED");
    }
    let nothing = world.stranger("GET", "/v1/alerts");
    let _ = nothing.send().await.refused(429, "RATE_LIMITED");
    let _ = world.get("/v1/alerts").await.ok(200);
    let elsewhere = world.stranger("GET", "/v1/alerts").at_address("192.0.2.2");
    let _ = elsewhere.send().await.refused(401, "UNAUTHORIZED");
}

#[tokio::test]
async fn an_address_from_which_too_many_keys_were_guessed_has_no_more_looked_up_for_a_minute() {
    let world = world(1_000).await;
    let newcomer = world
        .account("ann@example.com", alerts::Plan::Basic, false, Scope::PUBLIC)
        .await;
    let ask = async |key: &str, address: &str| {
        let request = world.stranger("GET", "/v1/alerts").at_address(address);
        request.header("x-api-key", key).send().await
    };
    let _ = world.get("/v1/alerts").await.ok(200);
    for guess in 0..100 {
        let key = format!("sk_{guess:064}");
        let _ = ask(&key, "192.0.2.1").await.refused(401, "UNAUTHORIZED");
    }
    // Even a right key is not looked up, so it was not found out that it is one.
    let refused = ask(&newcomer, "192.0.2.1").await.refused(429, "RATE_LIMITED");
    assert_eq!(refused.header("retry-after"), "60");
    assert_eq!(refused.header("x-ratelimit-remaining"), "0");
    world.clock.advance(SignedDuration::from_secs(59));
    let _ = ask(&newcomer, "192.0.2.1").await.refused(429, "RATE_LIMITED");
    // A key that was right before is looked up again, and whoever shows none has none to be looked up.
    let _ = world.get("/v1/alerts").await.ok(200);
    let nothing = world.stranger("GET", "/v1/alerts").send().await;
    let _ = nothing.refused(401, "UNAUTHORIZED");
    let elsewhere = world.another_key("ann@example.com", Scope::PUBLIC).await;
    let _ = ask(&elsewhere, "192.0.2.2").await.ok(200);
    world.clock.advance(SignedDuration::from_secs(1));
    let _ = ask(&newcomer, "192.0.2.1").await.ok(200);
}

#[tokio::test]
async fn a_forwarded_address_counts_from_a_trusted_proxy_only() {
    let world = world(1).await;
    let ask = async |peer: &str, client: &str| {
        let request = world
            .stranger("GET", "/v1/alerts")
            .at_address(peer)
            .header("x-forwarded-for", client);
        request.send().await.status
    };
    assert_eq!(ask("10.0.0.1", "203.0.113.1").await, 401);
    assert_eq!(ask("10.0.0.1", "203.0.113.1").await, 429);
    assert_eq!(ask("10.0.0.2", "203.0.113.2").await, 401);
    assert_eq!(ask("192.0.2.9", "203.0.113.3").await, 401);
    assert_eq!(ask("192.0.2.9", "203.0.113.4").await, 429, "it may write what it likes");
}

#[tokio::test]
async fn refusals_count_but_pushing_market_data_does_not() {
    let settings = Settings {
        limits: Limits {
            premium_per_hour: 2,
            ..Limits::default()
        },
        ..Settings::default()
    };
    let world = World::with(settings).await;
    for _ in 0..5 {
        world.stock_at("AAPL", 100.0).await;
    }
    let _ = world
        .post("/v1/alerts", json!({}))
        .await
        .refused(422, "VALIDATION_ERROR");
    let _ = world.get("/v1/alerts/nonsense").await.refused(422, "VALIDATION_ERROR");
    let _ = world.get("/v1/alerts").await.refused(429, "RATE_LIMITED");
}

#[tokio::test]
async fn who_may_not_push_market_data_is_limited_there_like_anywhere() {
    let world = world(2).await;
    let ann = world
        .account("ann@example.com", alerts::Plan::Basic, false, Scope::PUBLIC)
        .await;
    let push = async |key: &str| {
        let request = world.stranger("POST", "/v1/market/ingest").header("x-api-key", key);
        request.json(&json!({})).send().await
    };
    for left in ["1", "0"] {
        let refused = push(&ann).await.refused(403, "FORBIDDEN");
        assert_eq!(refused.header("x-ratelimit-remaining"), left);
    }
    let _ = push(&ann).await.refused(429, "RATE_LIMITED");
    let status = world.stranger("GET", "/v1/market/status").header("x-api-key", &ann);
    let _ = status.send().await.refused(429, "RATE_LIMITED");
    let reader = world.another_key("operator@example.com", Scope::PUBLIC).await;
    let refused = push(&reader).await.refused(403, "FORBIDDEN");
    assert_eq!(refused.header("x-ratelimit-remaining"), "9999");
    let pushed = push(&world.key).await.ok(200);
    assert_eq!(pushed.header("x-ratelimit-remaining"), i32::MAX.to_string());
    for _ in 0..2 {
        let _ = push("sk_nobody").await.refused(401, "UNAUTHORIZED");
    }
    let _ = push("sk_nobody").await.refused(429, "RATE_LIMITED");
}

#[tokio::test]
async fn what_is_outside_the_api_is_not_limited() {
    let world = world(1).await;
    for _ in 0..3 {
        assert_eq!(world.stranger("GET", "/healthz").send().await.status, 200);
        assert_eq!(world.stranger("GET", "/openapi.json").send().await.status, 200);
    }
}
