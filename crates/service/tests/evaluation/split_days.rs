//! Prices from before a split that are used on its day, and clocks that reach its day too early.

use alerts::{HistoryAction, Plan, Status};
use serde_json::json;

use super::splits::{learn_of_the_split, prices};
use super::support::{ALL, World, above, at, on_each_database, symbol};

on_each_database! {
    close_from_before_a_split_is_moved_though_the_alert_was_created_on_its_day
    close_from_before_a_split_is_moved_though_the_alert_was_activated_on_its_day
    watchlist_and_trade_that_began_at_the_close_before_a_split_are_moved
    trade_that_ended_at_the_close_before_a_split_is_moved
    split_waits_while_the_clock_is_a_day_ahead_for_a_moment
    split_is_applied_when_the_new_day_has_held_for_five_minutes
    split_that_is_due_at_the_start_is_applied_at_once
    last_price_before_a_split_keeps_its_time
}

/// Monday, the day of the split, at half past eight in New York. The last price is Friday's, 500, and the split is not known.
async fn before_the_open_of_the_split(world: &World) -> service::Actor {
    let ann = world.ann(Plan::Premium).await;
    world.clock.set(at("2024-03-08T20:59:00Z"));
    world.quote("AAPL", 500.0).await;
    world.clock.set(at("2024-03-11T12:30:00Z"));
    ann
}

fn down_10_percent() -> serde_json::Value {
    json!({"symbol": "AAPL", "condition": "price_change_down", "threshold": 10})
}

async fn fires_at_112_50(world: &World, ann: &service::Actor, id: alerts::AlertId) {
    world.clock.set(at("2024-03-11T13:31:00Z"));
    world.quote("AAPL", 112.51).await;
    assert_eq!(world.status(ann, id).await, Status::Active);
    world.quote("AAPL", 112.5).await;
    assert_eq!(world.status(ann, id).await, Status::Triggered);
}

async fn close_from_before_a_split_is_moved_though_the_alert_was_created_on_its_day(world: World) {
    let ann = before_the_open_of_the_split(&world).await;
    let id = world.create(&ann, down_10_percent()).await.stored.alert.id;
    assert_eq!(prices(&world, &ann, id).await, (Some(10.0), Some(500.0)));
    learn_of_the_split(&world).await;
    assert_eq!(prices(&world, &ann, id).await, (Some(10.0), Some(125.0)));
    // From now on the close of Friday is in new shares already.
    let other = json!({"symbol": "AAPL", "condition": "price_change_down", "threshold": 11});
    let other = world.create(&ann, other).await.stored.alert.id;
    let world = world.restarted().await;
    learn_of_the_split(&world).await;
    assert_eq!(prices(&world, &ann, other).await, (Some(11.0), Some(125.0)));
    fires_at_112_50(&world, &ann, id).await;
}

async fn close_from_before_a_split_is_moved_though_the_alert_was_activated_on_its_day(world: World) {
    let ann = before_the_open_of_the_split(&world).await;
    let id = world.create(&ann, down_10_percent()).await.stored.alert.id;
    world.service.alerts.pause_alert(&ann, id).await.unwrap();
    world.service.alerts.activate_alert(&ann, id).await.unwrap();
    learn_of_the_split(&world).await;
    assert_eq!(prices(&world, &ann, id).await, (Some(10.0), Some(125.0)));
    fires_at_112_50(&world, &ann, id).await;
}

/// The entry and exit prices of Ann's only trade as they are kept, and its entry price after splits.
async fn trade_prices(world: &World, ann: &service::Actor) -> (String, Option<String>, String) {
    let trades = world.service.watchlists.paper_trades(ann, ALL).await.unwrap().items;
    assert_eq!(trades.len(), 1);
    let trade = &trades[0];
    (
        trade.stored.entry.price.to_string(),
        trade.stored.exit.map(|exit| exit.price.to_string()),
        trade.entry_price.to_string(),
    )
}

async fn watchlist_and_trade_that_began_at_the_close_before_a_split_are_moved(world: World) {
    let ann = before_the_open_of_the_split(&world).await;
    let body = json!({"stock_symbol": "AAPL", "intention": "buy"});
    world.service.watchlists.add_to_watchlist(&ann, &body).await.unwrap();
    let initial = async || {
        let item = world.service.watchlists.watchlist(&ann).await.unwrap().remove(0);
        item.listed.item.initial_price.unwrap().price.to_string()
    };
    assert_eq!(initial().await, "500");
    for _ in 0..2 {
        learn_of_the_split(&world).await;
        assert_eq!(initial().await, "125");
        assert_eq!(trade_prices(&world, &ann).await, ("125".into(), None, "125".into()));
    }
}

