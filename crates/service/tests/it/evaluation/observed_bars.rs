//! Sessions without a delivered bar: their observed prices make one, which is stored at the end of the session.
//!
//! It is Friday, 15:00 UTC; the session ends at 21:00.

use evaluation::market::MissedPeriodOutcome;
use market::Bar;
use market::records::QuoteRow;
use serde_json::json;
use sources::MissedQuotes;

use super::missed::{evaluate, friday, quote};
use crate::support::{TestApp, at, on_each_database, symbol};

on_each_database! {
    session_is_stored_only_after_its_end
    delivered_bar_replaces_an_observed_one
    observed_bar_never_replaces_a_delivered_one
    session_before_a_delivered_bar_is_known_after_a_restart
    sessions_within_a_missed_period_are_known_after_a_restart
    late_prices_change_the_observed_bar
    late_prices_change_the_observed_bar_after_a_restart
    process_without_quotes_does_not_overwrite_observed_bars
    missed_period_over_a_split_is_stored_in_the_shares_of_its_days
}

/// Formats a bar as `2024-03-08 100 130 100 120`: date, open, high, low and close.
fn shown(bar: &Bar) -> String {
    format!("{} {} {} {} {}", bar.date, bar.open, bar.high, bar.low, bar.close)
}

async fn stored(app: &TestApp) -> Vec<String> {
    let store = app.store().await;
    let bars = store.bars(symbol("AAPL"), "2024-01-01".parse().unwrap()).await.unwrap();
    bars.iter().map(shown).collect()
}

/// Returns the bars that indicators and charts use.
async fn known(app: &TestApp) -> Vec<String> {
    let range = evaluation::stocks::CandleRange::Month1;
    let candles = app.service.stocks.candles(symbol("AAPL"), range).await.unwrap();
    candles.iter().map(shown).collect()
}

async fn previous_close(app: &TestApp) -> Option<String> {
    let view = app.service.stocks.stock(symbol("AAPL")).await.unwrap();
    view.previous_close.map(|price| price.to_string())
}

async fn friday_session(app: &TestApp) {
    for price in [100.0, 130.0, 120.0] {
        app.quote("AAPL", price).await;
    }
}

const FRIDAY: &str = "2024-03-08 100 130 100 120";

async fn pass_until(app: &TestApp, then: &str) {
    app.clock.set(at(then));
    app.service.evaluate().await.unwrap();
}

async fn session_is_stored_only_after_its_end(app: TestApp) {
    friday_session(&app).await;
    pass_until(&app, "2024-03-08T21:00:00Z").await;
    assert_eq!(stored(&app).await, [""; 0]);
    pass_until(&app, "2024-03-08T21:00:01Z").await;
    assert_eq!(stored(&app).await, [FRIDAY]);
    let app = app.restarted().await;
    pass_until(&app, "2024-03-11T14:00:00Z").await;
    app.quote("AAPL", 125.0).await;
    assert_eq!(previous_close(&app).await.as_deref(), Some("120"));
    assert_eq!(known(&app).await, [FRIDAY, "2024-03-11 125 125 125 125"]);
}

fn delivered() -> serde_json::Value {
    json!({"bars": [{"symbol": "AAPL", "date": "2024-03-08", "open": 99, "high": 131, "low": 98, "close": 119, "volume": 7}]})
}

const DELIVERED: &str = "2024-03-08 99 131 98 119";

async fn delivered_bar_replaces_an_observed_one(app: TestApp) {
    friday_session(&app).await;
    pass_until(&app, "2024-03-08T21:30:00Z").await;
    app.deliver(delivered()).await;
    assert_eq!(stored(&app).await, [DELIVERED]);
    let app = app.restarted().await;
    pass_until(&app, "2024-03-08T22:00:00Z").await;
    assert_eq!(stored(&app).await, [DELIVERED]);
    assert_eq!(known(&app).await, [DELIVERED]);
}

async fn observed_bar_never_replaces_a_delivered_one(app: TestApp) {
    friday_session(&app).await;
    app.clock.set(at("2024-03-08T21:30:00Z"));
    app.deliver(delivered()).await;
    evaluate(&app, &[friday("140", "20:00:00")]).await;
    pass_until(&app, "2024-03-08T22:00:00Z").await;
    assert_eq!(stored(&app).await, [DELIVERED]);
}

