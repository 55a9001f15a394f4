//! Tests of a feed that fails during a session and recovers twenty minutes later.

use alerts::engine::EvaluationStatus;
use alerts::{AlertId, Status};
use clock::Clock;
use jiff::SignedDuration;
use jiff::Timestamp;
use serde_json::json;
use testkit::Database;

use crate::live::exchange::{ExchangeData, FakeExchange};
use crate::live::test_server::{DataSource, TestServer, at};

/// `2024-03-08T{time}Z`, a Friday.
fn friday(time: &str) -> Timestamp {
    at(&format!("2024-03-08T{time}Z"))
}

fn data() -> ExchangeData {
    let midnight = |day: u8| at(&format!("2024-03-{day:02}T05:00:00Z"));
    let flat = |time, price: &str| (time, [price; 4].map(str::to_owned));
    let minute = |time: &str, prices: [&str; 4]| (friday(time), prices.map(str::to_owned));
    ExchangeData {
        names: vec!["AAPL".to_owned(), "SPY".to_owned()],
        days: [(
            "AAPL".to_owned(),
            vec![flat(midnight(6), "189"), flat(midnight(7), "190")],
        )]
        .into(),
        minutes: [(
            "AAPL".to_owned(),
            vec![
                minute("15:06:00", ["190", "190", "190", "190"]),
                minute("15:12:00", ["190", "205", "189", "191"]),
                minute("15:18:00", ["191", "191", "178", "179"]),
            ],
        )]
        .into(),
        last: [("AAPL".to_owned(), ("190".to_owned(), friday("14:29:00")))].into(),
        ..ExchangeData::default()
    }
}

async fn create_alert(test: &TestServer, condition: &str, threshold: u32) -> AlertId {
    let body = json!({"symbol": "AAPL", "condition": condition, "threshold": threshold});
    test.create(&body).await.stored.alert.id
}

/// Publishes a trade, and waits until it is ingested.
async fn trade(test: &TestServer, exchange: &FakeExchange, price: &str, time: &str) {
    let time = friday(time);
    assert!(test.clock.now() <= time, "the test's clock is past {time}");
    test.advance_to(time).await;
    exchange.trade(&[("AAPL", price, time)]);
    test.wait_until("the trade is ingested", async |test| {
        test.last_observed_at("AAPL") == Some(time)
    })
    .await;
}

async fn missed_crossings_fire_once_and_late(database: &Database) {
    let begin = friday("14:45:00");
    let exchange = FakeExchange::open(data(), begin).await;
    let test = TestServer::open(database, DataSource::Alpaca(&exchange), begin).await;
    let (up, down) = (
        create_alert(&test, "price_above", 200).await,
        create_alert(&test, "price_below", 180).await,
    );
    let (never, before) = (
        create_alert(&test, "price_above", 300).await,
        create_alert(&test, "price_above", 192).await,
    );
    test.advance_until("the stock is subscribed", async |_| {
        exchange.data().subscribed.contains(&"AAPL".to_owned())
    })
    .await;
    trade(&test, &exchange, "190", "14:58:00").await;
    trade(&test, &exchange, "192.5", "15:00:00").await;
    trade(&test, &exchange, "190", "15:05:00").await;
    test.wait_until("the live crossing has fired", async |test| {
        test.alert(before).await.stored.alert.status == Status::Triggered
    })
    .await;

    exchange.go_down();
    test.advance_to(friday("15:21:00")).await;
    for alert in [up, down, never] {
        test.wait_until("the alert is blind", async |test| {
            matches!(
                test.alert(alert).await.evaluation.unwrap().state,
                EvaluationStatus::Blind(_)
            )
        })
        .await;
    }
    test.advance_to(friday("15:25:00")).await;
    assert_eq!(test.fired(&[up, down, never]).await, []);

    exchange.come_up();
    test.advance_until("the stock is subscribed again", async |_| {
        exchange.data().subscribed.contains(&"AAPL".to_owned())
    })
    .await;
    let now = test.clock.now();
    exchange.trade(&[("AAPL", "185", now)]);
    test.advance_until(
        "missed data is evaluated, and the current price is known",
        async |test| test.last_observed_at("AAPL") >= Some(now),
    )
    .await;
    // Leaves enough time for unexpected firings.
    let then = test.clock.now().saturating_add(SignedDuration::from_mins(3)).unwrap();
    test.advance_to(then).await;
    let fired = test.fired(&[up, down, never]).await;
    let summary: Vec<_> = fired
        .iter()
        .map(|fired| {
            (
                fired.condition.as_str(),
                fired.price.as_deref(),
                fired.crossed_at.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        summary,
        [
            ("price_above", Some("205"), Some("2024-03-08T15:12:40.000Z")),
            ("price_below", Some("178"), Some("2024-03-08T15:18:40.000Z")),
        ],
        "{fired:#?}"
    );
    assert!(fired.iter().all(|fired| fired.at > friday("15:25:00")));
    assert_eq!(test.fired(&[before]).await[0].crossed_at, None);
    test.wait_until("the alert is evaluated again", async |test| {
        test.alert(never).await.evaluation.unwrap().state == EvaluationStatus::Ok
    })
    .await;
    test.server.close().await.unwrap();
}

testkit::on_both_databases! {
    async fn feed_outage_loses_no_crossing(database) {
        missed_crossings_fire_once_and_late(database).await;
    }
}
