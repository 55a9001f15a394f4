//! `POST /alerts`: the same alert twice.

use acceptance::{Setup, World, on_both_databases};
use serde_json::{Value, json};

on_both_databases![
    the_same_alert_twice_is_one_alert,
    parameters_are_compared_in_their_normal_form,
    a_paused_alert_is_still_the_same,
    a_triggered_alert_is_not_the_same,
    a_deleted_alert_is_not_the_same,
    another_level_is_another_alert,
    the_same_onboarding_id_is_the_same_alert,
    accounts_do_not_share_alerts,
    ten_equal_requests_at_once_make_one_alert,
];

fn above(threshold: f64) -> Value {
    json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold})
}

/// Asserts that the two bodies are taken for one alert, or for two.
async fn compare(world: &World, first: &Value, second: &Value, same: bool) {
    let first = world.me.post("/alerts", first).await.ok(201);
    let second = world.me.post("/alerts", second).await.ok(if same { 200 } else { 201 });
    assert_eq!(first.id() == second.id(), same, "{first}\n{second}");
    if same {
        assert_eq!(first.data()["notification"], second.data()["notification"], "unchanged");
    }
}

async fn the_same_alert_twice_is_one_alert(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let lower = json!({"symbol": "aapl", "condition": "price_above", "threshold": 200.0, "parameters": null});
    compare(&world, &above(200.0), &lower, true).await;
    let id = world.me.post("/alerts", &above(200.0)).await.ok(200).id();
    let history = world.me.get(&format!("/alerts/{id}/history")).await.ok(200);
    assert_eq!(history.items().len(), 1, "{history}");
}

async fn parameters_are_compared_in_their_normal_form(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let first =
        json!({"symbol": "AAPL", "condition": "daily_reminder", "parameters": {"delivery_time": "market_open"}});
    let second =
        json!({"symbol": "AAPL", "condition": "daily_reminder", "parameters": {"deliveryTime": "market_open"}});
    compare(&world, &first, &second, true).await;
}

async fn a_paused_alert_is_still_the_same(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let id = world.me.post("/alerts", &above(200.0)).await.ok(201).id();
    let _ = world.me.post_empty(&format!("/alerts/{id}/pause")).await.ok(200);
    let again = world.me.post("/alerts", &above(200.0)).await.ok(200);
    assert_eq!((again.id(), again.text_of("status")), (id, "paused"));
}

async fn a_triggered_alert_is_not_the_same(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let id = world.me.post("/alerts", &above(200.0)).await.ok(201).id();
    world.quote("AAPL", 200.0).await;
    assert_eq!(world.status_of(&id).await, "triggered");
    world.quote("AAPL", 100.0).await;
    assert_ne!(world.me.post("/alerts", &above(200.0)).await.ok(201).id(), id);
}

async fn a_deleted_alert_is_not_the_same(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let id = world.me.post("/alerts", &above(200.0)).await.ok(201).id();
    let _ = world.me.delete(&format!("/alerts/{id}")).await.ok(200);
    assert_ne!(world.me.post("/alerts", &above(200.0)).await.ok(201).id(), id);
}

async fn another_level_is_another_alert(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    compare(&world, &above(200.0), &above(200.000_001), false).await;
}

async fn the_same_onboarding_id_is_the_same_alert(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let with = |threshold: f64| {
        json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold,
            "parameters": {"onboarding_id": "welcome-1"}})
    };
    compare(&world, &with(200.0), &with(300.0), true).await;
}

async fn accounts_do_not_share_alerts(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let other = world.account("premium").await;
    let mine = world.me.post("/alerts", &above(200.0)).await.ok(201).id();
    assert_ne!(other.post("/alerts", &above(200.0)).await.ok(201).id(), mine);
}

async fn ten_equal_requests_at_once_make_one_alert(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let me = world.me.clone();
        tasks.spawn(async move { me.post("/alerts", &above(200.0)).await });
    }
    let answers = tasks.join_all().await;
    let made = answers.iter().filter(|answer| answer.status == 201).count();
    let found = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!((made, found), (1, 9), "{answers:#?}");
    assert_eq!(world.me.get("/alerts").await.ok(200).items().len(), 1);
}
