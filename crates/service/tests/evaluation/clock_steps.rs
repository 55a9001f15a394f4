//! The machine's clock is wrong for a while: what was observed then must not keep alerts from being judged, and what was not
//! judged is not said to be.

use alerts::engine::{EvaluationIssue, EvaluationStatus};
use alerts::{AlertId, HistoryAction, Plan, Status};
use jiff::SignedDuration;
use serde_json::json;
use service::{Actor, Clock, ServiceError};

use super::support::{World, above, at, on_each_database, symbol};

on_each_database! {
    price_pushed_while_the_clock_was_a_day_ahead_keeps_no_alert_from_firing_after_a_restart
    price_pushed_while_the_clock_was_a_day_ahead_keeps_no_alert_from_firing_without_a_restart
    clock_that_is_set_back_by_ten_seconds_keeps_no_quote_out
    clock_that_is_set_back_by_an_hour_keeps_what_the_session_has_seen
    session_that_a_clock_ahead_had_ended_goes_on_with_what_it_had_seen
    session_that_a_clock_ahead_had_ended_is_kept_whole_when_it_ends
    clock_that_was_behind_takes_its_state_up_again
    readiness_says_that_prices_lie_in_the_future_for_a_quarter_of_an_hour
    readiness_does_not_mind_prices_in_the_future_without_an_alert
    date_alert_set_while_the_clock_was_ahead_fires_on_its_date
    daily_reminder_comes_once_a_day_though_the_clock_was_ahead
    quote_that_is_not_judged_is_not_accepted
    daily_reminder_set_while_the_clock_was_ahead_comes_every_day
    payment_alert_set_while_the_clock_was_ahead_fires_though_its_initial_price_comes_later
}

/// Sets the clock to another instant, and lets the service notice.
async fn step(world: &World, seconds: i64) {
    let now = world.clock.now();
    world.clock.step_to(now + SignedDuration::from_secs(seconds));
    world.service.evaluate().await.unwrap();
}

const DAY: i64 = 24 * 3600;

async fn state(world: &World, actor: &Actor, id: AlertId) -> EvaluationStatus {
    world
        .service
        .alerts
        .alert(actor, id)
        .await
        .unwrap()
        .evaluation
        .unwrap()
        .state
}

/// Why the service is not ready.
async fn not_ready(world: &World) -> Option<String> {
    match world.service.ready().await {
        Ok(()) => None,
        Err(ServiceError::Unavailable(why)) => Some(why),
        Err(other) => panic!("{other}"),
    }
}

/// Tuesday morning, an alert on 200 or more, and a price of 198 that is dated a day later than it was pushed.
async fn with_price_of_tomorrow(world: World) -> (World, Actor, AlertId) {
    world.clock.set(at("2024-03-12T15:00:00Z"));
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 197.0).await;
    let id = world.create(&ann, above("AAPL", 200.0)).await.stored.alert.id;
    step(&world, DAY).await;
    world.quote("AAPL", 198.0).await;
    (world, ann, id)
}

