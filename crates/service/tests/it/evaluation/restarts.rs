//! The service continues where it stopped.

use alerts::{HistoryAction, Plan, Status};
use serde_json::json;

use crate::support::{TestApp, above, on_each_database};

on_each_database! {
    alert_from_before_a_restart_fires_after_it
    fired_alert_does_not_fire_again_after_a_restart
    quote_older_than_one_before_a_restart_is_rejected
    touch_across_a_restart_fires
    session_without_a_bar_has_an_observed_bar_after_a_restart
    reminder_due_during_downtime_is_sent_at_the_start
    daily_reminder_is_sent_once_a_day_across_restarts
}

async fn alert_from_before_a_restart_fires_after_it(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    let app = app.restarted().await;
    app.quote("AAPL", 199.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn fired_alert_does_not_fire_again_after_a_restart(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    app.quote("AAPL", 199.0).await;
    let app = app.restarted().await;
    app.quote("AAPL", 200.0).await;
    assert_eq!(
        app.actions(&ann, id).await,
        [HistoryAction::Created, HistoryAction::Triggered]
    );
    assert_eq!(app.events(&ann).await.len(), 1);
}

async fn quote_older_than_one_before_a_restart_is_rejected(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    app.advance(1);
    app.quote("AAPL", 198.5).await;
    let app = app.restarted().await;
    let quote = |time: &str| json!({"quotes": [{"symbol": "AAPL", "price": 199.0, "time": time}]});
    let late = app.ingest(quote("2024-03-08T15:00:59Z")).await;
    assert_eq!(late.rejected.len(), 1);
    assert_eq!(app.status(&ann, id).await, Status::Active);
    app.deliver(quote("2024-03-08T15:01:00Z")).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn touch_across_a_restart_fires(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.deliver(json!({"bars": [
        {"symbol": "AAPL", "date": "2024-03-06", "open": 100, "high": 100, "low": 100, "close": 100, "volume": 1},
        {"symbol": "AAPL", "date": "2024-03-07", "open": 100, "high": 100, "low": 100, "close": 100, "volume": 1},
    ]}))
    .await;
    app.quote("AAPL", 90.0).await;
    let body = json!({"symbol": "AAPL", "condition": "ma_touch_above", "threshold": 3});
    let id = app.create(&ann, body).await.stored.alert.id;
    let app = app.restarted().await;
    app.quote("AAPL", 100.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn session_without_a_bar_has_an_observed_bar_after_a_restart(app: TestApp) {
    app.quote("AAPL", 100.0).await;
    app.quote("AAPL", 130.0).await;
    app.quote("AAPL", 120.0).await;
    // Monday morning.
    app.advance(3 * 24 * 60);
    app.quote("AAPL", 125.0).await;
    let app = app.restarted().await;
    let view = app.service.stocks.stock("AAPL".parse().unwrap()).await.unwrap();
    assert_eq!(view.previous_close.map(|price| price.micros()), Some(120_000_000));
    assert_eq!(view.high_52w.map(|price| price.micros()), Some(130_000_000));
}

async fn reminder_due_during_downtime_is_sent_at_the_start(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let body = json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-03-08T16:00:00Z"}});
    let id = app.create(&ann, body).await.stored.alert.id;
    app.service.stop().await;
    app.advance(120);
    let app = app.restarted().await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    assert_eq!(app.events(&ann).await.len(), 1);
}

async fn daily_reminder_is_sent_once_a_day_across_restarts(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let body = json!({"symbol": "AAPL", "condition": "daily_reminder"});
    let id = app.create(&ann, body).await.stored.alert.id;
    // Monday, after the open.
    app.advance(3 * 24 * 60);
    app.service.evaluate().await.unwrap();
    let app = app.restarted().await;
    app.service.evaluate().await.unwrap();
    assert_eq!(app.status(&ann, id).await, Status::Active);
    assert_eq!(
        app.actions(&ann, id).await,
        [HistoryAction::Created, HistoryAction::Triggered]
    );
    // Tuesday.
    app.advance(24 * 60);
    app.service.evaluate().await.unwrap();
    assert_eq!(app.events(&ann).await.len(), 2);
}
