//! Several processes on one database: no change is lost, and nothing fires twice.

use std::sync::Arc;

use alerts::{HistoryAction, Plan, Status};
use clock::Clock;
use serde_json::json;
use store::model::{EvaluationCommit, Firing, StoredAlert};

use crate::support::{TestApp, above, at, on_each_database};

on_each_database! {
    alert_created_by_another_process_is_evaluated_after_a_comparison
    alert_deleted_by_another_process_is_not_evaluated_after_a_comparison
    two_processes_with_the_same_price_fire_an_alert_once
    comparison_without_differences_corrects_nothing
    daily_reminder_that_another_process_does_not_know_yet_is_sent_after_a_restart
}

async fn alert_created_by_another_process_is_evaluated_after_a_comparison(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let other = app.another_process().await;
    let id = other.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    assert_eq!(app.service.compare().await.unwrap(), 1);
    app.quote("AAPL", 199.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn alert_deleted_by_another_process_is_not_evaluated_after_a_comparison(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    let other = app.another_process().await;
    other.service.alerts.delete_alert(&ann, id).await.unwrap();
    assert_eq!(app.service.compare().await.unwrap(), 1);
    assert_eq!(app.service.compare().await.unwrap(), 0);
    app.quote("AAPL", 199.0).await;
    assert_eq!(
        app.actions(&ann, id).await,
        [HistoryAction::Created, HistoryAction::Deleted]
    );
}

async fn two_processes_with_the_same_price_fire_an_alert_once(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    let other = app.another_process().await;
    tokio::join!(app.quote("AAPL", 199.0), other.quote("AAPL", 199.0));
    assert_eq!(
        app.actions(&ann, id).await,
        [HistoryAction::Created, HistoryAction::Triggered]
    );
    assert_eq!(app.events(&ann).await.len(), 1);
    // The process that came too late knows that the alert has fired.
    for app in [&app, &other] {
        assert_eq!(app.service.compare().await.unwrap(), 0);
    }
}

async fn comparison_without_differences_corrects_nothing(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    app.create(&ann, above("AAPL", 199.0)).await;
    let paused = app.create(&ann, above("AAPL", 300.0)).await.stored.alert.id;
    app.service.alerts.pause_alert(&ann, paused).await.unwrap();
    app.quote("AAPL", 199.0).await;
    assert_eq!(app.service.compare().await.unwrap(), 0);
}

async fn daily_reminder_that_another_process_does_not_know_yet_is_sent_after_a_restart(app: TestApp) {
    let store = app.store().await;
    if !store.is_shared() {
        return;
    }
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    // Before Monday's open.
    app.clock.set(at("2024-03-11T13:29:59Z"));
    let body = json!({"symbol": "AAPL", "condition": "daily_reminder"});
    let id = app.create(&ann, body).await.stored.alert.id;
    app.service.stop().await;
    app.clock.set(at("2024-03-11T13:30:20Z"));
    // The other process has processed the open without the alert.
    let commit = EvaluationCommit {
        clock: Some(app.clock.now()),
        ..EvaluationCommit::default()
    };
    let composer = |_: &StoredAlert, _: &Firing| String::new();
    store.commit_evaluation(commit, Arc::new(composer)).await.unwrap();
    let app = app.restarted().await;
    assert_eq!(
        app.actions(&ann, id).await,
        [HistoryAction::Created, HistoryAction::Triggered]
    );
    let app = app.restarted().await;
    app.service.evaluate().await.unwrap();
    assert_eq!(app.events(&ann).await.len(), 1);
}
