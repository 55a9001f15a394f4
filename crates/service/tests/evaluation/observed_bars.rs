//! Sessions of which no source delivers a bar: their observed prices make one, which is stored when the session has ended.
//!
//! It is Friday, 15:00 UTC; the session ends at 21:00.

use market::Bar;
use market::records::QuoteRow;
use serde_json::json;
use service::market::{Missed, MissedOutcome};

use super::missed::{friday, judge, quote};
use super::support::{World, at, on_each_database, symbol};

on_each_database! {
    a_session_is_stored_when_it_has_ended_and_not_before
    a_delivered_bar_replaces_an_observed_one
    an_observed_bar_never_replaces_a_delivered_one
    a_session_before_a_delivered_bar_is_known_after_a_restart
    sessions_within_a_missed_stretch_are_known_after_a_restart
    prices_that_come_late_change_the_observed_bar
    prices_that_come_late_change_the_observed_bar_after_a_restart
    a_process_without_quotes_does_not_overwrite_observed_bars
    a_stretch_over_a_split_is_stored_in_the_shares_of_its_day
}

/// `2024-03-08 100 130 100 120`: date, open, high, low and close.
fn shown(bar: &Bar) -> String {
    format!("{} {} {} {} {}", bar.date, bar.open, bar.high, bar.low, bar.close)
}

async fn stored(world: &World) -> Vec<String> {
    let store = world.store().await;
    let bars = store.bars(symbol("AAPL"), "2024-01-01".parse().unwrap()).await.unwrap();
    bars.iter().map(shown).collect()
}

/// The bars that indicators and charts use.
async fn known(world: &World) -> Vec<String> {
    let range = service::stocks::CandleRange::Month1;
    let candles = world.service.stocks.candles(symbol("AAPL"), range).await.unwrap();
    candles.iter().map(shown).collect()
}

async fn previous_close(world: &World) -> Option<String> {
    let view = world.service.stocks.stock(symbol("AAPL")).await.unwrap();
    view.previous_close.map(|price| price.to_string())
}

async fn friday_session(world: &World) {
    for price in [100.0, 130.0, 120.0] {
        world.quote("AAPL", price).await;
    }
}

const FRIDAY: &str = "2024-03-08 100 130 100 120";

async fn pass_until(world: &World, then: &str) {
    world.clock.set(at(then));
    world.service.evaluate().await.unwrap();
}

async fn a_session_is_stored_when_it_has_ended_and_not_before(world: World) {
    friday_session(&world).await;
    pass_until(&world, "2024-03-08T21:00:00Z").await;
    assert_eq!(stored(&world).await, [""; 0]);
    pass_until(&world, "2024-03-08T21:00:01Z").await;
    assert_eq!(stored(&world).await, [FRIDAY]);
    let world = world.restarted().await;
    pass_until(&world, "2024-03-11T14:00:00Z").await;
    world.quote("AAPL", 125.0).await;
    assert_eq!(previous_close(&world).await.as_deref(), Some("120"));
    assert_eq!(known(&world).await, [FRIDAY, "2024-03-11 125 125 125 125"]);
}

fn delivered() -> serde_json::Value {
    json!({"bars": [{"symbol": "AAPL", "date": "2024-03-08", "open": 99, "high": 131, "low": 98, "close": 119, "volume": 7}]})
}

const DELIVERED: &str = "2024-03-08 99 131 98 119";

async fn a_delivered_bar_replaces_an_observed_one(world: World) {
    friday_session(&world).await;
    pass_until(&world, "2024-03-08T21:30:00Z").await;
    world.deliver(delivered()).await;
    assert_eq!(stored(&world).await, [DELIVERED]);
    let world = world.restarted().await;
    pass_until(&world, "2024-03-08T22:00:00Z").await;
    assert_eq!(stored(&world).await, [DELIVERED]);
    assert_eq!(known(&world).await, [DELIVERED]);
}

async fn an_observed_bar_never_replaces_a_delivered_one(world: World) {
    friday_session(&world).await;
    world.clock.set(at("2024-03-08T21:30:00Z"));
    world.deliver(delivered()).await;
    judge(&world, &[friday("140", "20:00:00")]).await;
    pass_until(&world, "2024-03-08T22:00:00Z").await;
    assert_eq!(stored(&world).await, [DELIVERED]);
}

