//! `POST /alerts/{id}/pause` and `/activate`

use acceptance::{Setup, World, on_both_databases};
use serde_json::{Value, json};

on_both_databases![
    a_paused_alert_does_not_fire,
    pausing_twice_changes_nothing,
    a_triggered_alert_cannot_be_paused,
    activating_takes_a_new_initial_price,
    activating_an_active_alert_changes_nothing,
    a_triggered_alert_can_be_activated_and_fires_again,
    without_a_price_nothing_is_activated,
    an_alert_whose_condition_holds_when_it_is_made_fires_at_the_next_observation,
];

async fn made(world: &World, threshold: i64) -> String {
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold});
    world.me.post("/alerts", &body).await.ok(201).id()
}

async fn pause(world: &World, id: &str) -> Value {
    let paused = world.me.post_empty(&format!("/alerts/{id}/pause")).await.ok(200);
    paused.data().clone()
}

async fn activate(world: &World, id: &str) -> Value {
    let active = world.me.post_empty(&format!("/alerts/{id}/activate")).await.ok(200);
    active.data().clone()
}

/// How much has happened to an alert. What became of notifications is told whenever it is known, so it does not count.
async fn entries(world: &World, id: &str) -> usize {
    let history = world.me.get(&format!("/alerts/{id}/history")).await.ok(200);
    let entries = history.items().iter();
    entries
        .filter(|entry| entry["action_type"] != "notification_sent")
        .count()
}

async fn a_paused_alert_does_not_fire(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let id = made(&world, 110).await;
    assert_eq!(pause(&world, &id).await, json!({"alert_id": id, "status": "paused"}));
    world.quote("AAPL", 120.0).await;
    assert_eq!(world.status_of(&id).await, "paused");
    assert_eq!(world.firings_of(&id).await.len(), 0);
}

async fn pausing_twice_changes_nothing(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let id = made(&world, 110).await;
    let first = pause(&world, &id).await;
    assert_eq!(pause(&world, &id).await, first);
    assert_eq!(entries(&world, &id).await, 2);
}

async fn a_triggered_alert_cannot_be_paused(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let id = made(&world, 110).await;
    world.quote("AAPL", 110.0).await;
    let refused = world.me.post_empty(&format!("/alerts/{id}/pause")).await;
    let _ = refused.refused(422, "VALIDATION_ERROR");
    assert_eq!(world.status_of(&id).await, "triggered");
}

async fn activating_takes_a_new_initial_price(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let id = made(&world, 110).await;
    let _ = pause(&world, &id).await;
    world.quote("AAPL", 105.5).await;
    let expected = json!({"alert_id": id, "status": "active", "initial_price": 105.5});
    assert_eq!(activate(&world, &id).await, expected);
    world.quote("AAPL", 110.0).await;
    assert_eq!(world.status_of(&id).await, "triggered");
}

async fn activating_an_active_alert_changes_nothing(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let id = made(&world, 110).await;
    world.quote("AAPL", 105.0).await;
    let expected = json!({"alert_id": id, "status": "active", "initial_price": 100});
    assert_eq!(activate(&world, &id).await, expected);
    assert_eq!(entries(&world, &id).await, 1);
}

async fn a_triggered_alert_can_be_activated_and_fires_again(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let id = made(&world, 110).await;
    world.quote("AAPL", 111.0).await;
    world.quote("AAPL", 112.0).await;
    assert_eq!(world.firings_of(&id).await.len(), 1, "a triggered alert fires once");
    world.quote("AAPL", 99.0).await;
    assert_eq!(activate(&world, &id).await["initial_price"], 99);
    assert_eq!(world.status_of(&id).await, "active");
    world.quote("AAPL", 113.0).await;
    let firings = world.firings_of(&id).await;
    let prices: Vec<_> = firings.iter().map(|firing| &firing["trigger_price"]).collect();
    assert_eq!(prices, [&json!(113), &json!(111)]);
}

async fn without_a_price_nothing_is_activated(setup: Setup) {
    let world = setup.world().await;
    world.stocks(&["AAPL"]).await;
    let id = made(&world, 110).await;
    let _ = pause(&world, &id).await;
    let refused = world.me.post_empty(&format!("/alerts/{id}/activate")).await;
    let _ = refused.refused(503, "SERVICE_UNAVAILABLE");
    assert_eq!(world.status_of(&id).await, "paused");
}

async fn an_alert_whose_condition_holds_when_it_is_made_fires_at_the_next_observation(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let id = made(&world, 90).await;
    world.quote("AAPL", 100.0).await;
    assert_eq!(world.status_of(&id).await, "triggered");
}
