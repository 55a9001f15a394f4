//! Jumps of stocks that are traded too rarely for the next trade to confirm them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use market::ObservedPrice;
use market::records::QuoteRow;
use sources::freshness::FilterReason;
use sources::provider::{Capability, DataRequest, DataResponse};

use crate::live::fixture::{
    Fixture, FixtureConfig, KnownState, friday, minute, minutes, quote, quotes, symbol, thursday,
};

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

    /// A source that received AAPL at 190, and at 90 at 15:01:58, two seconds before the present.
    async fn jumps(&self, config: FixtureConfig) -> Fixture {
        self.trade("190", "14:59:58");
        let mut fixture = self.begin(config).await;
        assert_eq!(fixture.delivered(), ["AAPL 190 14:59:58"]);
        fixture.until(friday("15:01:59")).await;
        self.trade("90", "15:01:58");
        let _ = fixture.sent_requests();
        fixture.until(friday("15:02:00")).await;
        fixture
    }

    async fn begin(&self, config: FixtureConfig) -> Fixture {
        let market = self.clone();
        Fixture::begin(config, move |request| {
            Ok(match request {
                DataRequest::Quotes(_) => quotes(market.quote.lock().unwrap().into_iter().collect()),
                DataRequest::MinuteBars(_, times) => {
                    let close = *market.close.lock().unwrap();
                    let bars = close.map(|close| minute("AAPL", times.from, [close; 4]));
                    minutes(bars.into_iter().collect())
                }
                _ => DataResponse::default(),
            })
        })
        .await
    }
}

/// AAPL is watched. No provider has minute bars.
fn without_minutes() -> FixtureConfig {
    FixtureConfig {
        capabilities: vec![Capability::Quotes],
        ..FixtureConfig::at(friday("15:00:00"), &["AAPL"])
    }
}

fn minute_requests(fixture: &Fixture) -> usize {
    let requests = fixture.sent_requests();
    requests
        .iter()
        .filter(|request| matches!(request, DataRequest::MinuteBars(..)))
        .count()
}

#[tokio::test]
async fn agreeing_second_source_confirms_a_jump() {
    let config = FixtureConfig {
        second_source: vec![quote("AAPL", "100", friday("15:01:50"))],
        ..without_minutes()
    };
    let mut fixture = Market::default().jumps(config).await;
    assert_eq!(fixture.delivered(), ["AAPL 90 15:01:58"]);
    assert_eq!(fixture.health.snapshot().quotes.confirmed, 1);
}

#[tokio::test]
async fn disagreeing_second_source_does_not_confirm() {
    let config = FixtureConfig {
        second_source: vec![quote("AAPL", "189", friday("15:01:50"))],
        ..without_minutes()
    };
    let mut fixture = Market::default().jumps(config).await;
    fixture.until(friday("15:10:00")).await;
    assert_eq!(fixture.delivered(), [""; 0]);
}

#[tokio::test]
async fn old_quote_of_a_second_source_does_not_confirm() {
    for (time, expected) in [("15:00:58", vec!["AAPL 90 15:01:58"]), ("15:00:57", vec![])] {
        let config = FixtureConfig {
            second_source: vec![quote("AAPL", "100", friday(time))],
            ..without_minutes()
        };
        let mut fixture = Market::default().jumps(config).await;
        assert_eq!(fixture.delivered(), expected, "{time}");
    }
}

#[tokio::test]
async fn quote_without_time_does_not_confirm() {
    let undated = QuoteRow {
        time: None,
        ..quote("AAPL", "90", friday("15:01:50"))
    };
    let config = FixtureConfig {
        second_source: vec![undated],
        ..without_minutes()
    };
    let mut fixture = Market::default().jumps(config).await;
    assert_eq!(fixture.delivered(), [""; 0]);
}

