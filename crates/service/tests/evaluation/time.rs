//! What waits for an instant, and what time does to sources that fall silent.

use alerts::engine::{EvaluationIssue, EvaluationStatus};
use alerts::{Plan, Status};
use serde_json::json;

use super::support::{World, above, on_each_database};

on_each_database! {
    a_reminder_fires_at_its_instant_and_not_before
    an_alert_whose_source_falls_silent_is_blind_until_it_speaks_again
    earnings_are_announced_the_days_before_that_were_asked_for
    payment_alert_set_on_the_payment_date_fires_at_once_and_once
    dividend_that_becomes_known_on_its_payment_date_fires_at_once
    payment_date_that_passed_while_the_service_was_down_fires_late
    payment_date_that_passed_before_the_alert_was_set_does_not_fire
}

async fn a_reminder_fires_at_its_instant_and_not_before(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 198.0).await;
    let body = json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-03-08T16:00:00Z"}});
    let id = world.create(&ann, body).await.stored.alert.id;
    world.advance(59);
    world.service.evaluate().await.unwrap();
    assert_eq!(world.status(&ann, id).await, Status::Active);
    world.advance(1);
    world.service.evaluate().await.unwrap();
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

async fn an_alert_whose_source_falls_silent_is_blind_until_it_speaks_again(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let id = world.create(&ann, above("AAPL", 300.0)).await.stored.alert.id;
    let state = async || {
        world
            .service
            .alerts
            .alert(&ann, id)
            .await
            .unwrap()
            .evaluation
            .map(|evaluation| evaluation.state)
    };
    assert_eq!(state().await, Some(EvaluationStatus::Ok));
    world.advance(16);
    assert_eq!(
        state().await,
        Some(EvaluationStatus::Blind(EvaluationIssue::StaleQuotes))
    );
    world.quote("AAPL", 198.0).await;
    assert_eq!(state().await, Some(EvaluationStatus::Ok));
}

async fn earnings_are_announced_the_days_before_that_were_asked_for(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    world
        .deliver(json!({"earnings": [{"symbol": "AAPL", "date": "2024-03-18"}]}))
        .await;
    let body = json!({"symbol": "AAPL", "condition": "earnings_announcement", "threshold": 7});
    let id = world.create(&ann, body).await.stored.alert.id;
    world.advance(24 * 60);
    world.service.evaluate().await.unwrap();
    assert_eq!(world.status(&ann, id).await, Status::Active);
    world.advance(2 * 24 * 60);
    world.service.evaluate().await.unwrap();
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

fn dividend(date: &str) -> serde_json::Value {
    json!({"dividends": [{"symbol": "AAPL", "ex_date": date, "payment_date": date, "amount": 0.25}]})
}

fn payment() -> serde_json::Value {
    json!({"symbol": "AAPL", "condition": "dividend_payment"})
}

async fn payment_alert_set_on_the_payment_date_fires_at_once_and_once(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    world.deliver(dividend("2024-03-08")).await;
    let id = world.create(&ann, payment()).await.stored.alert.id;
    world.service.evaluate().await.unwrap();
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
    let world = world.restarted().await;
    world.advance(24 * 60);
    world.service.evaluate().await.unwrap();
    let events = world.events(&ann).await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].data["alert"].get("late"), None);
}

async fn dividend_that_becomes_known_on_its_payment_date_fires_at_once(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let id = world.create(&ann, payment()).await.stored.alert.id;
    world.service.evaluate().await.unwrap();
    assert_eq!(world.status(&ann, id).await, Status::Active);
    world.advance(60);
    world.deliver(dividend("2024-03-08")).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

async fn payment_date_that_passed_while_the_service_was_down_fires_late(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    world.deliver(dividend("2024-03-10")).await;
    let id = world.create(&ann, payment()).await.stored.alert.id;
    world.service.stop().await;
    // Tuesday. The payment was on Sunday, judged at half past nine in New York.
    world.advance(4 * 24 * 60);
    let world = world.restarted().await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
    let events = world.events(&ann).await;
    let data = &events[0].data;
    assert_eq!(data["alert"]["late"], json!(true));
    assert_eq!(data["alert"]["crossed_at"], json!("2024-03-10T13:30:00.000Z"));
    assert_eq!(data["alert"]["triggered_at"], json!("2024-03-12T15:00:00.000Z"));
    let reason = data["reason"].as_str().unwrap();
    let late = "(late: it was due at 2024-03-10 13:30:00 UTC, while the service did not run)";
    assert!(reason.ends_with(late), "{reason}");
    let world = world.restarted().await;
    assert_eq!(world.events(&ann).await.len(), 1);
}

async fn payment_date_that_passed_before_the_alert_was_set_does_not_fire(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    world.deliver(dividend("2024-03-07")).await;
    let id = world.create(&ann, payment()).await.stored.alert.id;
    let world = world.restarted().await;
    world.advance(24 * 60);
    world.service.evaluate().await.unwrap();
    assert_eq!(world.status(&ann, id).await, Status::Active);
}
