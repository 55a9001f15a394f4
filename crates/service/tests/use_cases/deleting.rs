//! Deleting alerts, and what is left of them.

use alerts::transition::HistoryStatus;
use alerts::{HistoryAction, Plan, Status};
use serde_json::json;

use crate::support::{ALL, World, above, kind, on_each_database};

on_each_database! {
    a_deleted_alert_is_gone_and_its_history_stays
    a_deleted_alert_does_not_fire_not_even_after_a_restart
    what_was_deleted_can_be_made_again
    an_alert_in_any_state_can_be_deleted
}

async fn a_deleted_alert_is_gone_and_its_history_stays(world: World) {
    let (ann, bob) = (world.ann(Plan::Basic).await, world.bob(Plan::Basic).await);
    world.quote("AAPL", 189.20).await;
    let id = world.create(&ann, above("AAPL", 200.0)).await.stored.alert.id;
    world.service.alerts.delete_alert(&ann, id).await.unwrap();
    let again = world.service.alerts.delete_alert(&ann, id).await;
    assert_eq!(kind(&again.unwrap_err()), "no alert");
    assert_eq!(
        kind(&world.service.alerts.alert(&ann, id).await.unwrap_err()),
        "no alert"
    );
    assert_eq!(
        kind(&world.service.alerts.pause_alert(&ann, id).await.unwrap_err()),
        "no alert"
    );
    let history = world.history(&ann, id).await;
    assert_eq!(history.len(), 2);
    assert_eq!(history[1].entry.action, HistoryAction::Deleted);
    assert_eq!(history[1].entry.previous_status, Some(Status::Active));
    assert_eq!(history[1].entry.new_status, HistoryStatus::Deleted);
    let of_bob = world.service.alerts.alert_history(&bob, id, ALL).await;
    assert_eq!(kind(&of_bob.unwrap_err()), "no alert");
}

async fn a_deleted_alert_does_not_fire_not_even_after_a_restart(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 189.20).await;
    let id = world.create(&ann, above("AAPL", 200.0)).await.stored.alert.id;
    let kept = world.create(&ann, above("AAPL", 201.0)).await.stored.alert.id;
    world.service.alerts.delete_alert(&ann, id).await.unwrap();
    world.quote("AAPL", 200.0).await;
    let world = world.restarted().await;
    world.quote("AAPL", 201.0).await;
    assert_eq!(
        world.actions(&ann, id).await,
        [HistoryAction::Created, HistoryAction::Deleted]
    );
    assert_eq!(world.status(&ann, kept).await, Status::Triggered);
}

async fn what_was_deleted_can_be_made_again(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 189.20).await;
    let body = json!({
        "symbol": "AAPL", "condition": "price_above", "threshold": 200, "parameters": {"onboarding_id": "step-1"}
    });
    let first = world.create(&ann, body.clone()).await.stored.alert.id;
    world.service.alerts.delete_alert(&ann, first).await.unwrap();
    let second = world.create(&ann, body).await.stored.alert.id;
    assert_ne!(first, second);
}

async fn an_alert_in_any_state_can_be_deleted(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 189.20).await;
    let paused = world.create(&ann, above("AAPL", 200.0)).await.stored.alert.id;
    world.service.alerts.pause_alert(&ann, paused).await.unwrap();
    let triggered = world.create(&ann, above("AAPL", 195.0)).await.stored.alert.id;
    world.quote("AAPL", 195.0).await;
    for (id, status) in [(paused, Status::Paused), (triggered, Status::Triggered)] {
        world.service.alerts.delete_alert(&ann, id).await.unwrap();
        let history = world.history(&ann, id).await;
        assert_eq!(history.last().unwrap().entry.previous_status, Some(status));
    }
}