async fn alert_waits_says_so_and_fires(world: World, ann: Actor, id: AlertId) {
    let in_future = EvaluationStatus::Waiting(EvaluationIssue::LastPriceInFuture {
        at: at("2024-03-13T15:00:00Z"),
    });
    assert_eq!(state(&world, &ann, id).await, in_future);
    let why = not_ready(&world).await.unwrap();
    assert!(
        why.contains("the last prices of 1 stocks are dated in the future"),
        "{why}"
    );
    world.quote("AAPL", 199.0).await;
    assert_eq!(state(&world, &ann, id).await, EvaluationStatus::Ok);
    assert_eq!(not_ready(&world).await, None);
    // What was observed since is kept, though the database had a later row.
    let world = world.restarted().await;
    assert_eq!(state(&world, &ann, id).await, EvaluationStatus::Ok);
    world.quote("AAPL", 200.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
    assert_eq!(world.events(&ann).await.len(), 1);
}

async fn price_pushed_while_the_clock_was_a_day_ahead_keeps_no_alert_from_firing_after_a_restart(world: World) {
    let (world, ann, id) = with_price_of_tomorrow(world).await;
    world.service.stop().await;
    world.clock.step_to(at("2024-03-12T15:00:02Z"));
    let world = world.restarted().await;
    alert_waits_says_so_and_fires(world, ann, id).await;
}

async fn price_pushed_while_the_clock_was_a_day_ahead_keeps_no_alert_from_firing_without_a_restart(world: World) {
    let (world, ann, id) = with_price_of_tomorrow(world).await;
    step(&world, 2 - DAY).await;
    alert_waits_says_so_and_fires(world, ann, id).await;
}

async fn clock_that_is_set_back_by_ten_seconds_keeps_no_quote_out(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let id = world.create(&ann, above("AAPL", 200.0)).await.stored.alert.id;
    step(&world, -10).await;
    assert_eq!(state(&world, &ann, id).await, EvaluationStatus::Ok);
    world.quote("AAPL", 199.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Active);
    world.quote("AAPL", 200.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

async fn clock_that_is_set_back_by_an_hour_keeps_what_the_session_has_seen(world: World) {
    world.clock.set(at("2024-03-08T17:00:00Z"));
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 130.0).await;
    let body = json!({"symbol": "AAPL", "condition": "new_high"});
    let id = world.create(&ann, body).await.stored.alert.id;
    step(&world, -3600).await;
    assert_eq!(not_ready(&world).await, None);
    world.quote("AAPL", 129.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Active);
    let world = world.restarted().await;
    world.quote("AAPL", 130.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Active);
    world.quote("AAPL", 130.01).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

async fn session_that_a_clock_ahead_had_ended_goes_on_with_what_it_had_seen(world: World) {
    world.clock.set(at("2024-03-12T15:00:00Z"));
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 130.0).await;
    let body = json!({"symbol": "AAPL", "condition": "new_high"});
    let id = world.create(&ann, body).await.stored.alert.id;
    step(&world, DAY).await;
    world.quote("AAPL", 120.0).await;
    step(&world, -DAY).await;
    world.quote("AAPL", 130.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Active);
    world.quote("AAPL", 130.01).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

async fn session_that_a_clock_ahead_had_ended_is_kept_whole_when_it_ends(world: World) {
    world.clock.set(at("2024-03-12T15:00:00Z"));
    world.quote("AAPL", 100.0).await;
    step(&world, DAY).await;
    world.quote("AAPL", 101.0).await;
    step(&world, -DAY).await;
    world.quote("AAPL", 110.0).await;
    world.quote("AAPL", 105.0).await;
    // Wednesday, for real.
    world.advance(24 * 60 + 30);
    world.quote("AAPL", 106.0).await;
    let world = world.restarted().await;
    let view = world.service.stocks.stock(symbol("AAPL")).await.unwrap();
    assert_eq!(view.previous_close.map(|price| price.as_f64()), Some(105.0));
    assert_eq!(view.high_52w.map(|price| price.as_f64()), Some(110.0));
}

async fn clock_that_was_behind_takes_its_state_up_again(world: World) {
    world.clock.set(at("2024-03-12T15:00:00Z"));
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 130.0).await;
    let body = json!({"symbol": "AAPL", "condition": "new_high"});
    let id = world.create(&ann, body).await.stored.alert.id;
    step(&world, -30 * DAY).await;
    assert!(matches!(
        state(&world, &ann, id).await,
        EvaluationStatus::Waiting(EvaluationIssue::LastPriceInFuture { .. })
    ));
    step(&world, 30 * DAY).await;
    assert_eq!(not_ready(&world).await, None);
    assert!(!matches!(
        state(&world, &ann, id).await,
        EvaluationStatus::Waiting(EvaluationIssue::LastPriceInFuture { .. })
    ));
    world.quote("AAPL", 130.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Active);
    world.quote("AAPL", 131.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

async fn readiness_says_that_prices_lie_in_the_future_for_a_quarter_of_an_hour(world: World) {
    let (world, ann, id) = with_price_of_tomorrow(world).await;
    step(&world, -DAY).await;
    assert!(not_ready(&world).await.is_some());
    step(&world, 15 * 60 - 1).await;
    assert!(not_ready(&world).await.is_some());
    step(&world, 1).await;
    assert_eq!(not_ready(&world).await, None);
    // The alert goes on saying it.
    assert!(matches!(
        state(&world, &ann, id).await,
        EvaluationStatus::Waiting(EvaluationIssue::LastPriceInFuture { .. })
    ));
}

async fn readiness_does_not_mind_prices_in_the_future_without_an_alert(world: World) {
    let (world, ann, id) = with_price_of_tomorrow(world).await;
    world.service.alerts.pause_alert(&ann, id).await.unwrap();
    step(&world, -DAY).await;
    assert_eq!(not_ready(&world).await, None);
}

async fn date_alert_set_while_the_clock_was_ahead_fires_on_its_date(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    world
        .deliver(json!({"dividends": [{"symbol": "AAPL", "ex_date": "2024-03-12", "payment_date": "2024-03-09"}]}))
        .await;
    step(&world, 2 * DAY).await;
    let body = json!({"symbol": "AAPL", "condition": "dividend_payment"});
    let id = world.create(&ann, body).await.stored.alert.id;
    step(&world, -2 * DAY).await;
    assert_eq!(world.status(&ann, id).await, Status::Active);
    // Saturday, half past nine in New York.
    world.clock.set(at("2024-03-09T14:29:59Z"));
    world.service.evaluate().await.unwrap();
    assert_eq!(world.status(&ann, id).await, Status::Active);
    world.clock.set(at("2024-03-09T14:30:00Z"));
    world.service.evaluate().await.unwrap();
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

async fn daily_reminder_comes_once_a_day_though_the_clock_was_ahead(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let body = json!({"symbol": "AAPL", "condition": "daily_reminder"});
    let id = world.create(&ann, body).await.stored.alert.id;
    let reminders = async |world: &World| {
        let actions = world.actions(&ann, id).await;
        actions
            .iter()
            .filter(|&&action| action == HistoryAction::Triggered)
            .count()
    };
    // To Monday, when the first one comes, and back to Friday.
    step(&world, 3 * DAY).await;
    assert_eq!(reminders(&world).await, 1);
    step(&world, -3 * DAY).await;
    let world = world.restarted().await;
    step(&world, 3 * DAY).await;
    assert_eq!(reminders(&world).await, 1, "Monday's has come");
    step(&world, DAY).await;
    assert_eq!(reminders(&world).await, 2, "Tuesday's");
}

async fn quote_that_is_not_judged_is_not_accepted(world: World) {
    world.quote("AAPL", 100.0).await;
    // At the close the bar comes first, and the session's last quote after it.
    world.clock.set(at("2024-03-08T21:00:00Z"));
    world
        .deliver(json!({"bars": [
            {"symbol": "AAPL", "date": "2024-03-08", "open": 100, "high": 101, "low": 99, "close": 100, "volume": 1},
        ]}))
        .await;
    let answer = world
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

async fn daily_reminder_set_while_the_clock_was_ahead_comes_every_day(world: World) {
    world.clock.set(at("2024-03-12T15:00:00Z"));
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    step(&world, 2 * DAY).await;
    let body = json!({"symbol": "AAPL", "condition": "daily_reminder"});
    let id = world.create(&ann, body).await.stored.alert.id;
    step(&world, -2 * DAY).await;
    for (reminders, open) in ["2024-03-13T13:30:00Z", "2024-03-14T13:30:00Z", "2024-03-15T13:30:00Z"]
        .into_iter()
        .enumerate()
    {
        world.clock.set(at(open));
        world.service.evaluate().await.unwrap();
        let actions = world.actions(&ann, id).await;
        let triggered = actions
            .iter()
            .filter(|&&action| action == HistoryAction::Triggered)
            .count();
        assert_eq!(triggered, reminders + 1, "{open}");
    }
}

async fn payment_alert_set_while_the_clock_was_ahead_fires_though_its_initial_price_comes_later(world: World) {
    world.clock.set(at("2024-03-12T15:00:00Z"));
    let ann = world.ann(Plan::Premium).await;
    world
        .deliver(json!({"dividends": [{"symbol": "AAPL", "ex_date": "2024-03-01", "payment_date": "2024-03-13"}]}))
        .await;
    step(&world, 2 * DAY).await;
    let body = json!({"symbol": "AAPL", "condition": "dividend_payment"});
    let id = world.create(&ann, body).await.stored.alert.id;
    step(&world, -2 * DAY).await;
    world.quote("AAPL", 198.0).await;
    while world
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
    world.clock.set(at("2024-03-13T13:30:00Z"));
    world.service.evaluate().await.unwrap();
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}