async fn trade_that_ended_at_the_close_before_a_split_is_moved(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.clock.set(at("2024-03-08T20:59:00Z"));
    world.quote("AAPL", 500.0).await;
    let body = json!({"stock_symbol": "AAPL", "intention": "buy"});
    let item = world.service.watchlists.add_to_watchlist(&ann, &body).await.unwrap();
    world.clock.set(at("2024-03-11T12:30:00Z"));
    let item = item.listed.item.id;
    world
        .service
        .watchlists
        .delete_watchlist_item(&ann, item)
        .await
        .unwrap();
    for _ in 0..2 {
        learn_of_the_split(&world).await;
        let kept = ("500".into(), Some("125".into()), "125".into());
        assert_eq!(trade_prices(&world, &ann).await, kept);
    }
}

/// Tuesday: the price is 400, an alert waits for 500, and a split of Wednesday is known. Then the clock is a day ahead.
async fn on_the_eve_with_the_clock_ahead(world: &World) -> (service::Actor, alerts::AlertId) {
    world.clock.set(at("2024-03-12T15:00:00Z"));
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 400.0).await;
    let id = world.create(&ann, above("AAPL", 500.0)).await.stored.alert.id;
    world
        .deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-13", "ratio": 4}]}))
        .await;
    world.clock.step_to(at("2024-03-13T15:00:00Z"));
    (ann, id)
}

async fn split_waits_while_the_clock_is_a_day_ahead_for_a_moment(world: World) {
    let (ann, id) = on_the_eve_with_the_clock_ahead(&world).await;
    world.quote("KO", 60.0).await;
    // In the shares of which day it is would be a guess.
    let quote = json!({"quotes": [{"symbol": "AAPL", "price": 401}]});
    assert_eq!(world.ingest(quote).await.rejected.len(), 1);
    world.advance(4);
    world.quote("KO", 60.0).await;
    assert_eq!(prices(&world, &ann, id).await, (Some(500.0), Some(400.0)));
    world.clock.step_to(at("2024-03-12T15:04:02Z"));
    world.quote("AAPL", 499.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Active);
    assert_eq!(prices(&world, &ann, id).await, (Some(500.0), Some(400.0)));
    assert_eq!(world.actions(&ann, id).await, [HistoryAction::Created]);
    // On its day it is applied.
    world.clock.set(at("2024-03-13T13:30:00Z"));
    world.quote("AAPL", 101.0).await;
    assert_eq!(prices(&world, &ann, id).await, (Some(125.0), Some(100.0)));
}

async fn split_is_applied_when_the_new_day_has_held_for_five_minutes(world: World) {
    let (ann, id) = on_the_eve_with_the_clock_ahead(&world).await;
    world.quote("KO", 60.0).await;
    world.advance(5);
    world.quote("AAPL", 101.0).await;
    assert_eq!(prices(&world, &ann, id).await, (Some(125.0), Some(100.0)));
}

async fn split_that_is_due_at_the_start_is_applied_at_once(world: World) {
    let (ann, id) = on_the_eve_with_the_clock_ahead(&world).await;
    let world = world.restarted().await;
    world.quote("AAPL", 101.0).await;
    assert_eq!(prices(&world, &ann, id).await, (Some(125.0), Some(100.0)));
}

async fn last_price_before_a_split_keeps_its_time(world: World) {
    let quoted_at = at("2024-03-12T14:00:00Z");
    world.clock.set(quoted_at);
    world.quote("AAPL", 400.0).await;
    world
        .deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-13", "ratio": 4}]}))
        .await;
    world.clock.set(at("2024-03-13T04:30:00Z"));
    world.quote("KO", 60.0).await;
    let shown = async |world: &World| {
        let view = world.service.stocks.stock(symbol("AAPL")).await.unwrap();
        (view.last_price.map(|price| price.to_string()), view.updated_at)
    };
    assert_eq!(shown(&world).await, (Some("100".to_owned()), Some(quoted_at)));
    let world = world.restarted().await;
    assert_eq!(shown(&world).await, (Some("100".to_owned()), Some(quoted_at)));
    // A bar that a source delivers is the close.
    let bar = json!({"symbol": "AAPL", "date": "2024-03-12", "open": 400, "high": 400, "low": 400, "close": 400, "volume": 7});
    world.deliver(json!({"bars": [bar]})).await;
    let close = at("2024-03-12T20:00:00Z");
    assert_eq!(shown(&world).await, (Some("100".to_owned()), Some(close)));
}
