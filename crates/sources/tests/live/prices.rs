//! Prices of the session.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sources::freshness::Reason;
use sources::provider::{Answer, Ask};

use crate::world::{Beginning, World, friday, quote, quotes, symbol};

/// What is polled is what the board says.
#[derive(Clone, Default)]
struct Board(Arc<Mutex<Vec<market::records::QuoteRow>>>);

impl Board {
    fn say(&self, rows: Vec<market::records::QuoteRow>) {
        *self.0.lock().unwrap() = rows;
    }

    async fn begin(&self, beginning: Beginning) -> World {
        let board = self.clone();
        World::begin(beginning, move |ask| {
            Ok(match ask {
                Ask::Quotes(symbols) => {
                    let rows = board.0.lock().unwrap().clone();
                    quotes(rows.into_iter().filter(|row| symbols.contains(&row.symbol)).collect())
                }
                _ => Answer::default(),
            })
        })
        .await
    }
}

#[tokio::test]
async fn only_what_is_watched_is_asked_for_once_a_minute() {
    let board = Board::default();
    let world = board.begin(Beginning::at(friday("15:00:00"), &["MSFT", "AAPL"])).await;
    let both = Ask::Quotes(vec![symbol("MSFT"), symbol("AAPL")]);
    assert_eq!(world.asked(), std::slice::from_ref(&both));
    world.until(friday("15:00:59")).await;
    assert_eq!(world.asked(), []);
    world.until(friday("15:02:00")).await;
    assert_eq!(world.asked(), [both.clone(), both]);
}

#[tokio::test]
async fn whoever_comes_to_be_watched_is_asked_for_at_once_and_who_is_not_any_more_never() {
    let board = Board::default();
    let world = board.begin(Beginning::at(friday("15:00:00"), &["AAPL"])).await;
    world.until(friday("15:00:10")).await;
    let _ = world.asked();
    world
        .watched
        .send_replace(Arc::new(vec![symbol("AAPL"), symbol("MSFT")]));
    world.settle().await;
    assert_eq!(world.asked(), [Ask::Quotes(vec![symbol("AAPL"), symbol("MSFT")])]);
    world.watched.send_replace(Arc::new(vec![symbol("MSFT")]));
    world.until(friday("15:01:10")).await;
    assert_eq!(world.asked(), [Ask::Quotes(vec![symbol("MSFT")])]);
}

#[tokio::test]
async fn what_passes_the_gate_is_delivered_and_what_does_not_is_counted() {
    let board = Board::default();
    board.say(vec![quote("AAPL", "190", friday("14:59:58"))]);
    let mut world = board.begin(Beginning::at(friday("15:00:00"), &["AAPL"])).await;
    assert_eq!(world.delivered(), ["AAPL 190 14:59:58"]);
    // The same again, and then a price that nobody would have believed.
    world.until(friday("15:01:00")).await;
    board.say(vec![quote("AAPL", "90", friday("15:01:58"))]);
    world.until(friday("15:02:00")).await;
    assert_eq!(world.delivered(), [""; 0]);
    let counts = world.health.state().quotes;
    assert_eq!((counts.of(Reason::Duplicate), counts.of(Reason::Jump)), (1, 1));
    board.say(vec![quote("AAPL", "91", friday("15:02:59"))]);
    world.until(friday("15:03:00")).await;
    assert_eq!(world.delivered(), ["AAPL 91 15:02:59"]);
}

#[tokio::test]
async fn a_quote_that_is_told_late_is_judged_as_missed() {
    let board = Board::default();
    board.say(vec![quote("AAPL", "190", friday("14:58:00"))]);
    let mut world = board.begin(Beginning::at(friday("15:00:00"), &["AAPL"])).await;
    assert_eq!(world.delivered(), ["AAPL 190 14:58:00 late"]);
}

#[tokio::test]
async fn a_plan_with_a_delay_has_the_end_of_the_session_after_the_close() {
    let board = Board::default();
    let beginning = Beginning {
        delay: Duration::from_secs(900),
        ..Beginning::at(friday("20:59:30"), &["AAPL"])
    };
    board.say(vec![quote("AAPL", "190", friday("20:44:30"))]);
    let mut world = board.begin(beginning).await;
    board.say(vec![quote("AAPL", "191", friday("20:59:00"))]);
    world.until(friday("21:14:30")).await;
    assert_eq!(
        world.delivered(),
        ["AAPL 190 20:44:30", "AAPL 191 20:59:00 late"],
        "the market was closed when it was told"
    );
}

#[tokio::test]
async fn out_of_session_a_price_is_asked_for_once() {
    let board = Board::default();
    board.say(vec![quote("AAPL", "190", friday("12:59:58"))]);
    let mut world = board.begin(Beginning::at(friday("13:00:00"), &["AAPL"])).await;
    assert_eq!(world.delivered(), ["AAPL 190 12:59:58"]);
    world.until(friday("14:29:59")).await;
    assert_eq!(world.asked().len(), 1);
    world.until(friday("14:30:01")).await;
    assert_eq!(world.asked().len(), 1, "the session has begun");
}

#[tokio::test]
async fn of_whoever_is_new_an_old_price_of_a_session_is_better_than_none() {
    let board = Board::default();
    board.say(vec![
        quote("AAPL", "190", friday("14:31:00")),
        quote("MSFT", "400", friday("14:29:00")),
    ]);
    let mut world = board.begin(Beginning::at(friday("15:00:00"), &["AAPL", "MSFT"])).await;
    assert_eq!(world.delivered(), ["AAPL 190 14:31:00 late"]);
    board.say(vec![quote("AAPL", "191", friday("14:32:00"))]);
    world.until(friday("15:01:00")).await;
    assert_eq!(world.delivered(), [""; 0], "by now it is known");
}

#[tokio::test]
async fn polling_goes_on_after_a_clock_that_was_a_day_ahead_is_set_back() {
    let board = Board::default();
    let mut world = board.begin(Beginning::at(friday("15:00:00"), &["AAPL"])).await;
    world.clock.step_to("2024-03-11T15:00:00Z".parse().unwrap());
    board.say(vec![quote("AAPL", "189", "2024-03-11T15:00:00Z".parse().unwrap())]);
    world.settle().await;
    let _ = (world.asked(), world.delivered());
    world.clock.step_to(friday("15:00:30"));
    world.settle().await;
    board.say(vec![quote("AAPL", "190", friday("15:01:20"))]);
    world.until(friday("15:01:30")).await;
    assert_eq!(world.asked().len(), 2);
    assert_eq!(world.delivered(), ["AAPL 190 15:01:20"]);
}