/// A source with two providers of quotes. The first one does not know AAPL, so the second one reports a jump of it.
async fn jump_of_the_fallback() -> Fixture {
    let config = FixtureConfig {
        watched: vec![symbol("MSFT"), symbol("AAPL")],
        second_source: vec![quote("AAPL", "190", friday("14:59:58"))],
        ..without_minutes()
    };
    let mut fixture = Fixture::begin(config, |request| {
        let DataRequest::Quotes(symbols) = request else {
            return Ok(DataResponse::default());
        };
        let (unknown, known): (Vec<_>, Vec<_>) = symbols.iter().copied().partition(|stock| *stock == symbol("AAPL"));
        let rows = known.iter().map(|_| quote("MSFT", "400", friday("14:59:58")));
        Ok(DataResponse {
            unknown,
            ..quotes(rows.collect())
        })
    })
    .await;
    assert_eq!(fixture.delivered(), ["MSFT 400 14:59:58", "AAPL 190 14:59:58"]);
    fixture.until(friday("15:01:59")).await;
    *fixture.second_source.lock().unwrap() = vec![quote("AAPL", "90", friday("15:01:58"))];
    let _ = fixture.sent_requests();
    fixture.until(friday("15:02:00")).await;
    assert_eq!(fixture.delivered(), [""; 0]);
    fixture
}

#[tokio::test]
async fn jump_of_the_fallback_is_checked_with_the_primary() {
    let fixture = jump_of_the_fallback().await;
    let requests = fixture.sent_requests();
    let round = DataRequest::Quotes(vec![symbol("MSFT"), symbol("AAPL")]);
    assert_eq!(requests, [round, DataRequest::Quotes(vec![symbol("AAPL")])]);
}

#[tokio::test]
async fn next_trade_confirms_after_the_second_source_did_not() {
    let mut fixture = jump_of_the_fallback().await;
    fixture.until(friday("15:11:59")).await;
    *fixture.second_source.lock().unwrap() = vec![quote("AAPL", "91", friday("15:11:58"))];
    fixture.until(friday("15:12:00")).await;
    assert_eq!(fixture.delivered(), ["AAPL 91 15:11:58"]);
}

#[tokio::test]
async fn next_trade_confirms_after_minute_bars_did_not() {
    let market = Market::default();
    let mut fixture = market.jumps(FixtureConfig::at(friday("15:00:00"), &["AAPL"])).await;
    fixture.until(friday("15:11:59")).await;
    assert_eq!(minute_requests(&fixture), 3);
    market.trade("91", "15:11:58");
    fixture.until(friday("15:12:00")).await;
    assert_eq!(fixture.delivered(), ["AAPL 91 15:11:58"]);
}

#[tokio::test]
async fn jump_confirmed_after_the_close_is_a_missed_quote() {
    let market = Market::with_close("90");
    market.trade("190", "20:57:58");
    let mut fixture = market.begin(FixtureConfig::at(friday("20:58:35"), &["AAPL"])).await;
    assert_eq!(fixture.delivered(), ["AAPL 190 20:57:58"]);
    fixture.until(friday("20:59:34")).await;
    market.trade("90", "20:59:30");
    fixture.until(friday("21:00:10")).await;
    assert_eq!(fixture.delivered(), ["AAPL 90 20:59:30 late"]);
}

#[tokio::test]
async fn delayed_jump_confirmed_after_the_close_is_a_missed_quote() {
    let market = Market::with_close("90");
    market.trade("190", "20:49:30");
    let config = FixtureConfig {
        delay: Duration::from_secs(900),
        ..FixtureConfig::at(friday("20:58:30"), &["AAPL"])
    };
    let mut fixture = market.begin(config).await;
    let _ = fixture.delivered();
    fixture.until(friday("21:05:29")).await;
    market.trade("90", "20:50:30");
    fixture.until(friday("21:07:00")).await;
    assert_eq!(fixture.delivered(), ["AAPL 90 20:50:30 late"]);
}