async fn session_before_a_delivered_bar_is_known_after_a_restart(app: TestApp) {
    friday_session(&app).await;
    // The service does nothing until Monday's bar arrives. Friday's never does.
    app.clock.set(at("2024-03-11T22:00:00Z"));
    app
        .deliver(json!({"bars": [{"symbol": "AAPL", "date": "2024-03-11", "open": 1, "high": 1, "low": 1, "close": 1, "volume": 1}]}))
        .await;
    let both = [FRIDAY, "2024-03-11 1 1 1 1"];
    assert_eq!(stored(&app).await, both);
    let app = app.restarted().await;
    assert_eq!(known(&app).await, both);
}

/// Returns missed prices of Friday, of Monday and of Tuesday morning.
fn missed_over_monday() -> [QuoteRow; 5] {
    [
        friday("140", "20:00:00"),
        friday("135", "20:30:00"),
        quote("AAPL", "150", "2024-03-11T14:00:00Z"),
        quote("AAPL", "145", "2024-03-11T15:00:00Z"),
        quote("AAPL", "160", "2024-03-12T14:00:00Z"),
    ]
}

async fn sessions_within_a_missed_period_are_known_after_a_restart(app: TestApp) {
    friday_session(&app).await;
    app.clock.set(at("2024-03-12T14:30:00Z"));
    evaluate(&app, &missed_over_monday()).await;
    let expected = ["2024-03-08 100 140 100 135", "2024-03-11 150 150 145 145"];
    assert_eq!(stored(&app).await, expected);
    let running = "2024-03-12 160 160 160 160";
    let all = [expected[0], expected[1], running];
    assert_eq!(known(&app).await, all);
    assert_eq!(previous_close(&app).await.as_deref(), Some("145"));
    let app = app.restarted().await;
    assert_eq!(known(&app).await, all);
    assert_eq!(previous_close(&app).await.as_deref(), Some("145"));
}

async fn late_prices_change_the_observed_bar(app: TestApp) {
    friday_session(&app).await;
    pass_until(&app, "2024-03-08T21:01:00Z").await;
    evaluate(&app, &[friday("140", "20:59:20"), friday("135", "20:59:40")]).await;
    assert_eq!(stored(&app).await, ["2024-03-08 100 140 100 135"]);
}

async fn late_prices_change_the_observed_bar_after_a_restart(app: TestApp) {
    friday_session(&app).await;
    pass_until(&app, "2024-03-08T21:01:00Z").await;
    let app = app.restarted().await;
    evaluate(&app, &[friday("140", "20:59:20"), friday("135", "20:59:40")]).await;
    assert_eq!(stored(&app).await, ["2024-03-08 100 140 100 135"]);
    pass_until(&app, "2024-03-11T14:00:00Z").await;
    app.quote("AAPL", 136.0).await;
    assert_eq!(previous_close(&app).await.as_deref(), Some("135"));
}

async fn process_without_quotes_does_not_overwrite_observed_bars(app: TestApp) {
    app.quote("AAPL", 100.0).await;
    let other = app.another_process().await;
    app.advance(1);
    app.quote("AAPL", 130.0).await;
    app.advance(1);
    app.quote("AAPL", 120.0).await;
    app.clock.set(at("2024-03-08T21:01:00Z"));
    app.service.evaluate().await.unwrap();
    other.service.evaluate().await.unwrap();
    assert_eq!(stored(&app).await, [FRIDAY]);
    other.service.stop().await;
}

async fn missed_period_over_a_split_is_stored_in_the_shares_of_its_days(app: TestApp) {
    app.quote("AAPL", 400.0).await;
    app.clock.set(at("2024-03-13T14:00:00Z"));
    app.deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-12", "ratio": 4}]}))
        .await;
    let missed = MissedQuotes {
        quotes: vec![
            quote("AAPL", "410", "2024-03-11T14:00:00Z"),
            quote("AAPL", "105", "2024-03-12T14:00:00Z"),
            quote("AAPL", "106", "2024-03-13T13:45:00Z"),
        ],
        is_behind: false,
        complete: Vec::new(),
    };
    let MissedPeriodOutcome { evaluated, .. } = app.service.market_intake.evaluate_missed(missed).await.unwrap();
    assert_eq!(evaluated, 3);
    let expected = [
        "2024-03-08 400 400 400 400",
        "2024-03-11 410 410 410 410",
        "2024-03-12 105 105 105 105",
    ];
    assert_eq!(stored(&app).await, expected);
    let app = app.restarted().await;
    let known = known(&app).await;
    assert_eq!(
        known[..2],
        ["2024-03-08 100 100 100 100", "2024-03-11 102.5 102.5 102.5 102.5"].map(str::to_owned)
    );
}
