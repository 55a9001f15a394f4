//! Alerts that wait for an instant, and alerts whose quotes stop.

use alerts::engine::{EvaluationIssue, EvaluationStatus};
use alerts::{Plan, Status};
use serde_json::json;

use crate::support::{TestApp, above, on_each_database};

on_each_database! {
    reminder_fires_at_its_instant_and_not_before
    alert_is_blind_while_its_quotes_have_stopped
    earnings_alert_fires_the_requested_days_before
    payment_alert_set_on_the_payment_date_fires_at_once_and_once
    dividend_that_becomes_known_on_its_payment_date_fires_at_once
    payment_date_that_passed_while_the_service_was_down_fires_late
    payment_date_that_passed_before_the_alert_was_set_does_not_fire
}

async fn reminder_fires_at_its_instant_and_not_before(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 198.0).await;
    let body = json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-03-08T16:00:00Z"}});
    let id = app.create(&ann, body).await.stored.alert.id;
    app.advance(59);
    app.service.evaluate().await.unwrap();
    assert_eq!(app.status(&ann, id).await, Status::Active);
    app.advance(1);
    app.service.evaluate().await.unwrap();
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn alert_is_blind_while_its_quotes_have_stopped(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app.create(&ann, above("AAPL", 300.0)).await.stored.alert.id;
    let state = async || {
        app.service
            .alerts
            .alert(&ann, id)
            .await
            .unwrap()
            .evaluation
            .map(|evaluation| evaluation.state)
    };
    assert_eq!(state().await, Some(EvaluationStatus::Ok));
    app.advance(16);
    assert_eq!(
        state().await,
        Some(EvaluationStatus::Blind(EvaluationIssue::StaleQuotes))
    );
    app.quote("AAPL", 198.0).await;
    assert_eq!(state().await, Some(EvaluationStatus::Ok));
}

async fn earnings_alert_fires_the_requested_days_before(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    app.deliver(json!({"earnings": [{"symbol": "AAPL", "date": "2024-03-18"}]}))
        .await;
    let body = json!({"symbol": "AAPL", "condition": "earnings_announcement", "threshold": 7});
    let id = app.create(&ann, body).await.stored.alert.id;
    app.advance(24 * 60);
    app.service.evaluate().await.unwrap();
    assert_eq!(app.status(&ann, id).await, Status::Active);
    app.advance(2 * 24 * 60);
    app.service.evaluate().await.unwrap();
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

fn dividend(date: &str) -> serde_json::Value {
    json!({"dividends": [{"symbol": "AAPL", "ex_date": date, "payment_date": date, "amount": 0.25}]})
}

fn payment() -> serde_json::Value {
    json!({"symbol": "AAPL", "condition": "dividend_payment"})
}

async fn payment_alert_set_on_the_payment_date_fires_at_once_and_once(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    app.deliver(dividend("2024-03-08")).await;
    let id = app.create(&ann, payment()).await.stored.alert.id;
    app.service.evaluate().await.unwrap();
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    let app = app.restarted().await;
    app.advance(24 * 60);
    app.service.evaluate().await.unwrap();
    let events = app.events(&ann).await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].data["alert"].get("late"), None);
}

async fn dividend_that_becomes_known_on_its_payment_date_fires_at_once(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app.create(&ann, payment()).await.stored.alert.id;
    app.service.evaluate().await.unwrap();
    assert_eq!(app.status(&ann, id).await, Status::Active);
    app.advance(60);
    app.deliver(dividend("2024-03-08")).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn payment_date_that_passed_while_the_service_was_down_fires_late(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    app.deliver(dividend("2024-03-10")).await;
    let id = app.create(&ann, payment()).await.stored.alert.id;
    app.service.stop().await;
    // Tuesday. The payment was on Sunday, evaluated at 9:30 in New York.
    app.advance(4 * 24 * 60);
    let app = app.restarted().await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    let events = app.events(&ann).await;
    let data = &events[0].data;
    assert_eq!(data["alert"]["late"], json!(true));
    assert_eq!(data["alert"]["crossed_at"], json!("2024-03-10T13:30:00.000Z"));
    assert_eq!(data["alert"]["triggered_at"], json!("2024-03-12T15:00:00.000Z"));
    let reason = data["reason"].as_str().unwrap();
    let late = "(late: it was due at 2024-03-10 13:30:00 UTC, while the service did not run)";
    assert!(reason.ends_with(late), "{reason}");
    let app = app.restarted().await;
    assert_eq!(app.events(&ann).await.len(), 1);
}

async fn payment_date_that_passed_before_the_alert_was_set_does_not_fire(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    app.deliver(dividend("2024-03-07")).await;
    let id = app.create(&ann, payment()).await.stored.alert.id;
    let app = app.restarted().await;
    app.advance(24 * 60);
    app.service.evaluate().await.unwrap();
    assert_eq!(app.status(&ann, id).await, Status::Active);
}
