//! Prices of the session.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sources::freshness::FilterReason;
use sources::provider::{DataRequest, DataResponse};

use crate::live::fixture::{Fixture, FixtureConfig, friday, quote, quotes, symbol};

/// The quotes that the provider answers with.
#[derive(Clone, Default)]
struct Board(Arc<Mutex<Vec<market::records::QuoteRow>>>);

impl Board {
    fn set(&self, rows: Vec<market::records::QuoteRow>) {
        *self.0.lock().unwrap() = rows;
    }

    async fn begin(&self, config: FixtureConfig) -> Fixture {
        let board = self.clone();
        Fixture::begin(config, move |request| {
            Ok(match request {
                DataRequest::Quotes(symbols) => {
                    let rows = board.0.lock().unwrap().clone();
                    quotes(rows.into_iter().filter(|row| symbols.contains(&row.symbol)).collect())
                }
                _ => DataResponse::default(),
            })
        })
        .await
    }
}

#[tokio::test]
async fn watched_stocks_are_polled_once_a_minute() {
    let board = Board::default();
    let fixture = board
        .begin(FixtureConfig::at(friday("15:00:00"), &["MSFT", "AAPL"]))
        .await;
    let both = DataRequest::Quotes(vec![symbol("MSFT"), symbol("AAPL")]);
    assert_eq!(fixture.sent_requests(), std::slice::from_ref(&both));
    fixture.until(friday("15:00:59")).await;
    assert_eq!(fixture.sent_requests(), []);
    fixture.until(friday("15:02:00")).await;
    assert_eq!(fixture.sent_requests(), [both.clone(), both]);
}

#[tokio::test]
async fn new_stock_is_polled_at_once_and_removed_stock_is_not() {
    let board = Board::default();
    let fixture = board.begin(FixtureConfig::at(friday("15:00:00"), &["AAPL"])).await;
    fixture.until(friday("15:00:10")).await;
    let _ = fixture.sent_requests();
    fixture
        .watched
        .send_replace(Arc::new(vec![symbol("AAPL"), symbol("MSFT")]));
    fixture.settle().await;
    assert_eq!(
        fixture.sent_requests(),
        [DataRequest::Quotes(vec![symbol("AAPL"), symbol("MSFT")])]
    );
    fixture.watched.send_replace(Arc::new(vec![symbol("MSFT")]));
    fixture.until(friday("15:01:10")).await;
    assert_eq!(fixture.sent_requests(), [DataRequest::Quotes(vec![symbol("MSFT")])]);
}

#[tokio::test]
async fn passed_quotes_are_delivered_and_others_are_counted() {
    let board = Board::default();
    board.set(vec![quote("AAPL", "190", friday("14:59:58"))]);
    let mut fixture = board.begin(FixtureConfig::at(friday("15:00:00"), &["AAPL"])).await;
    assert_eq!(fixture.delivered(), ["AAPL 190 14:59:58"]);
    // The same quote again, and then an implausible price.
    fixture.until(friday("15:01:00")).await;
    board.set(vec![quote("AAPL", "90", friday("15:01:58"))]);
    fixture.until(friday("15:02:00")).await;
    assert_eq!(fixture.delivered(), [""; 0]);
    let counts = fixture.health.snapshot().quotes;
    assert_eq!(
        (counts.of(FilterReason::Duplicate), counts.of(FilterReason::Jump)),
        (1, 1)
    );
    board.set(vec![quote("AAPL", "91", friday("15:02:59"))]);
    fixture.until(friday("15:03:00")).await;
    assert_eq!(fixture.delivered(), ["AAPL 91 15:02:59"]);
}

#[tokio::test]
async fn late_quote_is_a_missed_quote() {
    let board = Board::default();
    board.set(vec![quote("AAPL", "190", friday("14:58:00"))]);
    let mut fixture = board.begin(FixtureConfig::at(friday("15:00:00"), &["AAPL"])).await;
    assert_eq!(fixture.delivered(), ["AAPL 190 14:58:00 late"]);
}

#[tokio::test]
async fn delayed_plan_delivers_the_end_of_the_session_after_the_close() {
    let board = Board::default();
    let config = FixtureConfig {
        delay: Duration::from_secs(900),
        ..FixtureConfig::at(friday("20:59:30"), &["AAPL"])
    };
    board.set(vec![quote("AAPL", "190", friday("20:44:30"))]);
    let mut fixture = board.begin(config).await;
    board.set(vec![quote("AAPL", "191", friday("20:59:00"))]);
    fixture.until(friday("21:14:30")).await;
    assert_eq!(
        fixture.delivered(),
        ["AAPL 190 20:44:30", "AAPL 191 20:59:00 late"],
        "the market was closed when it was received"
    );
}

#[tokio::test]
async fn price_is_requested_once_outside_a_session() {
    let board = Board::default();
    board.set(vec![quote("AAPL", "190", friday("12:59:58"))]);
    let mut fixture = board.begin(FixtureConfig::at(friday("13:00:00"), &["AAPL"])).await;
    assert_eq!(fixture.delivered(), ["AAPL 190 12:59:58"]);
    fixture.until(friday("14:29:59")).await;
    assert_eq!(fixture.sent_requests().len(), 1);
    fixture.until(friday("14:30:01")).await;
    assert_eq!(fixture.sent_requests().len(), 1, "the session has begun");
}

#[tokio::test]
async fn stale_price_is_delivered_for_a_new_stock() {
    let board = Board::default();
    board.set(vec![
        quote("AAPL", "190", friday("14:31:00")),
        quote("MSFT", "400", friday("14:29:00")),
    ]);
    let mut fixture = board
        .begin(FixtureConfig::at(friday("15:00:00"), &["AAPL", "MSFT"]))
        .await;
    assert_eq!(fixture.delivered(), ["AAPL 190 14:31:00 late"]);
    board.set(vec![quote("AAPL", "191", friday("14:32:00"))]);
    fixture.until(friday("15:01:00")).await;
    assert_eq!(fixture.delivered(), [""; 0], "by now it is known");
}

#[tokio::test]
async fn polling_continues_after_a_fast_clock_is_corrected() {
    let board = Board::default();
    let mut fixture = board.begin(FixtureConfig::at(friday("15:00:00"), &["AAPL"])).await;
    fixture.clock.step_to("2024-03-11T15:00:00Z".parse().unwrap());
    board.set(vec![quote("AAPL", "189", "2024-03-11T15:00:00Z".parse().unwrap())]);
    fixture.settle().await;
    let _ = (fixture.sent_requests(), fixture.delivered());
    fixture.clock.step_to(friday("15:00:30"));
    fixture.settle().await;
    board.set(vec![quote("AAPL", "190", friday("15:01:20"))]);
    fixture.until(friday("15:01:30")).await;
    assert_eq!(fixture.sent_requests().len(), 2);
    assert_eq!(fixture.delivered(), ["AAPL 190 15:01:20"]);
}
