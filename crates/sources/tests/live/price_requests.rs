//! Requests for the newest price of single stocks.

use std::sync::{Arc, Mutex};

use sources::live::{PriceReply, Seen};
use sources::provider::{Answer, Ask};

use crate::world::{Beginning, Known, World, friday, quote, quotes, silent, symbol};

/// A source without watched stocks whose provider has the quotes of the board; it does not answer while that is empty.
async fn begin(known: Known) -> (World, Arc<Mutex<Vec<market::records::QuoteRow>>>) {
    begin_at("15:00:00", known).await
}

async fn begin_at(time: &str, known: Known) -> (World, Arc<Mutex<Vec<market::records::QuoteRow>>>) {
    let board = Arc::new(Mutex::new(Vec::new()));
    let said = Arc::clone(&board);
    let beginning = Beginning {
        known,
        ..Beginning::at(friday(time), &[])
    };
    let world = World::begin(beginning, move |ask| match ask {
        Ask::Quotes(symbols) => {
            let rows: Vec<market::records::QuoteRow> = said.lock().unwrap().clone();
            if rows.is_empty() {
                return Err(silent());
            }
            let is_known = |symbol: &market::Symbol| rows.iter().any(|row| row.symbol == *symbol);
            let unknown = symbols.iter().copied().filter(|symbol| !is_known(symbol)).collect();
            let rows = rows.iter().filter(|row| symbols.contains(&row.symbol)).cloned();
            Ok(Answer {
                unknown,
                ..quotes(rows.collect())
            })
        }
        _ => Ok(Answer::default()),
    })
    .await;
    (world, board)
}

fn known(time: &str, is_delivered: bool) -> PriceReply {
    PriceReply::Known {
        newest: Some(friday(time)),
        is_delivered,
    }
}

#[tokio::test]
async fn requested_price_is_delivered_and_replied_to_without_being_watched() {
    let (mut world, board) = begin(Known::default()).await;
    board.lock().unwrap().push(quote("AAPL", "190", friday("14:59:59")));
    let reply = world.request("AAPL").await;
    assert_eq!(reply.await.unwrap(), known("14:59:59", true));
    assert_eq!(world.delivered(), ["AAPL 190 14:59:59"]);
    // The same trade again is no news.
    let reply = world.request("AAPL").await;
    assert_eq!(reply.await.unwrap(), known("14:59:59", false));
    assert_eq!(world.delivered(), [""; 0]);
}

#[tokio::test]
async fn requests_that_come_in_together_are_one_question() {
    let (world, board) = begin(Known::default()).await;
    board.lock().unwrap().extend([
        quote("AAPL", "190", friday("14:59:59")),
        quote("MSFT", "400", friday("14:59:58")),
    ]);
    let _ = world.asked();
    let replies = [
        world.request("MSFT").await,
        world.request("AAPL").await,
        world.request("AAPL").await,
    ];
    for (reply, time) in replies.into_iter().zip(["14:59:58", "14:59:59", "14:59:59"]) {
        assert_eq!(reply.await.unwrap(), known(time, true));
    }
    assert_eq!(world.asked(), [Ask::Quotes(vec![symbol("AAPL"), symbol("MSFT")])]);
}

#[tokio::test]
async fn stock_that_is_requested_and_comes_to_be_watched_starts_no_round_of_polling() {
    let (world, board) = begin(Known::default()).await;
    board.lock().unwrap().extend([
        quote("AAPL", "190", friday("14:59:59")),
        quote("MSFT", "400", friday("14:59:58")),
    ]);
    world.watched.send_replace(Arc::new(vec![symbol("MSFT")]));
    world.settle().await;
    let _ = world.asked();
    let reply = world.request("AAPL").await;
    world
        .watched
        .send_replace(Arc::new(vec![symbol("MSFT"), symbol("AAPL")]));
    assert_eq!(reply.await.unwrap(), known("14:59:59", true));
    world.settle().await;
    assert_eq!(world.asked(), [Ask::Quotes(vec![symbol("AAPL")])]);
}

