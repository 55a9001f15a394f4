//! A stock is divided.

use alerts::{HistoryAction, Plan, Status};
use serde_json::json;

use super::support::{World, above, at, on_each_database, symbol};

on_each_database! {
    a_split_moves_active_and_paused_alerts_and_fires_none
    a_split_that_was_announced_is_applied_on_its_day
    a_split_that_is_told_of_late_leaves_what_came_after_its_day
    a_split_told_in_its_session_leaves_what_was_observed_in_new_shares
    the_last_session_before_a_split_is_kept_in_its_own_shares
    a_price_from_before_a_split_that_was_seen_out_of_session_is_divided_too
    the_ratio_of_a_split_can_be_corrected_until_it_is_applied
    a_split_is_applied_once_however_often_it_is_delivered
    alert_paused_over_a_split_and_activated_after_it_gets_its_threshold_moved_once
    alert_edited_on_the_day_of_the_split_keeps_its_new_threshold
    alert_edited_the_evening_before_the_split_is_moved
    alert_whose_notification_changed_on_the_day_of_the_split_is_moved
    alert_whose_threshold_was_edited_on_the_day_of_the_split_has_only_its_initial_price_moved
    stocks_of_paused_alerts_are_known_to_those_who_ask_for_splits
}

async fn a_split_moves_active_and_paused_alerts_and_fires_none(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 400.0).await;
    let below = json!({"symbol": "AAPL", "condition": "price_below", "threshold": 300});
    let active = world.create(&ann, below).await.stored.alert.id;
    let paused = world.create(&ann, above("AAPL", 500.0)).await.stored.alert.id;
    world.service.alerts.pause_alert(&ann, paused).await.unwrap();
    // Monday morning, the first session in new shares.
    world.advance(3 * 24 * 60);
    world
        .deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]}))
        .await;
    world.quote("AAPL", 100.0).await;

    let threshold = |alert: alerts::Alert| alert.condition.threshold().map(|threshold| threshold.as_f64());
    let active = world.service.alerts.alert(&ann, active).await.unwrap().stored.alert;
    assert_eq!(
        (active.status, active.initial_price.map(|price| price.as_f64())),
        (Status::Active, Some(100.0))
    );
    assert_eq!(threshold(active), Some(75.0));
    let actions = world.actions(&ann, paused).await;
    assert_eq!(
        actions,
        [HistoryAction::Created, HistoryAction::Paused, HistoryAction::Adjusted]
    );
    let paused = world.service.alerts.alert(&ann, paused).await.unwrap().stored.alert;
    assert_eq!(threshold(paused), Some(125.0));
    let world = world.restarted().await;
    world.quote("AAPL", 75.0).await;
    assert_eq!(world.events(&ann).await.len(), 1);
}

async fn a_split_that_was_announced_is_applied_on_its_day(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 400.0).await;
    let id = world.create(&ann, above("AAPL", 420.0)).await.stored.alert.id;
    world
        .deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]}))
        .await;
    assert_eq!(world.actions(&ann, id).await, [HistoryAction::Created]);
    let world = world.restarted().await;
    world.advance(3 * 24 * 60);
    world.quote("AAPL", 105.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
    let actions = world.actions(&ann, id).await;
    assert_eq!(
        actions,
        [
            HistoryAction::Created,
            HistoryAction::Adjusted,
            HistoryAction::Triggered
        ]
    );
}

