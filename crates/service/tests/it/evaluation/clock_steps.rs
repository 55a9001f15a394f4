//! A wrong system clock: observations from that time must not block alerts, and an alert that is not evaluated must
//! not be reported as evaluated.

use alerts::engine::{EvaluationIssue, EvaluationStatus};
use alerts::{AlertId, HistoryAction, Plan, Status};
use clock::Clock;
use foundation::{Actor, ServiceError};
use jiff::SignedDuration;
use serde_json::json;

use crate::support::{TestApp, above, at, on_each_database, symbol};

on_each_database! {
    price_from_a_clock_ahead_blocks_no_alert_after_a_restart
    price_from_a_clock_ahead_blocks_no_alert_without_a_restart
    clock_set_back_by_ten_seconds_rejects_no_quote
    clock_set_back_by_an_hour_keeps_the_session_state
    session_ended_by_a_clock_ahead_continues_with_its_state
    session_ended_by_a_clock_ahead_is_stored_complete
    clock_that_was_behind_uses_its_state_again
    readiness_reports_future_prices_for_fifteen_minutes
    readiness_ignores_future_prices_without_an_alert
    date_alert_set_while_the_clock_was_ahead_fires_on_its_date
    reminder_set_after_the_clock_was_set_back_fires_at_its_moment
    daily_reminder_fires_once_a_day_after_a_clock_ahead
    quote_that_is_not_evaluated_is_rejected
    daily_reminder_set_while_the_clock_was_ahead_fires_every_day
    payment_alert_set_while_the_clock_was_ahead_fires_before_its_initial_price
}

/// Sets the clock to another instant, and lets the service notice.
async fn step(app: &TestApp, seconds: i64) {
    let now = app.clock.now();
    app.clock.step_to(now + SignedDuration::from_secs(seconds));
    app.service.evaluate().await.unwrap();
}

const SECONDS_PER_DAY: i64 = 24 * 3600;

async fn state(app: &TestApp, actor: &Actor, id: AlertId) -> EvaluationStatus {
    app.service
        .alerts
        .alert(actor, id)
        .await
        .unwrap()
        .evaluation
        .unwrap()
        .state
}

/// Returns the reason why the service is not ready.
async fn not_ready(app: &TestApp) -> Option<String> {
    match app.service.ready().await {
        Ok(()) => None,
        Err(ServiceError::Unavailable(why)) => Some(why),
        Err(other) => panic!("{other}"),
    }
}

/// Sets up Tuesday morning, an alert on 200 or above, and a price of 198 that is dated a day after it was pushed.
async fn with_price_of_tomorrow(app: TestApp) -> (TestApp, Actor, AlertId) {
    app.clock.set(at("2024-03-12T15:00:00Z"));
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 197.0).await;
    let id = app.create(&ann, above("AAPL", 200.0)).await.stored.alert.id;
    step(&app, SECONDS_PER_DAY).await;
    app.quote("AAPL", 198.0).await;
    (app, ann, id)
}

