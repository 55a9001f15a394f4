//! Firings by missed observations.

use alerts::{AlertId, Plan, Status};
use foundation::Actor;
use sources::MissedQuotes;

use super::{evaluate, evaluate_behind, firings, friday, late, quote};
use crate::support::{TestApp, above, on_each_database, settings};

on_each_database! {
    crossing_in_a_gap_fires_once_and_late_after_the_price_came_back
    quotes_behind_a_later_one_are_evaluated_only_if_declared
    price_at_the_threshold_fires_and_one_a_millionth_below_does_not
    period_evaluated_twice_fires_nothing_more
    overlapping_period_is_evaluated_where_it_is_new
    alert_fired_by_a_live_price_does_not_fire_again
    two_processes_with_the_same_gap_fire_an_alert_once
    concurrent_live_price_does_not_duplicate_a_firing
    second_process_with_the_same_gap_fires_nothing
    alert_created_after_the_crossing_does_not_fire
    alert_created_in_the_gap_before_the_crossing_fires
    alert_changed_after_the_crossing_does_not_fire
    paused_alert_does_not_fire_by_a_gap
    crossing_during_downtime_fires_after_the_start
    invalid_quotes_are_left_out_and_counted
}

/// Sets up a feed that stopped at 15:00 until 15:20, and an alert on 199 or above since 15:00.
async fn silent(app: &TestApp) -> (Actor, AlertId) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    app.advance(20);
    (ann, id)
}

async fn crossing_in_a_gap_fires_once_and_late_after_the_price_came_back(app: TestApp) {
    let (ann, id) = silent(&app).await;
    let missed = [
        friday("198.5", "15:05:00"),
        friday("200", "15:12:20"),
        friday("197", "15:15:00"),
    ];
    let outcome = evaluate(&app, &missed).await;
    assert_eq!((outcome.evaluated, outcome.left_out, outcome.fired), (3, 0, 1));
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    assert_eq!(firings(&app, &ann, id).await, late("15:12:20"));
    let events = app.events(&ann).await;
    assert_eq!(events.len(), 1);
    let data = serde_json::Value::from(events[0].data.clone());
    let reason =
        "price 200.00 is at or above 199.00 (late: it crossed at 2024-03-08 15:12:20 UTC, while no prices came in)";
    assert_eq!(data["reason"], reason);
    assert_eq!(data["alert"]["late"], true);
    assert_eq!(data["alert"]["crossed_at"], "2024-03-08T15:12:20.000Z");
    assert_eq!(data["alert"]["triggered_at"], "2024-03-08T15:20:00.000Z");
    assert_eq!(data["stock"]["price"], 200.0);
    app.quote("AAPL", 200.0).await;
    assert_eq!(app.events(&ann).await.len(), 1);
}

async fn quotes_behind_a_later_one_are_evaluated_only_if_declared(app: TestApp) {
    let (ann, id) = silent(&app).await;
    app.quote("AAPL", 198.0).await;
    let missed = [friday("200", "15:12:20"), friday("197", "15:15:00")];
    assert_eq!(evaluate(&app, &missed).await.left_out, 2);
    assert_eq!(app.status(&ann, id).await, Status::Active);
    assert_eq!(evaluate_behind(&app, &missed).await.fired, 1);
    assert_eq!(firings(&app, &ann, id).await, late("15:12:20"));
    assert_eq!(evaluate_behind(&app, &missed).await.fired, 0);
}

async fn price_at_the_threshold_fires_and_one_a_millionth_below_does_not(app: TestApp) {
    let (ann, id) = silent(&app).await;
    evaluate(&app, &[friday("198.999999", "15:05:00")]).await;
    assert_eq!(firings(&app, &ann, id).await, []);
    evaluate(&app, &[friday("199", "15:06:00")]).await;
    assert_eq!(firings(&app, &ann, id).await, late("15:06:00"));
}

async fn period_evaluated_twice_fires_nothing_more(app: TestApp) {
    let (ann, id) = silent(&app).await;
    let missed = [friday("200", "15:12:00"), friday("197", "15:15:00")];
    evaluate(&app, &missed).await;
    let again = evaluate(&app, &missed).await;
    assert_eq!((again.evaluated, again.left_out, again.fired), (0, 2, 0));
    assert_eq!(firings(&app, &ann, id).await.len(), 1);
}

async fn overlapping_period_is_evaluated_where_it_is_new(app: TestApp) {
    let (ann, id) = silent(&app).await;
    evaluate(&app, &[friday("198.5", "15:05:00"), friday("197", "15:10:00")]).await;
    let later = [
        friday("198.5", "15:05:00"),
        friday("197", "15:10:00"),
        friday("199.5", "15:11:00"),
    ];
    let outcome = evaluate(&app, &later).await;
    assert_eq!((outcome.evaluated, outcome.left_out, outcome.fired), (1, 2, 1));
    assert_eq!(firings(&app, &ann, id).await, late("15:11:00"));
}

async fn alert_fired_by_a_live_price_does_not_fire_again(app: TestApp) {
    let (ann, id) = silent(&app).await;
    app.quote("AAPL", 201.0).await;
    evaluate(&app, &[friday("200", "15:12:00")]).await;
    let other = app.another_process().await;
    evaluate(&other, &[friday("200", "15:12:00")]).await;
    assert_eq!(
        firings(&app, &ann, id).await,
        [("2024-03-08T15:20:00Z".to_owned(), None)]
    );
    assert_eq!(app.events(&ann).await.len(), 1);
}