async fn a_split_that_is_told_of_late_leaves_what_came_after_its_day(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world
        .deliver(json!({"bars": [
            {"symbol": "AAPL", "date": "2024-03-06", "open": 400, "high": 440, "low": 400, "close": 400, "volume": 10},
            {"symbol": "AAPL", "date": "2024-03-07", "open": 100, "high": 100, "low": 100, "close": 100, "volume": 40},
        ]}))
        .await;
    world.quote("AAPL", 101.0).await;
    let id = world.create(&ann, above("AAPL", 105.0)).await.stored.alert.id;
    world
        .deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-07", "ratio": 4}]}))
        .await;
    check_after_late_split(&world).await;
    let world = world.restarted().await;
    check_after_late_split(&world).await;
    assert_eq!(world.actions(&ann, id).await, [HistoryAction::Created]);
    world.quote("AAPL", 105.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

async fn check_after_late_split(world: &World) {
    let view = world.service.stocks.stock(symbol("AAPL")).await.unwrap();
    assert_eq!(view.high_52w.map(|price| price.as_f64()), Some(110.0));
    assert_eq!(view.low_52w.map(|price| price.as_f64()), Some(100.0));
    assert_eq!(view.previous_close.map(|price| price.as_f64()), Some(100.0));
    assert_eq!(view.last_price.map(|price| price.as_f64()), Some(101.0));
}

async fn a_split_told_in_its_session_leaves_what_was_observed_in_new_shares(world: World) {
    let bar = json!({"symbol": "AAPL", "date": "2024-03-07", "open": 400, "high": 400, "low": 400, "close": 400, "volume": 1});
    world.deliver(json!({"bars": [bar]})).await;
    world.quote("AAPL", 100.0).await;
    world
        .deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-08", "ratio": 4}]}))
        .await;
    world.quote("AAPL", 106.0).await;
    let view = world.service.stocks.stock(symbol("AAPL")).await.unwrap();
    assert_eq!(view.last_price.map(|price| price.as_f64()), Some(106.0));
    assert_eq!(view.low_52w.map(|price| price.as_f64()), Some(100.0));
    assert_eq!(view.change_percent.map(|percent| percent.as_f64()), Some(6.0));
}

async fn the_last_session_before_a_split_is_kept_in_its_own_shares(world: World) {
    world.quote("AAPL", 400.0).await;
    // Monday, the day of the split, before anything was quoted.
    world.advance(3 * 24 * 60);
    world
        .deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]}))
        .await;
    world.quote("AAPL", 101.0).await;
    let world = world.restarted().await;
    let view = world.service.stocks.stock(symbol("AAPL")).await.unwrap();
    assert_eq!(view.previous_close.map(|price| price.as_f64()), Some(100.0));
    assert_eq!(view.low_52w.map(|price| price.as_f64()), Some(100.0));
}

async fn a_price_from_before_a_split_that_was_seen_out_of_session_is_divided_too(world: World) {
    world.advance(8 * 60);
    world.quote("AAPL", 402.0).await;
    world.advance(2 * 24 * 60 + 14 * 60);
    world
        .deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]}))
        .await;
    let view = world.service.stocks.stock(symbol("AAPL")).await.unwrap();
    assert_eq!(view.last_price.map(|price| price.as_f64()), Some(100.5));
}

async fn the_ratio_of_a_split_can_be_corrected_until_it_is_applied(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 400.0).await;
    let id = world.create(&ann, above("AAPL", 420.0)).await.stored.alert.id;
    let split = |ratio: u32| json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": ratio}]});
    world.deliver(split(4)).await;
    world.deliver(split(2)).await;
    world.advance(3 * 24 * 60);
    // Whatever is delivered on the day applies it.
    world.deliver(split(2)).await;
    assert_eq!(world.ingest(split(5)).await.rejected.len(), 1);
    let alert = world.service.alerts.alert(&ann, id).await.unwrap().stored.alert;
    assert_eq!(
        alert.condition.threshold().map(|threshold| threshold.as_f64()),
        Some(210.0)
    );
}

async fn a_split_is_applied_once_however_often_it_is_delivered(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 400.0).await;
    let id = world.create(&ann, above("AAPL", 420.0)).await.stored.alert.id;
    world.advance(3 * 24 * 60);
    let split = json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]});
    world.deliver(split.clone()).await;
    world.deliver(split.clone()).await;
    let world = world.restarted().await;
    world.deliver(split).await;
    assert_eq!(
        world.actions(&ann, id).await,
        [HistoryAction::Created, HistoryAction::Adjusted]
    );
}

const SPLIT_OF_MONDAY: &str = r#"{"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]}"#;

pub(crate) async fn learn_of_the_split(world: &World) {
    world.deliver(serde_json::from_str(SPLIT_OF_MONDAY).unwrap()).await;
}

/// The threshold and the initial price of an alert.
pub(crate) async fn prices(world: &World, actor: &service::Actor, id: alerts::AlertId) -> (Option<f64>, Option<f64>) {
    let alert = world.service.alerts.alert(actor, id).await.unwrap().stored.alert;
    (
        alert.condition.threshold().map(|threshold| threshold.as_f64()),
        alert.initial_price.map(|price| price.as_f64()),
    )
}

