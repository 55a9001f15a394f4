//! `GET /market/status`, `GET /quotes`

use acceptance::{Setup, on_both_databases};
use jiff::Timestamp;
use serde_json::{Value, json};

on_both_databases![
    a_market_that_never_closes_is_open,
    the_exchange_tells_when_it_opens_and_closes_next,
    quotes_come_in_the_order_they_were_asked_for,
    wrong_symbols_are_refused,
];

async fn a_market_that_never_closes_is_open(setup: Setup) {
    let world = setup.world().await;
    let status = world.me.get("/market/status").await;
    assert_eq!(status.status, 200, "{status}");
    assert_eq!(status.data()["is_open"], true, "{status}");
}

async fn the_exchange_tells_when_it_opens_and_closes_next(setup: Setup) {
    let world = setup.set("market.always_open", "false").world().await;
    let status = world.me.get("/market/status").await;
    let instant = |field: &str| -> Timestamp { status.text_of(field).parse().unwrap() };
    let (open, close) = (instant("next_open"), instant("next_close"));
    let is_open = status.data()["is_open"].as_bool().unwrap();
    assert_eq!(is_open, close < open, "while it is open it closes first: {status}");
    let time = |at: Timestamp| at.in_tz("America/New_York").unwrap().strftime("%H:%M").to_string();
    assert_eq!(time(open), "09:30");
    assert!(["16:00", "13:00"].contains(&time(close).as_str()), "{status}");
}

async fn quotes_come_in_the_order_they_were_asked_for(setup: Setup) {
    let world = setup.world().await;
    world.stocks(&["AAPL", "MSFT", "NEWCO"]).await;
    world
        .ingest(json!({"quotes": [{"symbol": "AAPL", "price": 100.5, "volume": 7}]}))
        .await;
    world.quote("MSFT", 200.0).await;
    let answer = world.me.get("/quotes?symbols=msft,AAPL").await.ok(200);
    let shown: Vec<_> = answer
        .items()
        .iter()
        .map(|quote| (&quote["symbol"], &quote["price"]))
        .collect();
    assert_eq!(json!(shown), json!([["MSFT", 200], ["AAPL", 100.5]]));
    assert_eq!(answer.items()[1]["volume"], 7);
    let without = world.me.get("/quotes?symbols=NEWCO").await.ok(200);
    assert!(
        without.items().iter().all(|quote| quote["price"] == Value::Null),
        "{without}"
    );
}

async fn wrong_symbols_are_refused(setup: Setup) {
    let world = setup.world().await;
    for query in ["", "?symbols=", "?symbols=ELEVENCHARS", "?symbols=A,%00"] {
        let _ = world.me.get(&format!("/quotes{query}")).await.wrong_field("symbols");
    }
}
