//! Deletion of alerts.

use alerts::transition::HistoryStatus;
use alerts::{HistoryAction, Plan, Status};
use serde_json::json;

use crate::support::{ALL, TestApp, above, kind, on_each_database};

on_each_database! {
    deleted_alert_keeps_its_history
    deleted_alert_does_not_fire_even_after_a_restart
    deleted_alert_can_be_created_again
    alert_in_any_state_can_be_deleted
}

async fn deleted_alert_keeps_its_history(app: TestApp) {
    let (ann, bob) = (app.ann(Plan::Basic).await, app.bob(Plan::Basic).await);
    app.quote("AAPL", 189.20).await;
    let id = app.create(&ann, above("AAPL", 200.0)).await.stored.alert.id;
    app.service.alerts.delete_alert(&ann, id).await.unwrap();
    let again = app.service.alerts.delete_alert(&ann, id).await;
    assert_eq!(kind(&again.unwrap_err()), "no alert");
    assert_eq!(kind(&app.service.alerts.alert(&ann, id).await.unwrap_err()), "no alert");
    assert_eq!(
        kind(&app.service.alerts.pause_alert(&ann, id).await.unwrap_err()),
        "no alert"
    );
    let history = app.history(&ann, id).await;
    assert_eq!(history.len(), 2);
    assert_eq!(history[1].entry.action, HistoryAction::Deleted);
    assert_eq!(history[1].entry.previous_status, Some(Status::Active));
    assert_eq!(history[1].entry.new_status, HistoryStatus::Deleted);
    let of_bob = app.service.alerts.alert_history(&bob, id, ALL).await;
    assert_eq!(kind(&of_bob.unwrap_err()), "no alert");
}

async fn deleted_alert_does_not_fire_even_after_a_restart(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 189.20).await;
    let id = app.create(&ann, above("AAPL", 200.0)).await.stored.alert.id;
    let kept = app.create(&ann, above("AAPL", 201.0)).await.stored.alert.id;
    app.service.alerts.delete_alert(&ann, id).await.unwrap();
    app.quote("AAPL", 200.0).await;
    let app = app.restarted().await;
    app.quote("AAPL", 201.0).await;
    assert_eq!(
        app.actions(&ann, id).await,
        [HistoryAction::Created, HistoryAction::Deleted]
    );
    assert_eq!(app.status(&ann, kept).await, Status::Triggered);
}

async fn deleted_alert_can_be_created_again(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 189.20).await;
    let body = json!({
        "symbol": "AAPL", "condition": "price_above", "threshold": 200, "parameters": {"onboarding_id": "step-1"}
    });
    let first = app.create(&ann, body.clone()).await.stored.alert.id;
    app.service.alerts.delete_alert(&ann, first).await.unwrap();
    let second = app.create(&ann, body).await.stored.alert.id;
    assert_ne!(first, second);
}

async fn alert_in_any_state_can_be_deleted(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 189.20).await;
    let paused = app.create(&ann, above("AAPL", 200.0)).await.stored.alert.id;
    app.service.alerts.pause_alert(&ann, paused).await.unwrap();
    let triggered = app.create(&ann, above("AAPL", 195.0)).await.stored.alert.id;
    app.quote("AAPL", 195.0).await;
    for (id, status) in [(paused, Status::Paused), (triggered, Status::Triggered)] {
        app.service.alerts.delete_alert(&ann, id).await.unwrap();
        let history = app.history(&ann, id).await;
        assert_eq!(history.last().unwrap().entry.previous_status, Some(status));
    }
}
