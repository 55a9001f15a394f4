//! Rate limits.

use acceptance::clock::now;
use acceptance::{Setup, on_both_databases};
use serde_json::json;

on_both_databases![
    the_defaults_are_a_hundred_and_ten_thousand,
    the_window_counts_down_and_then_refuses,
    groups_prefixes_and_keys_share_what_they_should,
    a_refusal_counts_too,
    feeding_the_market_is_not_limited,
];

async fn the_defaults_are_a_hundred_and_ten_thousand(setup: Setup) {
    let world = setup.world().await;
    for (plan, limit) in [("basic", 100), ("premium", 10_000), ("early_bird", 10_000)] {
        let account = world.account(plan).await;
        let answer = account.get("/alerts").await.ok(200);
        assert_eq!(answer.header_number("X-RateLimit-Limit"), limit, "{plan}");
        assert_eq!(answer.header_number("X-RateLimit-Remaining"), limit - 1, "{plan}");
    }
}

async fn the_window_counts_down_and_then_refuses(setup: Setup) {
    let world = setup.set("limits.basic_per_hour", "3").world().await;
    let account = world.account("basic").await;
    let mut reset = None;
    for remaining in [2, 1, 0] {
        let answer = account.get("/alerts").await.ok(200);
        assert_eq!(answer.header_number("X-RateLimit-Limit"), 3);
        assert_eq!(answer.header_number("X-RateLimit-Remaining"), remaining);
        let ends = answer.header_number("X-RateLimit-Reset");
        assert_eq!(*reset.get_or_insert(ends), ends, "the window is fixed");
        let left = ends - now().as_millisecond();
        assert!((0..=3_600_000).contains(&left), "the window ends in {left} ms");
    }
    let refused = account.get("/alerts").await.refused(429, "RATE_LIMITED");
    assert_eq!(refused.header_number("X-RateLimit-Remaining"), 0);
    let wait = refused.header_number("Retry-After");
    assert!((1..=3600).contains(&wait), "Retry-After: {wait}");
    let left = refused.header_number("X-RateLimit-Reset") - now().as_millisecond();
    assert!(
        (wait * 1000 - left).abs() <= 2000,
        "Retry-After {wait} s, but the window ends in {left} ms"
    );
}

async fn groups_prefixes_and_keys_share_what_they_should(setup: Setup) {
    let world = setup.set("limits.basic_per_hour", "2").world().await;
    world.stock_at("AAPL", 100.0).await;
    let account = world.account("basic").await;
    let _ = account.get("/alerts").await.ok(200);
    let _ = account.under("/v1").get("/alerts").await.ok(200);
    let _ = account.get("/alerts").await.refused(429, "RATE_LIMITED");
    let _ = account.under("/v1").get("/alerts").await.refused(429, "RATE_LIMITED");
    let _ = account.get("/stocks/AAPL").await.ok(200);
    let other = world.account("basic").await;
    let _ = other.get("/alerts").await.ok(200);
}

async fn a_refusal_counts_too(setup: Setup) {
    let world = setup.set("limits.basic_per_hour", "2").world().await;
    let account = world.account("basic").await;
    let wrong = account
        .post("/alerts", &json!({}))
        .await
        .refused(422, "VALIDATION_ERROR");
    assert_eq!(wrong.header_number("X-RateLimit-Remaining"), 1);
    let missing = account.get("/alerts/11111111-1111-4111-8111-111111111111").await;
    assert_eq!(
        missing.refused(404, "NOT_FOUND").header_number("X-RateLimit-Remaining"),
        0
    );
    let _ = account.get("/alerts").await.refused(429, "RATE_LIMITED");
}

async fn feeding_the_market_is_not_limited(setup: Setup) {
    let world = setup.set("limits.premium_per_hour", "2").world().await;
    world.stocks(&["AAPL"]).await;
    for cents in 0..10 {
        world.quote("AAPL", 100.0 + f64::from(cents) / 100.0).await;
    }
    let _ = world.me.get("/alerts").await.ok(200);
}
