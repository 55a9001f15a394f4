//! Requests for the newest price of single stocks.

use std::sync::{Arc, Mutex};

use market::ObservedPrice;
use sources::live::PriceReply;
use sources::provider::{DataRequest, DataResponse};

use crate::live::fixture::{Fixture, FixtureConfig, KnownState, friday, no_answer, quote, quotes, symbol};

/// A source without watched stocks whose provider has the quotes of the board; it fails while the board is empty.
async fn begin(known: KnownState) -> (Fixture, Arc<Mutex<Vec<market::records::QuoteRow>>>) {
    begin_at("15:00:00", known).await
}

async fn begin_at(time: &str, known: KnownState) -> (Fixture, Arc<Mutex<Vec<market::records::QuoteRow>>>) {
    let board = Arc::new(Mutex::new(Vec::new()));
    let answers = Arc::clone(&board);
    let config = FixtureConfig {
        known,
        ..FixtureConfig::at(friday(time), &[])
    };
    let fixture = Fixture::begin(config, move |request| match request {
        DataRequest::Quotes(symbols) => {
            let rows: Vec<market::records::QuoteRow> = answers.lock().unwrap().clone();
            if rows.is_empty() {
                return Err(no_answer());
            }
            let is_known = |symbol: &market::Symbol| rows.iter().any(|row| row.symbol == *symbol);
            let unknown = symbols.iter().copied().filter(|symbol| !is_known(symbol)).collect();
            let rows = rows.iter().filter(|row| symbols.contains(&row.symbol)).cloned();
            Ok(DataResponse {
                unknown,
                ..quotes(rows.collect())
            })
        }
        _ => Ok(DataResponse::default()),
    })
    .await;
    (fixture, board)
}

fn known(time: &str, is_delivered: bool) -> PriceReply {
    PriceReply::Known {
        newest: Some(friday(time)),
        is_delivered,
    }
}

#[tokio::test]
async fn requested_price_is_delivered_and_replied_to_without_being_watched() {
    let (mut fixture, board) = begin(KnownState::default()).await;
    board.lock().unwrap().push(quote("AAPL", "190", friday("14:59:59")));
    let reply = fixture.request("AAPL").await;
    assert_eq!(reply.await.unwrap(), known("14:59:59", true));
    assert_eq!(fixture.delivered(), ["AAPL 190 14:59:59"]);
    // The same trade again is a duplicate.
    let reply = fixture.request("AAPL").await;
    assert_eq!(reply.await.unwrap(), known("14:59:59", false));
    assert_eq!(fixture.delivered(), [""; 0]);
}

#[tokio::test]
async fn concurrent_requests_share_one_provider_request() {
    let (fixture, board) = begin(KnownState::default()).await;
    board.lock().unwrap().extend([
        quote("AAPL", "190", friday("14:59:59")),
        quote("MSFT", "400", friday("14:59:58")),
    ]);
    let _ = fixture.sent_requests();
    let replies = [
        fixture.request("MSFT").await,
        fixture.request("AAPL").await,
        fixture.request("AAPL").await,
    ];
    for (reply, time) in replies.into_iter().zip(["14:59:58", "14:59:59", "14:59:59"]) {
        assert_eq!(reply.await.unwrap(), known(time, true));
    }
    assert_eq!(
        fixture.sent_requests(),
        [DataRequest::Quotes(vec![symbol("AAPL"), symbol("MSFT")])]
    );
}

#[tokio::test]
async fn requested_stock_starts_no_polling_round_when_watched() {
    let (fixture, board) = begin(KnownState::default()).await;
    board.lock().unwrap().extend([
        quote("AAPL", "190", friday("14:59:59")),
        quote("MSFT", "400", friday("14:59:58")),
    ]);
    fixture.watched.send_replace(Arc::new(vec![symbol("MSFT")]));
    fixture.settle().await;
    let _ = fixture.sent_requests();
    let reply = fixture.request("AAPL").await;
    fixture
        .watched
        .send_replace(Arc::new(vec![symbol("MSFT"), symbol("AAPL")]));
    assert_eq!(reply.await.unwrap(), known("14:59:59", true));
    fixture.settle().await;
    assert_eq!(fixture.sent_requests(), [DataRequest::Quotes(vec![symbol("AAPL")])]);
}