async fn alert_waits_says_so_and_fires(app: TestApp, ann: Actor, id: AlertId) {
    let in_future = EvaluationStatus::Waiting(EvaluationIssue::LastPriceInFuture {
        at: at("2024-03-13T15:00:00Z"),
    });
    assert_eq!(state(&app, &ann, id).await, in_future);
    let why = not_ready(&app).await.unwrap();
    assert!(
        why.contains("the last prices of 1 stocks are dated in the future"),
        "{why}"
    );
    app.quote("AAPL", 199.0).await;
    assert_eq!(state(&app, &ann, id).await, EvaluationStatus::Ok);
    assert_eq!(not_ready(&app).await, None);
    // A later observation is kept although the database had a later row.
    let app = app.restarted().await;
    assert_eq!(state(&app, &ann, id).await, EvaluationStatus::Ok);
    app.quote("AAPL", 200.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    assert_eq!(app.events(&ann).await.len(), 1);
}

async fn price_from_a_clock_ahead_blocks_no_alert_after_a_restart(app: TestApp) {
    let (app, ann, id) = with_price_of_tomorrow(app).await;
    app.service.stop().await;
    app.clock.step_to(at("2024-03-12T15:00:02Z"));
    let app = app.restarted().await;
    alert_waits_says_so_and_fires(app, ann, id).await;
}

async fn price_from_a_clock_ahead_blocks_no_alert_without_a_restart(app: TestApp) {
    let (app, ann, id) = with_price_of_tomorrow(app).await;
    step(&app, 2 - SECONDS_PER_DAY).await;
    alert_waits_says_so_and_fires(app, ann, id).await;
}

async fn clock_set_back_by_ten_seconds_rejects_no_quote(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app.create(&ann, above("AAPL", 200.0)).await.stored.alert.id;
    step(&app, -10).await;
    assert_eq!(state(&app, &ann, id).await, EvaluationStatus::Ok);
    app.quote("AAPL", 199.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    app.quote("AAPL", 200.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn clock_set_back_by_an_hour_keeps_the_session_state(app: TestApp) {
    app.clock.set(at("2024-03-08T17:00:00Z"));
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 130.0).await;
    let body = json!({"symbol": "AAPL", "condition": "new_high"});
    let id = app.create(&ann, body).await.stored.alert.id;
    step(&app, -3600).await;
    assert_eq!(not_ready(&app).await, None);
    app.quote("AAPL", 129.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    let app = app.restarted().await;
    app.quote("AAPL", 130.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    app.quote("AAPL", 130.01).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn session_ended_by_a_clock_ahead_continues_with_its_state(app: TestApp) {
    app.clock.set(at("2024-03-12T15:00:00Z"));
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 130.0).await;
    let body = json!({"symbol": "AAPL", "condition": "new_high"});
    let id = app.create(&ann, body).await.stored.alert.id;
    step(&app, SECONDS_PER_DAY).await;
    app.quote("AAPL", 120.0).await;
    step(&app, -SECONDS_PER_DAY).await;
    app.quote("AAPL", 130.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    app.quote("AAPL", 130.01).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn session_ended_by_a_clock_ahead_is_stored_complete(app: TestApp) {
    app.clock.set(at("2024-03-12T15:00:00Z"));
    app.quote("AAPL", 100.0).await;
    step(&app, SECONDS_PER_DAY).await;
    app.quote("AAPL", 101.0).await;
    step(&app, -SECONDS_PER_DAY).await;
    app.quote("AAPL", 110.0).await;
    app.quote("AAPL", 105.0).await;
    // The real Wednesday.
    app.advance(24 * 60 + 30);
    app.quote("AAPL", 106.0).await;
    let app = app.restarted().await;
    let view = app.service.stocks.stock(symbol("AAPL")).await.unwrap();
    assert_eq!(view.previous_close.map(|price| price.as_f64()), Some(105.0));
    assert_eq!(view.high_52w.map(|price| price.as_f64()), Some(110.0));
}

async fn clock_that_was_behind_uses_its_state_again(app: TestApp) {
    app.clock.set(at("2024-03-12T15:00:00Z"));
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 130.0).await;
    let body = json!({"symbol": "AAPL", "condition": "new_high"});
    let id = app.create(&ann, body).await.stored.alert.id;
    step(&app, -30 * SECONDS_PER_DAY).await;
    assert!(matches!(
        state(&app, &ann, id).await,
        EvaluationStatus::Waiting(EvaluationIssue::LastPriceInFuture { .. })
    ));
    step(&app, 30 * SECONDS_PER_DAY).await;
    assert_eq!(not_ready(&app).await, None);
    assert!(!matches!(
        state(&app, &ann, id).await,
        EvaluationStatus::Waiting(EvaluationIssue::LastPriceInFuture { .. })
    ));
    app.quote("AAPL", 130.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    app.quote("AAPL", 131.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn readiness_reports_future_prices_for_fifteen_minutes(app: TestApp) {
    let (app, ann, id) = with_price_of_tomorrow(app).await;
    step(&app, -SECONDS_PER_DAY).await;
    assert!(not_ready(&app).await.is_some());
    step(&app, 15 * 60 - 1).await;
    assert!(not_ready(&app).await.is_some());
    step(&app, 1).await;
    assert_eq!(not_ready(&app).await, None);
    // The alert still reports it.
    assert!(matches!(
        state(&app, &ann, id).await,
        EvaluationStatus::Waiting(EvaluationIssue::LastPriceInFuture { .. })
    ));
}

async fn readiness_ignores_future_prices_without_an_alert(app: TestApp) {
    let (app, ann, id) = with_price_of_tomorrow(app).await;
    app.service.alerts.pause_alert(&ann, id).await.unwrap();
    step(&app, -SECONDS_PER_DAY).await;
    assert_eq!(not_ready(&app).await, None);
}

async fn date_alert_set_while_the_clock_was_ahead_fires_on_its_date(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    app.deliver(json!({"dividends": [{"symbol": "AAPL", "ex_date": "2024-03-12", "payment_date": "2024-03-09"}]}))
        .await;
    step(&app, 2 * SECONDS_PER_DAY).await;
    let body = json!({"symbol": "AAPL", "condition": "dividend_payment"});
    let id = app.create(&ann, body).await.stored.alert.id;
    step(&app, -2 * SECONDS_PER_DAY).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    // Saturday, 9:30 in New York.
    app.clock.set(at("2024-03-09T14:29:59Z"));
    app.service.evaluate().await.unwrap();
    assert_eq!(app.status(&ann, id).await, Status::Active);
    app.clock.set(at("2024-03-09T14:30:00Z"));
    app.service.evaluate().await.unwrap();
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn reminder_set_after_the_clock_was_set_back_fires_at_its_moment(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    // Too little for a reload: the engine's time stands still.
    step(&app, -50).await;
    let moment = app.clock.now() + SignedDuration::from_secs(30);
    let parameters = json!({"date": moment.to_string()});
    let body = json!({"symbol": "AAPL", "condition": "reminder", "parameters": parameters});
    let reminder = app.create(&ann, body).await.stored.alert.id;
    step(&app, 29).await;
    app.quote("AAPL", 199.0).await;
    assert_eq!(app.status(&ann, reminder).await, Status::Active);
    step(&app, 1).await;
    assert_eq!(app.status(&ann, reminder).await, Status::Triggered);
}

async fn daily_reminder_fires_once_a_day_after_a_clock_ahead(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let body = json!({"symbol": "AAPL", "condition": "daily_reminder"});
    let id = app.create(&ann, body).await.stored.alert.id;
    let reminders = async |app: &TestApp| {
        let actions = app.actions(&ann, id).await;
        actions
            .iter()
            .filter(|&&action| action == HistoryAction::Triggered)
            .count()
    };
    // To Monday, when the first reminder is sent, and back to Friday.
    step(&app, 3 * SECONDS_PER_DAY).await;
    assert_eq!(reminders(&app).await, 1);
    step(&app, -3 * SECONDS_PER_DAY).await;
    let app = app.restarted().await;
    step(&app, 3 * SECONDS_PER_DAY).await;
    assert_eq!(reminders(&app).await, 1, "Monday's has come");
    step(&app, SECONDS_PER_DAY).await;
    assert_eq!(reminders(&app).await, 2, "Tuesday's");
}

async fn quote_that_is_not_evaluated_is_rejected(app: TestApp) {
    app.quote("AAPL", 100.0).await;
    // At the close the bar arrives before the session's last quote.
    app.clock.set(at("2024-03-08T21:00:00Z"));
    app.deliver(json!({"bars": [
        {"symbol": "AAPL", "date": "2024-03-08", "open": 100, "high": 101, "low": 99, "close": 100, "volume": 1},
    ]}))
    .await;
    let answer = app
        .ingest(json!({"quotes": [{"symbol": "KO", "price": 60}, {"symbol": "AAPL", "price": 100.5}]}))
        .await;
    assert_eq!(answer.accepted.get("quotes"), Some(&1));
    assert_eq!(answer.rejected.len(), 1);
    assert_eq!(
        (answer.rejected[0].kind, answer.rejected[0].index),
        ("quotes", 1),
        "{answer:?}"
    );
}

async fn daily_reminder_set_while_the_clock_was_ahead_fires_every_day(app: TestApp) {
    app.clock.set(at("2024-03-12T15:00:00Z"));
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    step(&app, 2 * SECONDS_PER_DAY).await;
    let body = json!({"symbol": "AAPL", "condition": "daily_reminder"});
    let id = app.create(&ann, body).await.stored.alert.id;
    step(&app, -2 * SECONDS_PER_DAY).await;
    for (reminders, open) in ["2024-03-13T13:30:00Z", "2024-03-14T13:30:00Z", "2024-03-15T13:30:00Z"]
        .into_iter()
        .enumerate()
    {
        app.clock.set(at(open));
        app.service.evaluate().await.unwrap();
        let actions = app.actions(&ann, id).await;
        let triggered = actions
            .iter()
            .filter(|&&action| action == HistoryAction::Triggered)
            .count();
        assert_eq!(triggered, reminders + 1, "{open}");
    }
}

async fn payment_alert_set_while_the_clock_was_ahead_fires_before_its_initial_price(app: TestApp) {
    app.clock.set(at("2024-03-12T15:00:00Z"));
    let ann = app.ann(Plan::Premium).await;
    app.deliver(json!({"dividends": [{"symbol": "AAPL", "ex_date": "2024-03-01", "payment_date": "2024-03-13"}]}))
        .await;
    step(&app, 2 * SECONDS_PER_DAY).await;
    let body = json!({"symbol": "AAPL", "condition": "dividend_payment"});
    let id = app.create(&ann, body).await.stored.alert.id;
    step(&app, -2 * SECONDS_PER_DAY).await;
    app.quote("AAPL", 198.0).await;
    while app
        .service
        .alerts
        .alert(&ann, id)
        .await
        .unwrap()
        .stored
        .alert
        .initial_price
        .is_none()
    {
        tokio::task::yield_now().await;
    }
    app.clock.set(at("2024-03-13T13:30:00Z"));
    app.service.evaluate().await.unwrap();
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}
