//! Stock splits.

use alerts::{HistoryAction, Plan, Status};
use serde_json::json;

use crate::support::{TestApp, above, at, on_each_database, symbol};

on_each_database! {
    split_adjusts_active_and_paused_alerts_and_fires_none
    announced_split_is_applied_on_its_day
    late_split_keeps_data_from_after_its_day
    split_delivered_in_its_session_keeps_observations_in_new_shares
    last_session_before_a_split_is_stored_in_its_own_shares
    off_session_price_from_before_a_split_is_adjusted
    split_ratio_can_be_corrected_until_it_is_applied
    repeated_split_is_applied_once
    alert_paused_over_a_split_is_adjusted_once
    alert_edited_on_the_day_of_the_split_keeps_its_new_threshold
    alert_edited_the_evening_before_the_split_is_adjusted
    alert_with_only_its_notification_changed_on_the_day_of_the_split_is_adjusted
    alert_with_its_threshold_edited_on_the_day_of_the_split_has_only_its_initial_price_adjusted
    stocks_of_paused_alerts_are_included_for_split_requests
}

async fn split_adjusts_active_and_paused_alerts_and_fires_none(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 400.0).await;
    let below = json!({"symbol": "AAPL", "condition": "price_below", "threshold": 300});
    let active = app.create(&ann, below).await.stored.alert.id;
    let paused = app.create(&ann, above("AAPL", 500.0)).await.stored.alert.id;
    app.service.alerts.pause_alert(&ann, paused).await.unwrap();
    // Monday morning, the first session in new shares.
    app.advance(3 * 24 * 60);
    app.deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]}))
        .await;
    app.quote("AAPL", 100.0).await;

    let threshold = |alert: alerts::Alert| alert.condition.threshold().map(|threshold| threshold.as_f64());
    let active = app.service.alerts.alert(&ann, active).await.unwrap().stored.alert;
    assert_eq!(
        (active.status, active.initial_price.map(|price| price.as_f64())),
        (Status::Active, Some(100.0))
    );
    assert_eq!(threshold(active), Some(75.0));
    let actions = app.actions(&ann, paused).await;
    assert_eq!(
        actions,
        [HistoryAction::Created, HistoryAction::Paused, HistoryAction::Adjusted]
    );
    let paused = app.service.alerts.alert(&ann, paused).await.unwrap().stored.alert;
    assert_eq!(threshold(paused), Some(125.0));
    let app = app.restarted().await;
    app.quote("AAPL", 75.0).await;
    assert_eq!(app.events(&ann).await.len(), 1);
}

async fn announced_split_is_applied_on_its_day(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 400.0).await;
    let id = app.create(&ann, above("AAPL", 420.0)).await.stored.alert.id;
    app.deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]}))
        .await;
    assert_eq!(app.actions(&ann, id).await, [HistoryAction::Created]);
    let app = app.restarted().await;
    app.advance(3 * 24 * 60);
    app.quote("AAPL", 105.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    let actions = app.actions(&ann, id).await;
    assert_eq!(
        actions,
        [
            HistoryAction::Created,
            HistoryAction::Adjusted,
            HistoryAction::Triggered
        ]
    );
}