#[tokio::test]
async fn unknown_stock_differs_from_a_failed_provider() {
    let (fixture, board) = begin(KnownState::default()).await;
    let reply = fixture.request("NOSUCH").await;
    assert_eq!(reply.await.unwrap(), PriceReply::NoAnswer);
    board.lock().unwrap().push(quote("AAPL", "190", friday("14:59:59")));
    // A provider that failed backs off.
    fixture.until(friday("15:00:31")).await;
    let reply = fixture.request("NOSUCH").await;
    assert_eq!(reply.await.unwrap(), PriceReply::Unknown);
}

#[tokio::test]
async fn unlisted_stock_is_listed_before_its_price() {
    let unlisted = KnownState {
        unlisted: vec![symbol("NEWCO")],
        ..KnownState::default()
    };
    let (mut fixture, board) = begin(unlisted).await;
    // It is late, so it is a missed quote, and only listed stocks have those.
    board.lock().unwrap().push(quote("NEWCO", "20", friday("14:50:00")));
    let reply = fixture.request("NEWCO").await;
    assert_eq!(reply.await.unwrap(), known("14:50:00", true));
    let updates = fixture.updates();
    assert_eq!(updates.len(), 2);
    assert_eq!(updates[0].batch.stocks[0].symbol, symbol("NEWCO"));
    assert_eq!(updates[1].missed.quotes.len(), 1);
}

#[tokio::test]
async fn jump_is_requested_again_after_a_second() {
    let seen = ObservedPrice {
        price: "200".parse().unwrap(),
        at: friday("14:40:00"),
    };
    let (mut fixture, board) = begin(KnownState {
        seen: [(symbol("AAPL"), seen)].into(),
        ..KnownState::default()
    })
    .await;
    board.lock().unwrap().push(quote("AAPL", "300", friday("14:59:59")));
    let reply = fixture.request("AAPL").await;
    fixture.settle().await;
    assert_eq!(fixture.delivered(), [""; 0]);
    *board.lock().unwrap() = vec![quote("AAPL", "301", friday("15:00:00"))];
    fixture.until(friday("15:00:01")).await;
    assert_eq!(reply.await.unwrap(), known("15:00:00", true));
    assert_eq!(fixture.delivered(), ["AAPL 301 15:00:00"]);
    // It is not confirmed without another trade.
    *board.lock().unwrap() = vec![quote("AAPL", "100", friday("15:00:01"))];
    let reply = fixture.request("AAPL").await;
    fixture.until(friday("15:00:03")).await;
    assert_eq!(reply.await.unwrap(), known("15:00:01", false));
    assert_eq!(fixture.delivered(), [""; 0]);
}

#[tokio::test]
async fn requested_price_is_compared_with_the_close_of_a_later_bar() {
    let seen = ObservedPrice {
        price: "190".parse().unwrap(),
        at: friday("14:40:00"),
    };
    let (mut fixture, board) = begin(KnownState {
        seen: [(symbol("AAPL"), seen)].into(),
        closes: [(symbol("AAPL"), "91".parse().unwrap())].into(),
        ..KnownState::default()
    })
    .await;
    board.lock().unwrap().push(quote("AAPL", "90", friday("14:59:59")));
    let reply = fixture.request("AAPL").await;
    assert_eq!(reply.await.unwrap(), known("14:59:59", true));
    assert_eq!(fixture.delivered(), ["AAPL 90 14:59:59"]);
}

#[tokio::test]
async fn watched_stock_is_polled_30_seconds_after_a_failed_request() {
    let (mut fixture, board) = begin_at("13:00:00", KnownState::default()).await;
    let reply = fixture.request("AAPL").await;
    fixture.watched.send_replace(Arc::new(vec![symbol("AAPL")]));
    assert_eq!(reply.await.unwrap(), PriceReply::NoAnswer);
    fixture.settle().await;
    board.lock().unwrap().push(quote("AAPL", "190", friday("12:59:59")));
    fixture.until(friday("13:00:30")).await;
    assert_eq!(fixture.delivered(), ["AAPL 190 12:59:59"]);
}

#[tokio::test]
async fn unwatched_stock_is_not_polled_after_its_request() {
    let (fixture, _) = begin_at("13:00:00", KnownState::default()).await;
    let reply = fixture.request("AAPL").await;
    assert_eq!(reply.await.unwrap(), PriceReply::NoAnswer);
    let _ = fixture.sent_requests();
    fixture.until(friday("13:02:00")).await;
    assert_eq!(fixture.sent_requests(), []);
}
