//! Prices from before a split that are used on its day, and clocks that reach its day too early.

use alerts::{HistoryAction, Plan, Status};
use serde_json::json;

use super::splits::{deliver_split, prices};
use crate::support::{ALL, TestApp, above, at, on_each_database, symbol};

on_each_database! {
    initial_price_from_before_a_split_is_adjusted_for_an_alert_created_on_its_day
    initial_price_from_before_a_split_is_adjusted_for_an_alert_activated_on_its_day
    item_and_trade_opened_at_the_close_before_a_split_are_adjusted
    trade_closed_at_the_close_before_a_split_is_adjusted
    split_waits_while_the_clock_is_briefly_a_day_ahead
    split_is_applied_when_the_new_day_has_held_for_five_minutes
    split_due_at_the_start_is_applied_at_once
    last_price_before_a_split_keeps_its_time
}

/// Sets up Monday, the day of the split, 8:30 in New York. The last price is Friday's, 500, and the split is not
/// known.
async fn before_the_open_of_the_split(app: &TestApp) -> foundation::Actor {
    let ann = app.ann(Plan::Premium).await;
    app.clock.set(at("2024-03-08T20:59:00Z"));
    app.quote("AAPL", 500.0).await;
    app.clock.set(at("2024-03-11T12:30:00Z"));
    ann
}

fn down_10_percent() -> serde_json::Value {
    json!({"symbol": "AAPL", "condition": "price_change_down", "threshold": 10})
}

async fn fires_at_112_50(app: &TestApp, ann: &foundation::Actor, id: alerts::AlertId) {
    app.clock.set(at("2024-03-11T13:31:00Z"));
    app.quote("AAPL", 112.51).await;
    assert_eq!(app.status(ann, id).await, Status::Active);
    app.quote("AAPL", 112.5).await;
    assert_eq!(app.status(ann, id).await, Status::Triggered);
}

async fn initial_price_from_before_a_split_is_adjusted_for_an_alert_created_on_its_day(app: TestApp) {
    let ann = before_the_open_of_the_split(&app).await;
    let id = app.create(&ann, down_10_percent()).await.stored.alert.id;
    assert_eq!(prices(&app, &ann, id).await, (Some(10.0), Some(500.0)));
    deliver_split(&app).await;
    assert_eq!(prices(&app, &ann, id).await, (Some(10.0), Some(125.0)));
    // From now on the close of Friday is in new shares.
    let other = json!({"symbol": "AAPL", "condition": "price_change_down", "threshold": 11});
    let other = app.create(&ann, other).await.stored.alert.id;
    let app = app.restarted().await;
    deliver_split(&app).await;
    assert_eq!(prices(&app, &ann, other).await, (Some(11.0), Some(125.0)));
    fires_at_112_50(&app, &ann, id).await;
}

async fn initial_price_from_before_a_split_is_adjusted_for_an_alert_activated_on_its_day(app: TestApp) {
    let ann = before_the_open_of_the_split(&app).await;
    let id = app.create(&ann, down_10_percent()).await.stored.alert.id;
    app.service.alerts.pause_alert(&ann, id).await.unwrap();
    app.service.alerts.activate_alert(&ann, id).await.unwrap();
    deliver_split(&app).await;
    assert_eq!(prices(&app, &ann, id).await, (Some(10.0), Some(125.0)));
    fires_at_112_50(&app, &ann, id).await;
}

/// Returns the stored entry and exit prices of Ann's only trade, and its entry price after splits.
async fn trade_prices(app: &TestApp, ann: &foundation::Actor) -> (String, Option<String>, String) {
    let trades = app.service.watchlists.paper_trades(ann, ALL).await.unwrap().items;
    assert_eq!(trades.len(), 1);
    let trade = &trades[0];
    (
        trade.stored.entry.price.to_string(),
        trade.stored.exit.map(|exit| exit.price.to_string()),
        trade.entry_price.to_string(),
    )
}

async fn item_and_trade_opened_at_the_close_before_a_split_are_adjusted(app: TestApp) {
    let ann = before_the_open_of_the_split(&app).await;
    let body = json!({"stock_symbol": "AAPL", "intention": "buy"});
    app.service.watchlists.add_to_watchlist(&ann, &body).await.unwrap();
    let initial = async || {
        let item = app.service.watchlists.watchlist(&ann).await.unwrap().remove(0);
        item.listed.item.initial_price.unwrap().price.to_string()
    };
    assert_eq!(initial().await, "500");
    for _ in 0..2 {
        deliver_split(&app).await;
        assert_eq!(initial().await, "125");
        assert_eq!(trade_prices(&app, &ann).await, ("125".into(), None, "125".into()));
    }
}