#[tokio::test]
async fn unknown_stock_and_silent_provider_are_told_apart() {
    let (world, board) = begin(Known::default()).await;
    let reply = world.request("NOSUCH").await;
    assert_eq!(reply.await.unwrap(), PriceReply::NoAnswer);
    board.lock().unwrap().push(quote("AAPL", "190", friday("14:59:59")));
    // A provider that failed is left alone for a while.
    world.until(friday("15:00:31")).await;
    let reply = world.request("NOSUCH").await;
    assert_eq!(reply.await.unwrap(), PriceReply::Unknown);
}

#[tokio::test]
async fn price_of_an_unlisted_stock_comes_after_its_listing() {
    let unlisted = Known {
        unlisted: vec![symbol("NEWCO")],
        ..Known::default()
    };
    let (mut world, board) = begin(unlisted).await;
    // It is late, so it is judged as missed, which only listed stocks are.
    board.lock().unwrap().push(quote("NEWCO", "20", friday("14:50:00")));
    let reply = world.request("NEWCO").await;
    assert_eq!(reply.await.unwrap(), known("14:50:00", true));
    let deliveries = world.deliveries();
    assert_eq!(deliveries.len(), 2);
    assert_eq!(deliveries[0].batch.stocks[0].symbol, symbol("NEWCO"));
    assert_eq!(deliveries[1].missed.quotes.len(), 1);
}

#[tokio::test]
async fn price_far_from_the_last_one_is_asked_for_again_after_a_second() {
    let seen = Seen {
        price: "200".parse().unwrap(),
        at: friday("14:40:00"),
    };
    let (mut world, board) = begin(Known {
        seen: [(symbol("AAPL"), seen)].into(),
        ..Known::default()
    })
    .await;
    board.lock().unwrap().push(quote("AAPL", "300", friday("14:59:59")));
    let reply = world.request("AAPL").await;
    world.settle().await;
    assert_eq!(world.delivered(), [""; 0]);
    *board.lock().unwrap() = vec![quote("AAPL", "301", friday("15:00:00"))];
    world.until(friday("15:00:01")).await;
    assert_eq!(reply.await.unwrap(), known("15:00:00", true));
    assert_eq!(world.delivered(), ["AAPL 301 15:00:00"]);
    // Without another trade it is not believed.
    *board.lock().unwrap() = vec![quote("AAPL", "100", friday("15:00:01"))];
    let reply = world.request("AAPL").await;
    world.until(friday("15:00:03")).await;
    assert_eq!(reply.await.unwrap(), known("15:00:01", false));
    assert_eq!(world.delivered(), [""; 0]);
}

#[tokio::test]
async fn requested_price_is_compared_with_the_close_of_a_later_bar() {
    let seen = Seen {
        price: "190".parse().unwrap(),
        at: friday("14:40:00"),
    };
    let (mut world, board) = begin(Known {
        seen: [(symbol("AAPL"), seen)].into(),
        closes: [(symbol("AAPL"), "91".parse().unwrap())].into(),
        ..Known::default()
    })
    .await;
    board.lock().unwrap().push(quote("AAPL", "90", friday("14:59:59")));
    let reply = world.request("AAPL").await;
    assert_eq!(reply.await.unwrap(), known("14:59:59", true));
    assert_eq!(world.delivered(), ["AAPL 90 14:59:59"]);
}

#[tokio::test]
async fn watched_stock_whose_request_is_not_answered_is_polled_within_half_a_minute() {
    let (mut world, board) = begin_at("13:00:00", Known::default()).await;
    let reply = world.request("AAPL").await;
    world.watched.send_replace(Arc::new(vec![symbol("AAPL")]));
    assert_eq!(reply.await.unwrap(), PriceReply::NoAnswer);
    world.settle().await;
    board.lock().unwrap().push(quote("AAPL", "190", friday("12:59:59")));
    world.until(friday("13:00:30")).await;
    assert_eq!(world.delivered(), ["AAPL 190 12:59:59"]);
}

#[tokio::test]
async fn stock_that_is_not_watched_is_not_polled_after_its_request() {
    let (world, _) = begin_at("13:00:00", Known::default()).await;
    let reply = world.request("AAPL").await;
    assert_eq!(reply.await.unwrap(), PriceReply::NoAnswer);
    let _ = world.asked();
    world.until(friday("13:02:00")).await;
    assert_eq!(world.asked(), []);
}