async fn late_split_keeps_data_from_after_its_day(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.deliver(json!({"bars": [
        {"symbol": "AAPL", "date": "2024-03-06", "open": 400, "high": 440, "low": 400, "close": 400, "volume": 10},
        {"symbol": "AAPL", "date": "2024-03-07", "open": 100, "high": 100, "low": 100, "close": 100, "volume": 40},
    ]}))
    .await;
    app.quote("AAPL", 101.0).await;
    let id = app.create(&ann, above("AAPL", 105.0)).await.stored.alert.id;
    app.deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-07", "ratio": 4}]}))
        .await;
    check_after_late_split(&app).await;
    let app = app.restarted().await;
    check_after_late_split(&app).await;
    assert_eq!(app.actions(&ann, id).await, [HistoryAction::Created]);
    app.quote("AAPL", 105.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn check_after_late_split(app: &TestApp) {
    let view = app.service.stocks.stock(symbol("AAPL")).await.unwrap();
    assert_eq!(view.high_52w.map(|price| price.as_f64()), Some(110.0));
    assert_eq!(view.low_52w.map(|price| price.as_f64()), Some(100.0));
    assert_eq!(view.previous_close.map(|price| price.as_f64()), Some(100.0));
    assert_eq!(view.last_price.map(|price| price.as_f64()), Some(101.0));
}

async fn split_delivered_in_its_session_keeps_observations_in_new_shares(app: TestApp) {
    let bar = json!({"symbol": "AAPL", "date": "2024-03-07", "open": 400, "high": 400, "low": 400, "close": 400, "volume": 1});
    app.deliver(json!({"bars": [bar]})).await;
    app.quote("AAPL", 100.0).await;
    app.deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-08", "ratio": 4}]}))
        .await;
    app.quote("AAPL", 106.0).await;
    let view = app.service.stocks.stock(symbol("AAPL")).await.unwrap();
    assert_eq!(view.last_price.map(|price| price.as_f64()), Some(106.0));
    assert_eq!(view.low_52w.map(|price| price.as_f64()), Some(100.0));
    assert_eq!(view.change_percent.map(|percent| percent.as_f64()), Some(6.0));
}

async fn last_session_before_a_split_is_stored_in_its_own_shares(app: TestApp) {
    app.quote("AAPL", 400.0).await;
    // Monday, the day of the split, before any quote.
    app.advance(3 * 24 * 60);
    app.deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]}))
        .await;
    app.quote("AAPL", 101.0).await;
    let app = app.restarted().await;
    let view = app.service.stocks.stock(symbol("AAPL")).await.unwrap();
    assert_eq!(view.previous_close.map(|price| price.as_f64()), Some(100.0));
    assert_eq!(view.low_52w.map(|price| price.as_f64()), Some(100.0));
}

async fn off_session_price_from_before_a_split_is_adjusted(app: TestApp) {
    app.advance(8 * 60);
    app.quote("AAPL", 402.0).await;
    app.advance(2 * 24 * 60 + 14 * 60);
    app.deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]}))
        .await;
    let view = app.service.stocks.stock(symbol("AAPL")).await.unwrap();
    assert_eq!(view.last_price.map(|price| price.as_f64()), Some(100.5));
}

async fn split_ratio_can_be_corrected_until_it_is_applied(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 400.0).await;
    let id = app.create(&ann, above("AAPL", 420.0)).await.stored.alert.id;
    let split = |ratio: u32| json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": ratio}]});
    app.deliver(split(4)).await;
    app.deliver(split(2)).await;
    app.advance(3 * 24 * 60);
    // Any delivery on the day applies it.
    app.deliver(split(2)).await;
    assert_eq!(app.ingest(split(5)).await.rejected.len(), 1);
    let alert = app.service.alerts.alert(&ann, id).await.unwrap().stored.alert;
    assert_eq!(
        alert.condition.threshold().map(|threshold| threshold.as_f64()),
        Some(210.0)
    );
}

async fn repeated_split_is_applied_once(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 400.0).await;
    let id = app.create(&ann, above("AAPL", 420.0)).await.stored.alert.id;
    app.advance(3 * 24 * 60);
    let split = json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]});
    app.deliver(split.clone()).await;
    app.deliver(split.clone()).await;
    let app = app.restarted().await;
    app.deliver(split).await;
    assert_eq!(
        app.actions(&ann, id).await,
        [HistoryAction::Created, HistoryAction::Adjusted]
    );
}

const SPLIT_OF_MONDAY: &str = r#"{"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]}"#;

pub(crate) async fn deliver_split(app: &TestApp) {
    app.deliver(serde_json::from_str(SPLIT_OF_MONDAY).unwrap()).await;
}

/// Returns the threshold and the initial price of an alert.
pub(crate) async fn prices(
    app: &TestApp,
    actor: &foundation::Actor,
    id: alerts::AlertId,
) -> (Option<f64>, Option<f64>) {
    let alert = app.service.alerts.alert(actor, id).await.unwrap().stored.alert;
    (
        alert.condition.threshold().map(|threshold| threshold.as_f64()),
        alert.initial_price.map(|price| price.as_f64()),
    )
}

