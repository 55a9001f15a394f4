//! A stock is divided.

use alerts::{HistoryAction, Plan, Status};
use serde_json::json;

use super::support::{World, above, on_each_database, symbol};

on_each_database! {
    a_split_moves_active_and_paused_alerts_and_fires_none
    a_split_that_was_announced_is_applied_on_its_day
    a_split_that_is_told_of_late_leaves_what_came_after_its_day
    a_split_is_applied_once_however_often_it_is_delivered
}

async fn a_split_moves_active_and_paused_alerts_and_fires_none(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 400.0).await;
    let below = json!({"symbol": "AAPL", "condition": "price_below", "threshold": 300});
    let active = world.create(&ann, below).await.stored.alert.id;
    let paused = world.create(&ann, above("AAPL", 500.0)).await.stored.alert.id;
    world.service.pause_alert(&ann, paused).await.unwrap();
    // Monday morning, the first session in new shares.
    world.advance(3 * 24 * 60);
    world
        .deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]}))
        .await;
    world.quote("AAPL", 100.0).await;

    let threshold = |alert: alerts::Alert| alert.condition.threshold().map(|threshold| threshold.as_f64());
    let active = world.service.alert(&ann, active).await.unwrap().stored.alert;
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
    let paused = world.service.alert(&ann, paused).await.unwrap().stored.alert;
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
    for world in [world.restarted().await] {
        let view = world.service.stock(symbol("AAPL")).unwrap();
        assert_eq!(view.high_52w.map(|price| price.as_f64()), Some(110.0));
        assert_eq!(view.previous_close.map(|price| price.as_f64()), Some(100.0));
        assert_eq!(view.last_price.map(|price| price.as_f64()), Some(101.0));
        assert_eq!(world.actions(&ann, id).await, [HistoryAction::Created]);
        world.quote("AAPL", 105.0).await;
        assert_eq!(world.status(&ann, id).await, Status::Triggered);
    }
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
