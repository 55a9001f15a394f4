//! Limits of each plan.

use acceptance::clock::now;
use acceptance::{ServiceSetup, on_both_databases};
use jiff::SignedDuration;
use serde_json::json;

on_both_databases![
    basic_plan_allows_only_price_and_time_conditions,
    basic_plan_allows_twenty_active_alerts,
    update_cannot_bypass_the_plan,
    sms_requires_premium_and_a_phone,
];

async fn basic_plan_allows_only_price_and_time_conditions(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let account = env.account("basic").await;
    let tomorrow = (now() + SignedDuration::from_hours(24)).to_string();
    for (condition, more) in [
        ("price_above", json!({"threshold": 200})),
        ("price_below", json!({"threshold": 20})),
        ("price_change_up", json!({"threshold": 20})),
        ("price_change_down", json!({"threshold": 20})),
        ("new_high", json!({})),
        ("new_low", json!({})),
        ("reminder", json!({"parameters": {"date": tomorrow}})),
        ("daily_reminder", json!({})),
    ] {
        let mut body = more;
        body["symbol"] = json!("AAPL");
        body["condition"] = json!(condition);
        let _ = account.post("/alerts", &body).await.expect_ok(201);
    }
    for (condition, more) in [
        ("ma_crossover_golden", json!({})),
        ("ma_crossover_death", json!({})),
        ("ma_touch_above", json!({"threshold": 50})),
        ("ma_touch_below", json!({"threshold": 50})),
        ("rsi_limit", json!({"threshold": 70})),
        ("volume_change", json!({"threshold": 50})),
        ("pe_ratio_below", json!({"threshold": 10})),
        ("pe_ratio_above", json!({"threshold": 10})),
        ("forward_pe_below", json!({"threshold": 10})),
        ("forward_pe_above", json!({"threshold": 10})),
        ("social_buzz", json!({"parameters": {"direction": "rising"}})),
        ("insider_transactions", json!({"threshold": 1000})),
        ("earnings_announcement", json!({"threshold": 1})),
        ("dividend_ex_date", json!({})),
        ("dividend_payment", json!({})),
    ] {
        let mut body = more;
        body["symbol"] = json!("AAPL");
        body["condition"] = json!(condition);
        let refused = account.post("/alerts", &body).await.expect_forbidden("plan");
        assert_eq!(refused.body["error"]["details"]["required"], "premium", "{refused}");
        let message = refused.body["error"]["message"].as_str().unwrap();
        assert!(message.contains("premium"), "{refused}");
    }
}

async fn basic_plan_allows_twenty_active_alerts(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let account = env.account("basic").await;
    let body = |threshold: i32| json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold});
    let mut ids = Vec::new();
    for threshold in 200..220 {
        ids.push(account.post("/alerts", &body(threshold)).await.expect_ok(201).id());
    }
    let _ = account.post("/alerts", &body(500)).await.expect_forbidden("plan");
    let _ = account.post("/alerts", &body(200)).await.expect_ok(200); // The alert exists already.
    let _ = account
        .post_empty(&format!("/alerts/{}/pause", ids[0]))
        .await
        .expect_ok(200);
    let _ = account.post("/alerts", &body(500)).await.expect_ok(201);
    let _ = account
        .post_empty(&format!("/alerts/{}/activate", ids[0]))
        .await
        .expect_forbidden("plan");
    let _ = account.delete(&format!("/alerts/{}", ids[1])).await.expect_ok(200);
    let _ = account
        .post_empty(&format!("/alerts/{}/activate", ids[0]))
        .await
        .expect_ok(200);
}

async fn update_cannot_bypass_the_plan(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let account = env.account("basic").await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200});
    let id = account.post("/alerts", &body).await.expect_ok(201).id();
    let update = json!({"condition": "volume_change", "threshold": 50});
    let _ = account
        .put(&format!("/alerts/{id}"), &update)
        .await
        .expect_forbidden("plan");
}

async fn sms_requires_premium_and_a_phone(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200, "notification": "sms"});
    let basic = env.account("basic").await;
    let _ = basic.post("/alerts", &body).await.expect_forbidden("plan");
    let refused = env.operator.post("/alerts", &body).await.expect_error(403, "FORBIDDEN");
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("phone"), "{refused}");
}