async fn two_processes_with_the_same_gap_fire_an_alert_once(app: TestApp) {
    let (ann, id) = silent(&app).await;
    let other = app.another_process().await;
    let missed = [friday("200", "15:12:00")];
    let (one, two) = tokio::join!(evaluate(&app, &missed), evaluate(&other, &missed));
    assert_eq!(one.fired + two.fired, 1);
    assert_eq!(firings(&app, &ann, id).await, late("15:12:00"));
    for app in [&app, &other] {
        app.service.compare().await.unwrap();
        app.quote("AAPL", 200.0).await;
    }
    assert_eq!(app.events(&ann).await.len(), 1);
}

async fn concurrent_live_price_does_not_duplicate_a_firing(app: TestApp) {
    let (ann, id) = silent(&app).await;
    let missed = [friday("200", "15:12:00")];
    tokio::join!(evaluate(&app, &missed), app.quote("AAPL", 201.0));
    assert_eq!(firings(&app, &ann, id).await.len(), 1);
    assert_eq!(app.events(&ann).await.len(), 1);
}

async fn second_process_with_the_same_gap_fires_nothing(app: TestApp) {
    let (ann, id) = silent(&app).await;
    let other = app.another_process().await;
    let missed = [friday("200", "15:12:00")];
    evaluate(&app, &missed).await;
    let outcome = evaluate(&other, &missed).await;
    assert_eq!((outcome.evaluated, outcome.fired), (1, 0));
    assert_eq!(firings(&app, &ann, id).await, late("15:12:00"));
}

async fn alert_created_after_the_crossing_does_not_fire(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    app.advance(20);
    let id = app.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    app.advance(1);
    evaluate(&app, &[friday("200", "15:19:59"), friday("198", "15:20:00")]).await;
    app.service.evaluate().await.unwrap();
    assert_eq!(app.status(&ann, id).await, Status::Active);
    evaluate(&app, &[friday("200", "15:20:01")]).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn alert_created_in_the_gap_before_the_crossing_fires(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    app.advance(10);
    let id = app.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    app.advance(10);
    let missed = [
        friday("200", "15:09:59"),
        friday("198", "15:10:30"),
        friday("199", "15:11:00"),
    ];
    evaluate(&app, &missed).await;
    assert_eq!(firings(&app, &ann, id).await, late("15:11:00"));
}

async fn alert_changed_after_the_crossing_does_not_fire(app: TestApp) {
    let (ann, id) = silent(&app).await;
    let change = serde_json::json!({"threshold": 199.5});
    app.service.alerts.update_alert(&ann, id, &change).await.unwrap();
    evaluate(&app, &[friday("200", "15:12:00"), friday("198", "15:15:00")]).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
}

async fn paused_alert_does_not_fire_by_a_gap(app: TestApp) {
    let (ann, id) = silent(&app).await;
    app.service.alerts.pause_alert(&ann, id).await.unwrap();
    evaluate(&app, &[friday("200", "15:12:00")]).await;
    assert_eq!(app.status(&ann, id).await, Status::Paused);
    assert_eq!(app.events(&ann).await, []);
}

async fn crossing_during_downtime_fires_after_the_start(app: TestApp) {
    let (ann, id) = silent(&app).await;
    let app = app.restarted().await;
    evaluate(&app, &[friday("200", "15:12:00"), friday("197", "15:15:00")]).await;
    assert_eq!(firings(&app, &ann, id).await, late("15:12:00"));
    let app = app.restarted().await;
    app.quote("AAPL", 200.0).await;
    assert_eq!(app.events(&ann).await.len(), 1);
}

async fn invalid_quotes_are_left_out_and_counted(app: TestApp) {
    let (ann, id) = silent(&app).await;
    let timeless = market::records::QuoteRow {
        time: None,
        ..friday("200", "15:10:00")
    };
    let missed = [
        timeless,
        friday("200", "15:20:01"),
        friday("200", "14:29:59"),
        friday("200", "15:00:00"),
        quote("NOBODY", "200", "2024-03-08T15:10:00Z"),
    ];
    let outcome = evaluate(&app, &missed).await;
    assert_eq!((outcome.evaluated, outcome.left_out, outcome.fired), (0, 5, 0));
    assert_eq!(app.status(&ann, id).await, Status::Active);
    assert_eq!(
        app.service
            .market_intake
            .evaluate_missed(MissedQuotes::default())
            .await
            .unwrap(),
        evaluation::market::MissedPeriodOutcome::default()
    );
}

/// Settings for a market that never closes, and a gap in the night from Friday to Saturday.
async fn check_gap_at_night(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    // Saturday, 05:00 UTC: midnight in New York.
    app.advance(14 * 60);
    let missed = [friday("198", "23:00:00"), quote("AAPL", "199", "2024-03-09T05:00:00Z")];
    assert_eq!(evaluate(&app, &missed).await.fired, 1);
    let crossed = "2024-03-09T05:00:00.000Z".to_owned();
    assert_eq!(firings(&app, &ann, id).await[0].1, Some(crossed));
    app.advance(24 * 60);
    let app = app.restarted().await;
    app.quote("AAPL", 197.0).await;
    let closed = app
        .service
        .stocks
        .stock("AAPL".parse().unwrap())
        .await
        .unwrap()
        .previous_close;
    assert_eq!(closed.map(|price| price.as_f64()), Some(199.0));
}

#[test]
fn gap_at_night_is_evaluated_on_a_market_that_never_closes() {
    testkit::run(async {
        for database in testkit::fresh_databases().await {
            let mut always_open = settings();
            always_open.evaluation.calendar = market::Calendar::nyse().always_open();
            check_gap_at_night(TestApp::with(database, always_open).await).await;
        }
    });
}
