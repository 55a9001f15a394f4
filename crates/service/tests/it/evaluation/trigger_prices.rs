//! The option `trigger`: bid, ask, their mean, and the close of a session.

use alerts::{Plan, Status};
use serde_json::{Value, json};

use crate::support::{TestApp, above, on_each_database};

on_each_database! {
    bid_is_judged_in_place_of_the_last_price
    mean_of_bid_and_ask_is_judged
    quote_without_a_bid_keeps_the_one_before
    bid_is_kept_by_a_restart
    missing_bid_is_named
    close_is_judged_once_and_not_the_prices_before
    close_is_judged_after_a_restart_that_it_fell_into
}

fn with_trigger(mut body: Value, trigger: &str) -> Value {
    body["options"] = json!({"trigger": trigger});
    body
}

/// Delivers a price of AAPL with bid and ask, a minute later.
async fn book(app: &TestApp, price: f64, bid: f64, ask: f64) {
    app.advance(1);
    app.deliver(json!({"quotes": [{"symbol": "AAPL", "price": price, "bid": bid, "ask": ask}]}))
        .await;
}

async fn price(app: &TestApp, price: f64) {
    app.advance(1);
    app.quote("AAPL", price).await;
}

async fn bid_is_judged_in_place_of_the_last_price(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let alert = app.create(&ann, with_trigger(above("AAPL", 200.0), "bid")).await;
    let id = alert.stored.alert.id;
    book(&app, 200.5, 199.99, 200.6).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    book(&app, 200.1, 200.0, 200.6).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    let events = app.events(&ann).await;
    assert_eq!(events[0].data["stock"]["price"], 200.1, "{:?}", events[0].data);
}

async fn mean_of_bid_and_ask_is_judged(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let alert = app.create(&ann, with_trigger(above("AAPL", 200.0), "mid")).await;
    let id = alert.stored.alert.id;
    book(&app, 201.0, 199.0, 200.99).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    book(&app, 199.0, 199.0, 201.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn quote_without_a_bid_keeps_the_one_before(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let when =
        json!({"symbol": "AAPL", "condition": "expression", "parameters": {"when": "bid > 199 and price < 195"}});
    let id = app.create(&ann, when).await.stored.alert.id;
    book(&app, 200.0, 199.5, 200.5).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    price(&app, 194.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn bid_is_kept_by_a_restart(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let mut body = with_trigger(above("AAPL", 200.0), "bid");
    body["options"]["hold"] = json!("5m");
    let id = app.create(&ann, body).await.stored.alert.id;
    book(&app, 199.0, 200.5, 201.0).await;
    let app = app.restarted().await;
    app.advance(5);
    app.service.evaluate().await.unwrap();
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn missing_bid_is_named(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app
        .create(&ann, with_trigger(above("AAPL", 200.0), "bid"))
        .await
        .stored
        .alert
        .id;
    price(&app, 201.0).await;
    let detail = app.service.alerts.alert(&ann, id).await.unwrap();
    let evaluation = format!("{:?}", detail.evaluation);
    assert!(evaluation.contains("NoSourceOfMetric(\"bid\")"), "{evaluation}");
}

/// Advances from 10:00 to 15:55 in New York.
fn advance_to_five_minutes_before_close(app: &TestApp) {
    app.advance(355);
}

async fn close_is_judged_once_and_not_the_prices_before(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let mut body = with_trigger(above("AAPL", 200.0), "close");
    body["options"]["repeat"] = json!("each_time");
    let id = app.create(&ann, body).await.stored.alert.id;
    let too_low = app.create(&ann, with_trigger(above("AAPL", 201.0), "close")).await;
    price(&app, 205.0).await;
    advance_to_five_minutes_before_close(&app);
    app.quote("AAPL", 200.5).await;
    app.service.evaluate().await.unwrap();
    assert_eq!(app.events(&ann).await.len(), 0);
    app.advance(6);
    app.service.evaluate().await.unwrap();
    app.service.evaluate().await.unwrap();
    let fired = app.events(&ann).await;
    assert_eq!(fired.len(), 1);
    assert_eq!(fired[0].data["stock"]["price"], 200.5);
    assert_eq!(fired[0].data["alert"]["id"], id.to_string());
    assert_eq!(app.status(&ann, too_low.stored.alert.id).await, Status::Active);
}

async fn close_is_judged_after_a_restart_that_it_fell_into(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app
        .create(&ann, with_trigger(above("AAPL", 200.0), "close"))
        .await
        .stored
        .alert
        .id;
    advance_to_five_minutes_before_close(&app);
    app.quote("AAPL", 200.5).await;
    app.advance(30);
    let app = app.restarted().await;
    app.service.evaluate().await.unwrap();
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}