async fn alert_paused_over_a_split_is_adjusted_once(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 400.0).await;
    let id = app.create(&ann, above("AAPL", 500.0)).await.stored.alert.id;
    app.service.alerts.pause_alert(&ann, id).await.unwrap();
    // Tuesday, the day after the split, which is not known yet.
    app.advance(4 * 24 * 60);
    app.quote("AAPL", 100.0).await;
    app.service.alerts.activate_alert(&ann, id).await.unwrap();
    assert_eq!(prices(&app, &ann, id).await, (Some(500.0), Some(100.0)));
    deliver_split(&app).await;
    assert_eq!(prices(&app, &ann, id).await, (Some(125.0), Some(100.0)));
    deliver_split(&app).await;
    let app = app.restarted().await;
    deliver_split(&app).await;
    assert_eq!(prices(&app, &ann, id).await, (Some(125.0), Some(100.0)));
    app.quote("AAPL", 125.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn alert_edited_on_the_day_of_the_split_keeps_its_new_threshold(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 400.0).await;
    let id = app.create(&ann, above("AAPL", 500.0)).await.stored.alert.id;
    app.service.alerts.pause_alert(&ann, id).await.unwrap();
    // Monday, the day of the split, before it is known. The day begins at midnight in New York.
    app.clock.set(at("2024-03-11T04:00:00Z"));
    let change = json!({"threshold": 130});
    app.service.alerts.update_alert(&ann, id, &change).await.unwrap();
    app.advance(10 * 60);
    deliver_split(&app).await;
    assert_eq!(prices(&app, &ann, id).await, (Some(130.0), Some(100.0)));
}

async fn alert_edited_the_evening_before_the_split_is_adjusted(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 400.0).await;
    let id = app.create(&ann, above("AAPL", 500.0)).await.stored.alert.id;
    app.clock.set(at("2024-03-11T03:59:59Z"));
    let change = json!({"threshold": 520});
    app.service.alerts.update_alert(&ann, id, &change).await.unwrap();
    app.advance(10 * 60);
    deliver_split(&app).await;
    assert_eq!(prices(&app, &ann, id).await, (Some(130.0), Some(100.0)));
}

async fn alert_with_only_its_notification_changed_on_the_day_of_the_split_is_adjusted(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 400.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 500, "parameters": {"note": "a"}});
    let id = app.create(&ann, body).await.stored.alert.id;
    app.advance(3 * 24 * 60);
    let change = json!({"parameters": {"note": "b"}});
    app.service.alerts.update_alert(&ann, id, &change).await.unwrap();
    deliver_split(&app).await;
    assert_eq!(prices(&app, &ann, id).await, (Some(125.0), Some(100.0)));
}

async fn alert_with_its_threshold_edited_on_the_day_of_the_split_has_only_its_initial_price_adjusted(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 400.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_change_down", "threshold": 10});
    let id = app.create(&ann, body).await.stored.alert.id;
    app.advance(3 * 24 * 60);
    app.service
        .alerts
        .update_alert(&ann, id, &json!({"threshold": 20}))
        .await
        .unwrap();
    deliver_split(&app).await;
    assert_eq!(prices(&app, &ann, id).await, (Some(20.0), Some(100.0)));
    app.quote("AAPL", 80.01).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    app.quote("AAPL", 80.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn stocks_of_paused_alerts_are_included_for_split_requests(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 400.0).await;
    app.quote("KO", 60.0).await;
    let id = app.create(&ann, above("AAPL", 500.0)).await.stored.alert.id;
    app.create(&ann, above("KO", 70.0)).await;
    assert!(
        app.service
            .market_intake
            .stocks_of_inactive_alerts()
            .await
            .unwrap()
            .is_empty()
    );
    app.service.alerts.pause_alert(&ann, id).await.unwrap();
    let stocks = app.service.market_intake.stocks_of_inactive_alerts().await.unwrap();
    assert_eq!(stocks, [symbol("AAPL")].into());
}
