//! Jumps of stocks that are traded too seldom for the next trade to confirm them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use market::records::QuoteRow;
use sources::freshness::Reason;
use sources::live::Seen;
use sources::provider::{Answer, Ask, Capability};

use crate::world::{Beginning, Known, World, friday, minute, minutes, quote, quotes, symbol, thursday};

/// The quote that is polled, and the close of each minute bar that is requested.
#[derive(Clone, Default)]
struct Market {
    quote: Arc<Mutex<Option<QuoteRow>>>,
    close: Arc<Mutex<Option<&'static str>>>,
}

impl Market {
    fn with_close(close: &'static str) -> Self {
        Self {
            close: Arc::new(Mutex::new(Some(close))),
            ..Self::default()
        }
    }

    fn trade(&self, price: &str, time: &str) {
        *self.quote.lock().unwrap() = Some(quote("AAPL", price, friday(time)));
    }

    /// A source that has seen AAPL at 190, and sees it at 90 at 15:01:58, two seconds before now.
    async fn jumps(&self, beginning: Beginning) -> World {
        self.trade("190", "14:59:58");
        let mut world = self.begin(beginning).await;
        assert_eq!(world.delivered(), ["AAPL 190 14:59:58"]);
        world.until(friday("15:01:59")).await;
        self.trade("90", "15:01:58");
        let _ = world.asked();
        world.until(friday("15:02:00")).await;
        world
    }

    async fn begin(&self, beginning: Beginning) -> World {
        let market = self.clone();
        World::begin(beginning, move |ask| {
            Ok(match ask {
                Ask::Quotes(_) => quotes(market.quote.lock().unwrap().into_iter().collect()),
                Ask::MinuteBars(_, times) => {
                    let close = *market.close.lock().unwrap();
                    let bars = close.map(|close| minute("AAPL", times.from, [close; 4]));
                    minutes(bars.into_iter().collect())
                }
                _ => Answer::default(),
            })
        })
        .await
    }
}

/// AAPL is watched. No provider has minute bars.
fn without_minutes() -> Beginning {
    Beginning {
        capabilities: vec![Capability::Quotes],
        ..Beginning::at(friday("15:00:00"), &["AAPL"])
    }
}

fn minute_requests(world: &World) -> usize {
    let asked = world.asked();
    asked.iter().filter(|ask| matches!(ask, Ask::MinuteBars(..))).count()
}

#[tokio::test]
async fn a_second_source_that_agrees_confirms_a_jump_at_once() {
    let beginning = Beginning {
        second_source: vec![quote("AAPL", "100", friday("15:01:50"))],
        ..without_minutes()
    };
    let mut world = Market::default().jumps(beginning).await;
    assert_eq!(world.delivered(), ["AAPL 90 15:01:58"]);
    assert_eq!(world.health.state().quotes.confirmed, 1);
}

#[tokio::test]
async fn a_second_source_that_disagrees_confirms_nothing() {
    let beginning = Beginning {
        second_source: vec![quote("AAPL", "189", friday("15:01:50"))],
        ..without_minutes()
    };
    let mut world = Market::default().jumps(beginning).await;
    world.until(friday("15:10:00")).await;
    assert_eq!(world.delivered(), [""; 0]);
}

#[tokio::test]
async fn a_quote_of_a_second_source_from_over_a_minute_before_a_jump_confirms_nothing() {
    for (time, expected) in [("15:00:58", vec!["AAPL 90 15:01:58"]), ("15:00:57", vec![])] {
        let beginning = Beginning {
            second_source: vec![quote("AAPL", "100", friday(time))],
            ..without_minutes()
        };
        let mut world = Market::default().jumps(beginning).await;
        assert_eq!(world.delivered(), expected, "{time}");
    }
}

#[tokio::test]
async fn a_quote_of_a_second_source_without_a_time_confirms_nothing() {
    let undated = QuoteRow {
        time: None,
        ..quote("AAPL", "90", friday("15:01:50"))
    };
    let beginning = Beginning {
        second_source: vec![undated],
        ..without_minutes()
    };
    let mut world = Market::default().jumps(beginning).await;
    assert_eq!(world.delivered(), [""; 0]);
}