async fn a_session_before_a_delivered_bar_is_known_after_a_restart(world: World) {
    friday_session(&world).await;
    // The service does nothing until Monday's bar comes, and Friday's never does.
    world.clock.set(at("2024-03-11T22:00:00Z"));
    world
        .deliver(json!({"bars": [{"symbol": "AAPL", "date": "2024-03-11", "open": 1, "high": 1, "low": 1, "close": 1, "volume": 1}]}))
        .await;
    let both = [FRIDAY, "2024-03-11 1 1 1 1"];
    assert_eq!(stored(&world).await, both);
    let world = world.restarted().await;
    assert_eq!(known(&world).await, both);
}

/// Prices of Friday, of Monday and of Tuesday's morning, which the feed did not bring.
fn missed_over_monday() -> [QuoteRow; 5] {
    [
        friday("140", "20:00:00"),
        friday("135", "20:30:00"),
        quote("AAPL", "150", "2024-03-11T14:00:00Z"),
        quote("AAPL", "145", "2024-03-11T15:00:00Z"),
        quote("AAPL", "160", "2024-03-12T14:00:00Z"),
    ]
}

async fn sessions_within_a_missed_stretch_are_known_after_a_restart(world: World) {
    friday_session(&world).await;
    world.clock.set(at("2024-03-12T14:30:00Z"));
    judge(&world, &missed_over_monday()).await;
    let expected = ["2024-03-08 100 140 100 135", "2024-03-11 150 150 145 145"];
    assert_eq!(stored(&world).await, expected);
    let running = "2024-03-12 160 160 160 160";
    let all = [expected[0], expected[1], running];
    assert_eq!(known(&world).await, all);
    assert_eq!(previous_close(&world).await.as_deref(), Some("145"));
    let world = world.restarted().await;
    assert_eq!(known(&world).await, all);
    assert_eq!(previous_close(&world).await.as_deref(), Some("145"));
}

async fn prices_that_come_late_change_the_observed_bar(world: World) {
    friday_session(&world).await;
    pass_until(&world, "2024-03-08T21:01:00Z").await;
    judge(&world, &[friday("140", "20:59:20"), friday("135", "20:59:40")]).await;
    assert_eq!(stored(&world).await, ["2024-03-08 100 140 100 135"]);
}

async fn prices_that_come_late_change_the_observed_bar_after_a_restart(world: World) {
    friday_session(&world).await;
    pass_until(&world, "2024-03-08T21:01:00Z").await;
    let world = world.restarted().await;
    judge(&world, &[friday("140", "20:59:20"), friday("135", "20:59:40")]).await;
    assert_eq!(stored(&world).await, ["2024-03-08 100 140 100 135"]);
    pass_until(&world, "2024-03-11T14:00:00Z").await;
    world.quote("AAPL", 136.0).await;
    assert_eq!(previous_close(&world).await.as_deref(), Some("135"));
}

async fn a_process_without_quotes_does_not_overwrite_observed_bars(world: World) {
    world.quote("AAPL", 100.0).await;
    let other = world.another_process().await;
    world.advance(1);
    world.quote("AAPL", 130.0).await;
    world.advance(1);
    world.quote("AAPL", 120.0).await;
    world.clock.set(at("2024-03-08T21:01:00Z"));
    world.service.evaluate().await.unwrap();
    other.service.evaluate().await.unwrap();
    assert_eq!(stored(&world).await, [FRIDAY]);
    other.service.stop().await;
}

async fn a_stretch_over_a_split_is_stored_in_the_shares_of_its_day(world: World) {
    world.quote("AAPL", 400.0).await;
    world.clock.set(at("2024-03-13T14:00:00Z"));
    world
        .deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-12", "ratio": 4}]}))
        .await;
    let missed = Missed {
        quotes: vec![
            quote("AAPL", "410", "2024-03-11T14:00:00Z"),
            quote("AAPL", "105", "2024-03-12T14:00:00Z"),
            quote("AAPL", "106", "2024-03-13T13:45:00Z"),
        ],
        is_behind: false,
    };
    let MissedOutcome { judged, .. } = world.service.market_intake.judge_missed(missed).await.unwrap();
    assert_eq!(judged, 3);
    let expected = [
        "2024-03-08 400 400 400 400",
        "2024-03-11 410 410 410 410",
        "2024-03-12 105 105 105 105",
    ];
    assert_eq!(stored(&world).await, expected);
    let world = world.restarted().await;
    let known = known(&world).await;
    assert_eq!(
        known[..2],
        ["2024-03-08 100 100 100 100", "2024-03-11 102.5 102.5 102.5 102.5"].map(str::to_owned)
    );
}