#[tokio::test]
async fn jump_held_by_a_fast_clock_is_confirmed_after_the_correction() {
    let market = Market::default();
    let trade = |price, time| *market.quote.lock().unwrap() = Some(quote("AAPL", price, thursday(time)));
    trade("190", "14:59:58");
    let config = FixtureConfig {
        provider_time: Some(thursday("15:00:00")),
        ..FixtureConfig::at(friday("15:00:00"), &["AAPL"])
    };
    let mut fixture = market.begin(config).await;
    assert_eq!(fixture.delivered(), ["AAPL 190 14:59:58"]);
    trade("90", "15:00:58");
    fixture.until(friday("15:01:10")).await;
    assert_eq!(fixture.health.snapshot().quotes.of(FilterReason::Jump), 1);
    *market.close.lock().unwrap() = Some("90");
    fixture.clock.step_to(thursday("15:01:10"));
    fixture.until(thursday("15:02:30")).await;
    assert_eq!(fixture.delivered(), ["AAPL 90 15:00:58"]);
}

#[tokio::test]
async fn minute_bar_confirms_a_jump_when_available() {
    let market = Market::with_close("90");
    let mut fixture = market.jumps(FixtureConfig::at(friday("15:00:00"), &["AAPL"])).await;
    fixture.until(friday("15:02:04")).await;
    assert_eq!(fixture.delivered(), [""; 0]);
    fixture.until(friday("15:02:05")).await;
    assert_eq!(fixture.delivered(), ["AAPL 90 15:01:58"]);
    assert_eq!(minute_requests(&fixture), 1);
}

#[tokio::test]
async fn minute_bars_are_requested_at_most_three_times() {
    let market = Market::with_close("190");
    let mut fixture = market.jumps(FixtureConfig::at(friday("15:00:00"), &["AAPL"])).await;
    fixture.until(friday("15:20:00")).await;
    assert_eq!(fixture.delivered(), [""; 0]);
    assert_eq!(minute_requests(&fixture), 3);
}

#[tokio::test]
async fn discarded_jump_is_not_requested_again() {
    let market = Market::default();
    let mut fixture = market.jumps(FixtureConfig::at(friday("15:00:00"), &["AAPL"])).await;
    fixture.until(friday("15:02:59")).await;
    market.trade("189", "15:02:58");
    fixture.until(friday("15:03:00")).await;
    assert_eq!(fixture.delivered(), ["AAPL 189 15:02:58"]);
    assert_eq!(minute_requests(&fixture), 1);
    fixture.until(friday("15:20:00")).await;
    assert_eq!(minute_requests(&fixture), 0);
}

#[tokio::test]
async fn next_trade_confirms_at_any_time_without_other_sources() {
    let market = Market::default();
    let mut fixture = market.jumps(without_minutes()).await;
    fixture.until(friday("16:30:00")).await;
    assert_eq!(fixture.delivered(), [""; 0]);
    market.trade("91", "16:30:30");
    fixture.until(friday("16:31:00")).await;
    assert_eq!(fixture.delivered(), ["AAPL 91 16:30:30"]);
}

#[tokio::test]
async fn price_near_the_close_of_a_later_bar_is_not_a_jump() {
    for (reference, expected) in [(None, vec![]), (Some("91"), vec!["AAPL 90 14:59:58"])] {
        let seen = ObservedPrice {
            price: "190".parse().unwrap(),
            at: friday("14:59:00"),
        };
        let known = KnownState {
            seen: [(symbol("AAPL"), seen)].into(),
            closes: reference
                .map(|close| (symbol("AAPL"), close.parse().unwrap()))
                .into_iter()
                .collect(),
            ..KnownState::default()
        };
        let config = FixtureConfig {
            known,
            ..without_minutes()
        };
        let mut fixture = Fixture::begin(config, |_| Ok(quotes(vec![quote("AAPL", "90", friday("14:59:58"))]))).await;
        assert_eq!(fixture.delivered(), expected);
    }
}
