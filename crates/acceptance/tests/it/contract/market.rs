//! `GET /market/status`, `GET /quotes`

use acceptance::{ServiceSetup, on_both_databases};
use jiff::Timestamp;
use serde_json::{Value, json};

on_both_databases![
    always_open_market_is_open,
    status_has_next_open_and_close,
    quotes_keep_the_requested_order,
    invalid_symbols_are_422,
];

async fn always_open_market_is_open(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let status = env.operator.get("/market/status").await;
    assert_eq!(status.status, 200, "{status}");
    assert_eq!(status.data()["is_open"], true, "{status}");
}

async fn status_has_next_open_and_close(setup: ServiceSetup) {
    let env = setup.set("market.always_open", "false").start_environment().await;
    let status = env.operator.get("/market/status").await;
    let instant = |field: &str| -> Timestamp { status.text_of(field).parse().unwrap() };
    let (open, close) = (instant("next_open"), instant("next_close"));
    let is_open = status.data()["is_open"].as_bool().unwrap();
    assert_eq!(
        is_open,
        close < open,
        "an open market closes before it opens again: {status}"
    );
    let time = |at: Timestamp| at.in_tz("America/New_York").unwrap().strftime("%H:%M").to_string();
    assert_eq!(time(open), "09:30");
    assert!(["16:00", "13:00"].contains(&time(close).as_str()), "{status}");
}

async fn quotes_keep_the_requested_order(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stocks(&["AAPL", "MSFT", "NEWCO"]).await;
    env.ingest(json!({"quotes": [{"symbol": "AAPL", "price": 100.5, "volume": 7}]}))
        .await;
    env.quote("MSFT", 200.0).await;
    let response = env.operator.get("/quotes?symbols=msft,AAPL").await.expect_ok(200);
    let shown: Vec<_> = response
        .items()
        .iter()
        .map(|quote| (&quote["symbol"], &quote["price"]))
        .collect();
    assert_eq!(json!(shown), json!([["MSFT", 200], ["AAPL", 100.5]]));
    assert_eq!(response.items()[1]["volume"], 7);
    let without = env.operator.get("/quotes?symbols=NEWCO").await.expect_ok(200);
    assert!(
        without.items().iter().all(|quote| quote["price"] == Value::Null),
        "{without}"
    );
}

async fn invalid_symbols_are_422(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    for query in ["", "?symbols=", "?symbols=ELEVENCHARS", "?symbols=A,%00"] {
        let _ = env
            .operator
            .get(&format!("/quotes{query}"))
            .await
            .expect_field_error("symbols");
    }
}
