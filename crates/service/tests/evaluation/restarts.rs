//! The service goes on where it stopped.

use alerts::{HistoryAction, Plan, Status};
use serde_json::json;

use super::support::{World, above, on_each_database};

on_each_database! {
    an_alert_from_before_a_restart_fires_after_it
    what_fired_before_a_restart_does_not_fire_again
    a_touch_is_noticed_across_a_restart
    a_session_without_a_bar_is_a_bar_of_its_observations_after_a_restart
    a_reminder_that_became_due_while_the_service_was_down_is_sent_at_the_start
    a_daily_reminder_is_sent_once_for_a_day_across_restarts
}

async fn an_alert_from_before_a_restart_fires_after_it(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let id = world.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    let world = world.restarted().await;
    world.quote("AAPL", 199.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

async fn what_fired_before_a_restart_does_not_fire_again(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let id = world.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    world.quote("AAPL", 199.0).await;
    let world = world.restarted().await;
    world.quote("AAPL", 200.0).await;
    assert_eq!(
        world.actions(&ann, id).await,
        [HistoryAction::Created, HistoryAction::Triggered]
    );
    assert_eq!(world.events(&ann).await.len(), 1);
}

async fn a_touch_is_noticed_across_a_restart(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world
        .deliver(json!({"bars": [
            {"symbol": "AAPL", "date": "2024-03-06", "open": 100, "high": 100, "low": 100, "close": 100, "volume": 1},
            {"symbol": "AAPL", "date": "2024-03-07", "open": 100, "high": 100, "low": 100, "close": 100, "volume": 1},
        ]}))
        .await;
    world.quote("AAPL", 90.0).await;
    let body = json!({"symbol": "AAPL", "condition": "ma_touch_above", "threshold": 3});
    let id = world.create(&ann, body).await.stored.alert.id;
    let world = world.restarted().await;
    world.quote("AAPL", 100.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

async fn a_session_without_a_bar_is_a_bar_of_its_observations_after_a_restart(world: World) {
    world.quote("AAPL", 100.0).await;
    world.quote("AAPL", 130.0).await;
    world.quote("AAPL", 120.0).await;
    // Monday morning.
    world.advance(3 * 24 * 60);
    world.quote("AAPL", 125.0).await;
    let world = world.restarted().await;
    let view = world.service.stocks.stock("AAPL".parse().unwrap()).await.unwrap();
    assert_eq!(view.previous_close.map(|price| price.micros()), Some(120_000_000));
    assert_eq!(view.high_52w.map(|price| price.micros()), Some(130_000_000));
}

async fn a_reminder_that_became_due_while_the_service_was_down_is_sent_at_the_start(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let body = json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-03-08T16:00:00Z"}});
    let id = world.create(&ann, body).await.stored.alert.id;
    world.service.stop().await;
    world.advance(120);
    let world = world.restarted().await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
    assert_eq!(world.events(&ann).await.len(), 1);
}

async fn a_daily_reminder_is_sent_once_for_a_day_across_restarts(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let body = json!({"symbol": "AAPL", "condition": "daily_reminder"});
    let id = world.create(&ann, body).await.stored.alert.id;
    // Monday, after the open.
    world.advance(3 * 24 * 60);
    world.service.evaluate().await.unwrap();
    let world = world.restarted().await;
    world.service.evaluate().await.unwrap();
    assert_eq!(world.status(&ann, id).await, Status::Active);
    assert_eq!(
        world.actions(&ann, id).await,
        [HistoryAction::Created, HistoryAction::Triggered]
    );
    // Tuesday.
    world.advance(24 * 60);
    world.service.evaluate().await.unwrap();
    assert_eq!(world.events(&ann).await.len(), 2);
}
