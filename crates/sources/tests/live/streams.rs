//! Streams that bring no prices, or not all subscribed symbols.

use std::time::Duration;

use jiff::Timestamp;
use sources::freshness::Reason;
use sources::provider::stream::State;
use sources::provider::{Answer, Ask, Capability, Times};

use crate::line::{HANG_LIMIT, Line, TOO_MANY};
use crate::world::{Beginning, Known, World, friday, quotes, symbol, thursday};

/// A source with a stream of these stocks, of which `heard` has brought a price at `now`. Earlier requests are discarded.
async fn streaming(now: &str, watched: &[&str], heard: &str, known: Known) -> (World, Line) {
    let line = Line::open().await;
    let beginning = Beginning {
        stream: Some(line.url.clone()),
        capabilities: vec![Capability::Quotes, Capability::Stream, Capability::MinuteBars],
        known,
        ..Beginning::at(friday(now), watched)
    };
    let mut world = World::begin(beginning, |_| Ok(quotes(Vec::new()))).await;
    line.subscribed(watched).await;
    trade(&mut world, &line, heard, "500", now).await;
    let _ = world.asked();
    (world, line)
}

async fn trade(world: &mut World, line: &Line, name: &str, price: &str, time: &str) {
    line.say(&format!("{name} {price} 2024-03-08T{time}Z"));
    assert_eq!(world.next_delivered().await, [format!("{name} {price} {time}")]);
}

fn polls(asked: &[Ask]) -> Vec<Vec<String>> {
    let polls = asked.iter().filter_map(|ask| match ask {
        Ask::Quotes(symbols) => Some(symbols.iter().map(ToString::to_string).collect()),
        _ => None,
    });
    polls.collect()
}

const NO_POLL: [Vec<String>; 0] = [];

#[tokio::test]
async fn a_stream_that_brings_nothing_for_two_minutes_is_replaced_by_polling() {
    let (mut world, line) = streaming("15:00:00", &["AAPL", "SPY"], "SPY", Known::default()).await;
    world.until(friday("15:02:00")).await;
    assert_eq!(polls(&world.asked()), NO_POLL);
    world.until(friday("15:02:01")).await;
    let asked = world.asked();
    assert_eq!(polls(&asked), [["AAPL", "SPY"]]);
    let silent = Times {
        from: friday("15:00:00"),
        to: friday("15:02:00"),
    };
    let both = vec![symbol("AAPL"), symbol("SPY")];
    assert!(asked.contains(&Ask::MinuteBars(both, silent)), "{asked:?}");
    let state = world.health.state().stream.unwrap().state;
    assert_eq!(state, State::Silent(friday("15:00:00")));
    world.until(friday("15:04:01")).await;
    assert_eq!(polls(&world.asked()).len(), 2, "once a minute");
    // It brings prices again.
    trade(&mut world, &line, "SPY", "501", "15:04:01").await;
    world.until(friday("15:06:00")).await;
    assert_eq!(polls(&world.asked()), NO_POLL);
    assert_eq!(world.health.state().stream.unwrap().state, State::Live);
}

#[tokio::test]
async fn only_a_liquid_stock_makes_silence_suspicious() {
    for (volume, expected) in [(4_999_999, 0), (5_000_000, 1)] {
        let known = Known {
            volumes: [(symbol("THIN"), volume)].into(),
            ..Known::default()
        };
        let (world, _line) = streaming("15:00:00", &["THIN"], "THIN", known).await;
        world.until(friday("15:02:01")).await;
        assert_eq!(polls(&world.asked()).len(), expected, "{volume}");
    }
}

#[tokio::test]
async fn a_stream_may_be_silent_before_the_open_and_for_two_minutes_after_it() {
    let line = Line::open().await;
    let beginning = Beginning {
        stream: Some(line.url.clone()),
        capabilities: vec![Capability::Quotes, Capability::Stream],
        ..Beginning::at(friday("14:00:00"), &["SPY"])
    };
    let world = World::begin(beginning, |_| Ok(Answer::default())).await;
    line.subscribed(&["SPY"]).await;
    // The first round asks for what is new; the session's first round finds the stream live.
    world.until(friday("14:00:01")).await;
    let _ = world.asked();
    world.until(friday("14:32:00")).await;
    assert_eq!(polls(&world.asked()), NO_POLL);
    world.until(friday("14:32:01")).await;
    assert_eq!(polls(&world.asked()), [["SPY"]]);
}

