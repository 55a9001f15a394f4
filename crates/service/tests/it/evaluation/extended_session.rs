//! The option `session: extended`. It is Friday, 10:00 in New York; the session ends at 16:00, and extended hours at 20:00.

use alerts::{Plan, Status};
use serde_json::{Value, json};

use crate::support::{TestApp, above, at, on_each_database, symbol};

on_each_database! {
    price_after_the_close_fires_before_ingestion_returns
    only_alerts_with_the_option_are_judged
    price_is_kept_by_a_restart
    quote_from_outside_the_present_hours_is_only_displayed
    session_that_an_extended_price_ends_is_stored
    next_session_replaces_the_price
}

/// 17:00 in New York.
const EVENING: &str = "2024-03-08T22:00:00Z";

fn extended(mut body: Value) -> Value {
    body["options"] = json!({"session": "extended"});
    body
}

fn fall_since_the_close(percent: u32) -> Value {
    let when = format!("change_pct(prev_close) <= -{percent}");
    extended(json!({"symbol": "AAPL", "condition": "expression", "parameters": {"when": when}}))
}

/// Delivers a close of 200 and advances to an instant after it.
async fn close_and_pass_until(app: &TestApp, then: &str) {
    app.clock.set(at("2024-03-08T21:00:00Z"));
    app.quote("AAPL", 200.0).await;
    app.clock.set(at(then));
}

async fn price_after_the_close_fires_before_ingestion_returns(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 210.0).await;
    let three = app.create(&ann, fall_since_the_close(3)).await.stored.alert.id;
    let four = app.create(&ann, fall_since_the_close(4)).await.stored.alert.id;
    close_and_pass_until(&app, EVENING).await;
    assert_eq!(
        app.status(&ann, three).await,
        Status::Active,
        "the session fell by less than its close before"
    );
    let quote = json!({"quotes": [{"symbol": "AAPL", "price": 194.0, "time": "2024-03-08T21:59:30Z"}]});
    let report = app.ingest(quote).await;
    assert!(report.rejected.is_empty(), "{:?}", report.rejected);
    assert_eq!(app.status(&ann, three).await, Status::Triggered);
    assert_eq!(app.status(&ann, four).await, Status::Active);
    let history = app.history(&ann, three).await;
    assert_eq!(history.last().unwrap().price.unwrap().to_string(), "194");
    let events = app.events(&ann).await;
    assert_eq!(events.len(), 1);
    let stock = &events[0].data["stock"];
    assert_eq!(
        (&stock["price"], &stock["change"], &stock["change_percent"]),
        (&json!(194), &json!(-6), &json!(-3))
    );
    let shown = app.service.prices.current_price(symbol("AAPL")).unwrap();
    assert_eq!(shown.price().to_string(), "194");
}

async fn only_alerts_with_the_option_are_judged(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let regular = app.create(&ann, above("AAPL", 205.0)).await.stored.alert.id;
    let extended = app.create(&ann, extended(above("AAPL", 206.0))).await.stored.alert.id;
    close_and_pass_until(&app, EVENING).await;
    app.quote("AAPL", 206.0).await;
    app.service.evaluate().await.unwrap();
    assert_eq!(app.status(&ann, regular).await, Status::Active);
    assert_eq!(app.status(&ann, extended).await, Status::Triggered);
}

async fn price_is_kept_by_a_restart(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let mut body = extended(above("AAPL", 205.0));
    body["options"]["hold"] = json!("5m");
    let id = app.create(&ann, body).await.stored.alert.id;
    close_and_pass_until(&app, EVENING).await;
    app.quote("AAPL", 206.0).await;
    let app = app.restarted().await;
    app.advance(4);
    app.service.evaluate().await.unwrap();
    assert_eq!(app.status(&ann, id).await, Status::Active);
    app.advance(1);
    app.service.evaluate().await.unwrap();
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    assert_eq!(app.events(&ann).await[0].data["stock"]["price"], 206.0);
}

async fn quote_from_outside_the_present_hours_is_only_displayed(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app.create(&ann, extended(above("AAPL", 205.0))).await.stored.alert.id;
    for (now, time) in [
        // Of the session.
        ("2024-03-08T21:00:02Z", "2024-03-08T20:59:59Z"),
        // After extended hours, which end on Saturday in UTC.
        ("2024-03-09T01:00:01Z", "2024-03-09T00:59:59Z"),
        // Of the evening before.
        ("2024-03-11T08:00:00Z", "2024-03-09T01:00:00Z"),
        // Of the morning, after the open.
        ("2024-03-11T13:30:00Z", "2024-03-11T13:29:59Z"),
    ] {
        app.clock.set(at(now));
        let quote = json!({"quotes": [{"symbol": "AAPL", "price": 206.0, "time": time}]});
        let report = app.ingest(quote).await;
        assert!(report.rejected.is_empty(), "{now}: {:?}", report.rejected);
        app.service.evaluate().await.unwrap();
        assert_eq!(app.status(&ann, id).await, Status::Active, "{now}");
    }
}

async fn session_that_an_extended_price_ends_is_stored(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    app.create(&ann, extended(above("AAPL", 300.0))).await;
    close_and_pass_until(&app, "2024-03-08T21:00:01Z").await;
    app.quote("AAPL", 206.0).await;
    let app = app.restarted().await;
    app.service.evaluate().await.unwrap();
    let bars = app
        .store()
        .await
        .bars(symbol("AAPL"), "2024-01-01".parse().unwrap())
        .await
        .unwrap();
    let closes: Vec<_> = bars
        .iter()
        .map(|bar| format!("{} {} {}", bar.date, bar.high, bar.close))
        .collect();
    assert_eq!(closes, ["2024-03-08 200 200"]);
}

async fn next_session_replaces_the_price(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app.create(&ann, fall_since_the_close(10)).await.stored.alert.id;
    close_and_pass_until(&app, EVENING).await;
    app.quote("AAPL", 181.0).await;
    app.clock.set(at("2024-03-11T13:30:00Z"));
    app.quote("AAPL", 181.0).await;
    let app = app.restarted().await;
    app.advance(1);
    app.quote("AAPL", 180.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    let prices = app.store().await.latest_extended_prices().await.unwrap();
    assert_eq!(prices.len(), 1, "the row stays until the next extended hours");
}