/// A source with two providers of quotes. The first one does not know AAPL, so the second one reports a jump of it.
async fn jump_of_the_fallback() -> World {
    let beginning = Beginning {
        watched: vec![symbol("MSFT"), symbol("AAPL")],
        second_source: vec![quote("AAPL", "190", friday("14:59:58"))],
        ..without_minutes()
    };
    let mut world = World::begin(beginning, |ask| {
        let Ask::Quotes(symbols) = ask else {
            return Ok(Answer::default());
        };
        let (unknown, known): (Vec<_>, Vec<_>) = symbols.iter().copied().partition(|stock| *stock == symbol("AAPL"));
        let rows = known.iter().map(|_| quote("MSFT", "400", friday("14:59:58")));
        Ok(Answer {
            unknown,
            ..quotes(rows.collect())
        })
    })
    .await;
    assert_eq!(world.delivered(), ["MSFT 400 14:59:58", "AAPL 190 14:59:58"]);
    world.until(friday("15:01:59")).await;
    *world.second_source.lock().unwrap() = vec![quote("AAPL", "90", friday("15:01:58"))];
    let _ = world.asked();
    world.until(friday("15:02:00")).await;
    assert_eq!(world.delivered(), [""; 0]);
    world
}

#[tokio::test]
async fn a_jump_that_the_fallback_reported_is_checked_with_the_first_provider() {
    let world = jump_of_the_fallback().await;
    let asked = world.asked();
    let round = Ask::Quotes(vec![symbol("MSFT"), symbol("AAPL")]);
    assert_eq!(asked, [round, Ask::Quotes(vec![symbol("AAPL")])]);
}

#[tokio::test]
async fn the_next_trade_confirms_a_jump_that_no_second_source_confirmed() {
    let mut world = jump_of_the_fallback().await;
    world.until(friday("15:11:59")).await;
    *world.second_source.lock().unwrap() = vec![quote("AAPL", "91", friday("15:11:58"))];
    world.until(friday("15:12:00")).await;
    assert_eq!(world.delivered(), ["AAPL 91 15:11:58"]);
}

#[tokio::test]
async fn the_next_trade_confirms_a_jump_that_no_minute_bar_confirmed() {
    let market = Market::default();
    let mut world = market.jumps(Beginning::at(friday("15:00:00"), &["AAPL"])).await;
    world.until(friday("15:11:59")).await;
    assert_eq!(minute_requests(&world), 3);
    market.trade("91", "15:11:58");
    world.until(friday("15:12:00")).await;
    assert_eq!(world.delivered(), ["AAPL 91 15:11:58"]);
}

#[tokio::test]
async fn a_jump_that_is_confirmed_after_the_close_is_judged_as_missed() {
    let market = Market::with_close("90");
    market.trade("190", "20:57:58");
    let mut world = market.begin(Beginning::at(friday("20:58:35"), &["AAPL"])).await;
    assert_eq!(world.delivered(), ["AAPL 190 20:57:58"]);
    world.until(friday("20:59:34")).await;
    market.trade("90", "20:59:30");
    world.until(friday("21:00:10")).await;
    assert_eq!(world.delivered(), ["AAPL 90 20:59:30 late"]);
}

#[tokio::test]
async fn a_delayed_jump_that_is_confirmed_after_the_close_is_judged_as_missed() {
    let market = Market::with_close("90");
    market.trade("190", "20:49:30");
    let beginning = Beginning {
        delay: Duration::from_secs(900),
        ..Beginning::at(friday("20:58:30"), &["AAPL"])
    };
    let mut world = market.begin(beginning).await;
    let _ = world.delivered();
    world.until(friday("21:05:29")).await;
    market.trade("90", "20:50:30");
    world.until(friday("21:07:00")).await;
    assert_eq!(world.delivered(), ["AAPL 90 20:50:30 late"]);
}