#[tokio::test]
async fn stocks_that_the_stream_refuses_are_polled_until_it_brings_them() {
    let (mut world, line) = streaming("15:00:00", &["AAPL", "MSFT", "SPY"], "SPY", Known::default()).await;
    line.say(TOO_MANY);
    trade(&mut world, &line, "SPY", "501", "15:00:00").await;
    assert_eq!(world.health.state().stream.unwrap().refused, 2);
    world.until(friday("15:01:00")).await;
    assert_eq!(polls(&world.asked()), [["AAPL", "MSFT"]]);
    trade(&mut world, &line, "AAPL", "190", "15:01:00").await;
    world.until(friday("15:02:00")).await;
    assert_eq!(polls(&world.asked()), [["MSFT"]]);
}

#[tokio::test]
async fn stocks_of_a_stream_that_refuses_none_are_not_polled() {
    let (world, _line) = streaming("15:00:00", &["AAPL", "MSFT", "SPY"], "SPY", Known::default()).await;
    world.until(friday("15:01:00")).await;
    assert_eq!(polls(&world.asked()), NO_POLL);
}

#[tokio::test]
async fn prices_from_the_future_do_not_keep_a_silent_stream_live() {
    let (world, line) = streaming("15:00:00", &["SPY"], "SPY", Known::default()).await;
    world.until(friday("15:01:00")).await;
    line.say("SPY 501 2024-03-08T15:01:10Z");
    let dropped = async {
        while world.health.state().quotes.of(Reason::Ahead) == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(HANG_LIMIT, dropped).await.unwrap();
    world.until(friday("15:02:00")).await;
    assert_eq!(polls(&world.asked()), NO_POLL);
    world.until(friday("15:02:01")).await;
    assert_eq!(polls(&world.asked()), [["SPY"]]);
}

/// Streams THIN to a host with a wrong clock, sets that right, and returns what is delivered of the next trade.
async fn delivered_after_a_correction(wrong: Timestamp, right: &str, trade_at: &str) -> Vec<String> {
    let line = Line::open().await;
    let beginning = Beginning {
        stream: Some(line.url.clone()),
        capabilities: vec![Capability::Quotes, Capability::Stream],
        provider_time: Some(friday(right)),
        ..Beginning::at(wrong, &["THIN"])
    };
    let mut world = World::begin(beginning, |_| Ok(quotes(Vec::new()))).await;
    line.subscribed(&["THIN"]).await;
    trade(&mut world, &line, "THIN", "20", right).await;
    world.clock.step_to(friday(right));
    world.until(friday(trade_at)).await;
    line.say(&format!("THIN 21 2024-03-08T{trade_at}Z"));
    world.next_delivered().await
}

#[tokio::test]
async fn streamed_prices_are_delivered_after_a_fast_clock_is_set_right() {
    let delivered = delivered_after_a_correction(friday("15:00:10"), "15:00:00", "15:00:03").await;
    assert_eq!(delivered, ["THIN 21 15:00:03"]);
}

#[tokio::test]
async fn streamed_prices_are_delivered_after_a_slow_clock_is_set_right() {
    let delivered = delivered_after_a_correction(friday("15:00:00"), "16:00:00", "16:00:03").await;
    assert_eq!(delivered, ["THIN 21 16:00:03"]);
}

#[tokio::test]
async fn a_stream_that_falls_silent_after_a_clock_a_day_ahead_is_set_right_is_noticed() {
    let (world, _line) = streaming("15:00:00", &["SPY"], "SPY", Known::default()).await;
    world.clock.step_to(thursday("15:00:00"));
    world.settle().await;
    let _ = world.asked();
    world.until(thursday("15:02:00")).await;
    assert_eq!(polls(&world.asked()), NO_POLL);
    world.until(thursday("15:02:01")).await;
    assert_eq!(polls(&world.asked()), [["SPY"]]);
}
