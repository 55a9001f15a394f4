//! The metric `vwap`: the volume-weighted average price that a source reports with its quotes.

use alerts::{AlertId, Plan, Status};
use foundation::Actor;
use serde_json::json;

use crate::support::{TestApp, on_each_database};

on_each_database! {
    price_is_compared_with_the_average_of_its_quote
    quote_without_an_average_keeps_the_one_before
    average_is_kept_by_a_restart
    bid_and_ask_do_not_end_the_average
    average_ends_with_its_session
    missing_average_is_named
}

async fn create(app: &TestApp, ann: &Actor, when: &str) -> AlertId {
    let body = json!({"symbol": "AAPL", "condition": "expression", "parameters": {"when": when}});
    app.create(ann, body).await.stored.alert.id
}

/// Delivers a price of AAPL with the average, a minute later.
async fn quote(app: &TestApp, price: f64, vwap: Option<f64>) {
    app.advance(1);
    app.deliver(json!({"quotes": [{"symbol": "AAPL", "price": price, "volume": 1000, "vwap": vwap}]}))
        .await;
}

async fn price_is_compared_with_the_average_of_its_quote(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = create(&app, &ann, "price > vwap").await;
    quote(&app, 199.0, Some(199.0)).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    quote(&app, 199.0, Some(198.999_999)).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn quote_without_an_average_keeps_the_one_before(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = create(&app, &ann, "price > 1.01 * vwap").await;
    quote(&app, 199.0, Some(199.0)).await;
    quote(&app, 200.99, None).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    quote(&app, 201.0, None).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn average_is_kept_by_a_restart(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = create(&app, &ann, "price > vwap").await;
    quote(&app, 199.0, Some(199.5)).await;
    let app = app.restarted().await;
    quote(&app, 199.5, None).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    quote(&app, 199.51, None).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn bid_and_ask_do_not_end_the_average(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = create(&app, &ann, "bid > vwap").await;
    quote(&app, 199.0, Some(199.5)).await;
    app.advance(1);
    app.deliver(json!({"quotes": [{"symbol": "AAPL", "price": 199.6, "bid": 199.51, "ask": 199.7}]}))
        .await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn average_ends_with_its_session(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = create(&app, &ann, "price > vwap").await;
    quote(&app, 199.0, Some(199.5)).await;
    // The next session, on Monday.
    app.advance(3 * 24 * 60);
    app.quote("AAPL", 200.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    quote(&app, 200.0, Some(199.5)).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn missing_average_is_named(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = create(&app, &ann, "price > vwap").await;
    quote(&app, 199.0, None).await;
    let evaluation = |detail: service::alerts::AlertDetail| format!("{:?}", detail.evaluation);
    let missing = evaluation(app.service.alerts.alert(&ann, id).await.unwrap());
    assert!(missing.contains("NoSourceOfMetric(\"vwap\")"), "{missing}");
    quote(&app, 199.0, Some(199.5)).await;
    let there = evaluation(app.service.alerts.alert(&ann, id).await.unwrap());
    assert!(!there.contains("NoSourceOfMetric"), "{there}");
}