#[tokio::test]
async fn a_jump_that_was_held_while_the_clock_was_a_day_ahead_does_not_wait_for_that_day() {
    let market = Market::default();
    let trade = |price, time| *market.quote.lock().unwrap() = Some(quote("AAPL", price, thursday(time)));
    trade("190", "14:59:58");
    let beginning = Beginning {
        provider_time: Some(thursday("15:00:00")),
        ..Beginning::at(friday("15:00:00"), &["AAPL"])
    };
    let mut world = market.begin(beginning).await;
    assert_eq!(world.delivered(), ["AAPL 190 14:59:58"]);
    trade("90", "15:00:58");
    world.until(friday("15:01:10")).await;
    assert_eq!(world.health.state().quotes.of(Reason::Jump), 1);
    *market.close.lock().unwrap() = Some("90");
    world.clock.step_to(thursday("15:01:10"));
    world.until(thursday("15:02:30")).await;
    assert_eq!(world.delivered(), ["AAPL 90 15:00:58"]);
}

#[tokio::test]
async fn the_bar_of_its_minute_confirms_a_jump_when_that_minute_is_told() {
    let market = Market::with_close("90");
    let mut world = market.jumps(Beginning::at(friday("15:00:00"), &["AAPL"])).await;
    world.until(friday("15:02:04")).await;
    assert_eq!(world.delivered(), [""; 0]);
    world.until(friday("15:02:05")).await;
    assert_eq!(world.delivered(), ["AAPL 90 15:01:58"]);
    assert_eq!(minute_requests(&world), 1);
}

#[tokio::test]
async fn a_bar_at_the_price_before_confirms_no_jump_and_is_asked_for_three_times() {
    let market = Market::with_close("190");
    let mut world = market.jumps(Beginning::at(friday("15:00:00"), &["AAPL"])).await;
    world.until(friday("15:20:00")).await;
    assert_eq!(world.delivered(), [""; 0]);
    assert_eq!(minute_requests(&world), 3);
}

#[tokio::test]
async fn a_jump_that_the_next_price_takes_back_is_not_asked_about_any_more() {
    let market = Market::default();
    let mut world = market.jumps(Beginning::at(friday("15:00:00"), &["AAPL"])).await;
    world.until(friday("15:02:59")).await;
    market.trade("189", "15:02:58");
    world.until(friday("15:03:00")).await;
    assert_eq!(world.delivered(), ["AAPL 189 15:02:58"]);
    assert_eq!(minute_requests(&world), 1);
    world.until(friday("15:20:00")).await;
    assert_eq!(minute_requests(&world), 0);
}

#[tokio::test]
async fn without_another_source_the_next_trade_confirms_a_jump_whenever_it_comes() {
    let market = Market::default();
    let mut world = market.jumps(without_minutes()).await;
    world.until(friday("16:30:00")).await;
    assert_eq!(world.delivered(), [""; 0]);
    market.trade("91", "16:30:30");
    world.until(friday("16:31:00")).await;
    assert_eq!(world.delivered(), ["AAPL 91 16:30:30"]);
}

#[tokio::test]
async fn a_price_near_the_close_of_a_later_bar_is_no_jump() {
    for (reference, expected) in [(None, vec![]), (Some("91"), vec!["AAPL 90 14:59:58"])] {
        let seen = Seen {
            price: "190".parse().unwrap(),
            at: friday("14:59:00"),
        };
        let known = Known {
            seen: [(symbol("AAPL"), seen)].into(),
            closes: reference
                .map(|close| (symbol("AAPL"), close.parse().unwrap()))
                .into_iter()
                .collect(),
            ..Known::default()
        };
        let beginning = Beginning {
            known,
            ..without_minutes()
        };
        let mut world = World::begin(beginning, |_| Ok(quotes(vec![quote("AAPL", "90", friday("14:59:58"))]))).await;
        assert_eq!(world.delivered(), expected);
    }
}