async fn alert_paused_over_a_split_and_activated_after_it_gets_its_threshold_moved_once(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 400.0).await;
    let id = world.create(&ann, above("AAPL", 500.0)).await.stored.alert.id;
    world.service.alerts.pause_alert(&ann, id).await.unwrap();
    // Tuesday, the day after the split, of which nothing is known yet.
    world.advance(4 * 24 * 60);
    world.quote("AAPL", 100.0).await;
    world.service.alerts.activate_alert(&ann, id).await.unwrap();
    assert_eq!(prices(&world, &ann, id).await, (Some(500.0), Some(100.0)));
    learn_of_the_split(&world).await;
    assert_eq!(prices(&world, &ann, id).await, (Some(125.0), Some(100.0)));
    learn_of_the_split(&world).await;
    let world = world.restarted().await;
    learn_of_the_split(&world).await;
    assert_eq!(prices(&world, &ann, id).await, (Some(125.0), Some(100.0)));
    world.quote("AAPL", 125.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

async fn alert_edited_on_the_day_of_the_split_keeps_its_new_threshold(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 400.0).await;
    let id = world.create(&ann, above("AAPL", 500.0)).await.stored.alert.id;
    world.service.alerts.pause_alert(&ann, id).await.unwrap();
    // Monday, the day of the split, before it becomes known. Midnight in New York is the edge.
    world.clock.set(at("2024-03-11T04:00:00Z"));
    let change = json!({"threshold": 130});
    world.service.alerts.update_alert(&ann, id, &change).await.unwrap();
    world.advance(10 * 60);
    learn_of_the_split(&world).await;
    assert_eq!(prices(&world, &ann, id).await, (Some(130.0), Some(100.0)));
}

async fn alert_edited_the_evening_before_the_split_is_moved(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 400.0).await;
    let id = world.create(&ann, above("AAPL", 500.0)).await.stored.alert.id;
    world.clock.set(at("2024-03-11T03:59:59Z"));
    let change = json!({"threshold": 520});
    world.service.alerts.update_alert(&ann, id, &change).await.unwrap();
    world.advance(10 * 60);
    learn_of_the_split(&world).await;
    assert_eq!(prices(&world, &ann, id).await, (Some(130.0), Some(100.0)));
}

async fn alert_whose_notification_changed_on_the_day_of_the_split_is_moved(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 400.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 500, "parameters": {"note": "a"}});
    let id = world.create(&ann, body).await.stored.alert.id;
    world.advance(3 * 24 * 60);
    let change = json!({"parameters": {"note": "b"}});
    world.service.alerts.update_alert(&ann, id, &change).await.unwrap();
    learn_of_the_split(&world).await;
    assert_eq!(prices(&world, &ann, id).await, (Some(125.0), Some(100.0)));
}

async fn alert_whose_threshold_was_edited_on_the_day_of_the_split_has_only_its_initial_price_moved(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 400.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_change_down", "threshold": 10});
    let id = world.create(&ann, body).await.stored.alert.id;
    world.advance(3 * 24 * 60);
    world
        .service
        .alerts
        .update_alert(&ann, id, &json!({"threshold": 20}))
        .await
        .unwrap();
    learn_of_the_split(&world).await;
    assert_eq!(prices(&world, &ann, id).await, (Some(20.0), Some(100.0)));
    world.quote("AAPL", 80.01).await;
    assert_eq!(world.status(&ann, id).await, Status::Active);
    world.quote("AAPL", 80.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

async fn stocks_of_paused_alerts_are_known_to_those_who_ask_for_splits(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 400.0).await;
    world.quote("KO", 60.0).await;
    let id = world.create(&ann, above("AAPL", 500.0)).await.stored.alert.id;
    world.create(&ann, above("KO", 70.0)).await;
    assert!(
        world
            .service
            .market_intake
            .stocks_of_inactive_alerts()
            .await
            .unwrap()
            .is_empty()
    );
    world.service.alerts.pause_alert(&ann, id).await.unwrap();
    let stocks = world.service.market_intake.stocks_of_inactive_alerts().await.unwrap();
    assert_eq!(stocks, [symbol("AAPL")].into());
}
