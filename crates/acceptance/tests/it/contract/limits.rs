//! Rate limits.

use acceptance::clock::now;
use acceptance::{ServiceSetup, on_both_databases};
use serde_json::json;

on_both_databases![
    default_limits_are_100_and_10000,
    window_counts_down_then_429,
    prefixes_share_a_limit_and_route_groups_and_accounts_do_not,
    error_responses_count,
    ingest_is_not_limited,
];

async fn default_limits_are_100_and_10000(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    for (plan, limit) in [("basic", 100), ("premium", 10_000), ("early_bird", 10_000)] {
        let account = env.account(plan).await;
        let response = account.get("/alerts").await.expect_ok(200);
        assert_eq!(response.header_number("X-RateLimit-Limit"), limit, "{plan}");
        assert_eq!(response.header_number("X-RateLimit-Remaining"), limit - 1, "{plan}");
    }
}

async fn window_counts_down_then_429(setup: ServiceSetup) {
    let env = setup.set("limits.basic_per_hour", "3").start_environment().await;
    let account = env.account("basic").await;
    let mut reset = None;
    for remaining in [2, 1, 0] {
        let response = account.get("/alerts").await.expect_ok(200);
        assert_eq!(response.header_number("X-RateLimit-Limit"), 3);
        assert_eq!(response.header_number("X-RateLimit-Remaining"), remaining);
        let ends = response.header_number("X-RateLimit-Reset");
        assert_eq!(*reset.get_or_insert(ends), ends, "the window is fixed");
        let left = ends - now().as_millisecond();
        assert!((0..=3_600_000).contains(&left), "the window ends in {left} ms");
    }
    let refused = account.get("/alerts").await.expect_error(429, "RATE_LIMITED");
    assert_eq!(refused.header_number("X-RateLimit-Remaining"), 0);
    let wait = refused.header_number("Retry-After");
    assert!((1..=3600).contains(&wait), "Retry-After: {wait}");
    let left = refused.header_number("X-RateLimit-Reset") - now().as_millisecond();
    assert!(
        (wait * 1000 - left).abs() <= 2000,
        "Retry-After {wait} s, but the window ends in {left} ms"
    );
}

async fn prefixes_share_a_limit_and_route_groups_and_accounts_do_not(setup: ServiceSetup) {
    let env = setup.set("limits.basic_per_hour", "2").start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let account = env.account("basic").await;
    let _ = account.get("/alerts").await.expect_ok(200);
    let _ = account.with_prefix("/v1").get("/alerts").await.expect_ok(200);
    let _ = account.get("/alerts").await.expect_error(429, "RATE_LIMITED");
    let _ = account
        .with_prefix("/v1")
        .get("/alerts")
        .await
        .expect_error(429, "RATE_LIMITED");
    let _ = account.get("/stocks/AAPL").await.expect_ok(200);
    let other = env.account("basic").await;
    let _ = other.get("/alerts").await.expect_ok(200);
}

async fn error_responses_count(setup: ServiceSetup) {
    let env = setup.set("limits.basic_per_hour", "2").start_environment().await;
    let account = env.account("basic").await;
    let wrong = account
        .post("/alerts", &json!({}))
        .await
        .expect_error(422, "VALIDATION_ERROR");
    assert_eq!(wrong.header_number("X-RateLimit-Remaining"), 1);
    let missing = account.get("/alerts/11111111-1111-4111-8111-111111111111").await;
    assert_eq!(
        missing
            .expect_error(404, "NOT_FOUND")
            .header_number("X-RateLimit-Remaining"),
        0
    );
    let _ = account.get("/alerts").await.expect_error(429, "RATE_LIMITED");
}

async fn ingest_is_not_limited(setup: ServiceSetup) {
    let env = setup.set("limits.premium_per_hour", "2").start_environment().await;
    env.stocks(&["AAPL"]).await;
    for cents in 0..10 {
        env.quote("AAPL", 100.0 + f64::from(cents) / 100.0).await;
    }
    let _ = env.operator.get("/alerts").await.expect_ok(200);
}