async fn trade_closed_at_the_close_before_a_split_is_adjusted(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.clock.set(at("2024-03-08T20:59:00Z"));
    app.quote("AAPL", 500.0).await;
    let body = json!({"stock_symbol": "AAPL", "intention": "buy"});
    let item = app.service.watchlists.add_to_watchlist(&ann, &body).await.unwrap();
    app.clock.set(at("2024-03-11T12:30:00Z"));
    let item = item.listed.item.id;
    app.service.watchlists.delete_watchlist_item(&ann, item).await.unwrap();
    for _ in 0..2 {
        deliver_split(&app).await;
        let kept = ("500".into(), Some("125".into()), "125".into());
        assert_eq!(trade_prices(&app, &ann).await, kept);
    }
}

/// Sets up Tuesday: the price is 400, an alert is on 500, and a split of Wednesday is known. Then the clock is a
/// day ahead.
async fn on_the_eve_with_the_clock_ahead(app: &TestApp) -> (foundation::Actor, alerts::AlertId) {
    app.clock.set(at("2024-03-12T15:00:00Z"));
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 400.0).await;
    let id = app.create(&ann, above("AAPL", 500.0)).await.stored.alert.id;
    app.deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-13", "ratio": 4}]}))
        .await;
    app.clock.step_to(at("2024-03-13T15:00:00Z"));
    (ann, id)
}

async fn split_waits_while_the_clock_is_briefly_a_day_ahead(app: TestApp) {
    let (ann, id) = on_the_eve_with_the_clock_ahead(&app).await;
    app.quote("KO", 60.0).await;
    // Whether it is in old or new shares is unknown.
    let quote = json!({"quotes": [{"symbol": "AAPL", "price": 401}]});
    assert_eq!(app.ingest(quote).await.rejected.len(), 1);
    app.advance(4);
    app.quote("KO", 60.0).await;
    assert_eq!(prices(&app, &ann, id).await, (Some(500.0), Some(400.0)));
    app.clock.step_to(at("2024-03-12T15:04:02Z"));
    app.quote("AAPL", 499.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    assert_eq!(prices(&app, &ann, id).await, (Some(500.0), Some(400.0)));
    assert_eq!(app.actions(&ann, id).await, [HistoryAction::Created]);
    // On its day it is applied.
    app.clock.set(at("2024-03-13T13:30:00Z"));
    app.quote("AAPL", 101.0).await;
    assert_eq!(prices(&app, &ann, id).await, (Some(125.0), Some(100.0)));
}

async fn split_is_applied_when_the_new_day_has_held_for_five_minutes(app: TestApp) {
    let (ann, id) = on_the_eve_with_the_clock_ahead(&app).await;
    app.quote("KO", 60.0).await;
    app.advance(5);
    app.quote("AAPL", 101.0).await;
    assert_eq!(prices(&app, &ann, id).await, (Some(125.0), Some(100.0)));
}

async fn split_due_at_the_start_is_applied_at_once(app: TestApp) {
    let (ann, id) = on_the_eve_with_the_clock_ahead(&app).await;
    let app = app.restarted().await;
    app.quote("AAPL", 101.0).await;
    assert_eq!(prices(&app, &ann, id).await, (Some(125.0), Some(100.0)));
}

async fn last_price_before_a_split_keeps_its_time(app: TestApp) {
    let quoted_at = at("2024-03-12T14:00:00Z");
    app.clock.set(quoted_at);
    app.quote("AAPL", 400.0).await;
    app.deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-13", "ratio": 4}]}))
        .await;
    app.clock.set(at("2024-03-13T04:30:00Z"));
    app.quote("KO", 60.0).await;
    let shown = async |app: &TestApp| {
        let view = app.service.stocks.stock(symbol("AAPL")).await.unwrap();
        (view.last_price.map(|price| price.to_string()), view.updated_at)
    };
    assert_eq!(shown(&app).await, (Some("100".to_owned()), Some(quoted_at)));
    let app = app.restarted().await;
    assert_eq!(shown(&app).await, (Some("100".to_owned()), Some(quoted_at)));
    // A delivered bar has the close.
    let bar = json!({"symbol": "AAPL", "date": "2024-03-12", "open": 400, "high": 400, "low": 400, "close": 400, "volume": 7});
    app.deliver(json!({"bars": [bar]})).await;
    let close = at("2024-03-12T20:00:00Z");
    assert_eq!(shown(&app).await, (Some("100".to_owned()), Some(close)));
}
