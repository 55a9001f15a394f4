//! Streams that deliver no prices, or do not deliver all subscribed symbols.

use std::time::Duration;

use jiff::Timestamp;
use sources::freshness::FilterReason;
use sources::provider::stream::StreamState;
use sources::provider::{Capability, DataRequest, DataResponse, TimeRange};

use crate::live::fixture::{Fixture, FixtureConfig, KnownState, friday, quotes, symbol, thursday};
use crate::live::stream_server::{HANG_LIMIT, StreamServer, TOO_MANY};

/// A source with a stream of these stocks, which has delivered a price of `heard` at `now`. Earlier requests are discarded.
async fn streaming(now: &str, watched: &[&str], heard: &str, known: KnownState) -> (Fixture, StreamServer) {
    let stream_server = StreamServer::open().await;
    let config = FixtureConfig {
        stream: Some(stream_server.url.clone()),
        capabilities: vec![Capability::Quotes, Capability::Stream, Capability::MinuteBars],
        known,
        ..FixtureConfig::at(friday(now), watched)
    };
    let mut fixture = Fixture::begin(config, |_| Ok(quotes(Vec::new()))).await;
    stream_server.subscribed(watched).await;
    trade(&mut fixture, &stream_server, heard, "500", now).await;
    let _ = fixture.sent_requests();
    (fixture, stream_server)
}

async fn trade(fixture: &mut Fixture, stream_server: &StreamServer, name: &str, price: &str, time: &str) {
    stream_server.send(&format!("{name} {price} 2024-03-08T{time}Z"));
    assert_eq!(fixture.next_delivered().await, [format!("{name} {price} {time}")]);
}

fn polls(requests: &[DataRequest]) -> Vec<Vec<String>> {
    let polls = requests.iter().filter_map(|request| match request {
        DataRequest::Quotes(symbols) => Some(symbols.iter().map(ToString::to_string).collect()),
        _ => None,
    });
    polls.collect()
}

const NO_POLL: [Vec<String>; 0] = [];

#[tokio::test]
async fn silent_stream_is_replaced_by_polling_after_two_minutes() {
    let (mut fixture, stream_server) = streaming("15:00:00", &["AAPL", "SPY"], "SPY", KnownState::default()).await;
    fixture.until(friday("15:02:00")).await;
    assert_eq!(polls(&fixture.sent_requests()), NO_POLL);
    fixture.until(friday("15:02:01")).await;
    let requests = fixture.sent_requests();
    assert_eq!(polls(&requests), [["AAPL", "SPY"]]);
    let silent_range = TimeRange {
        from: friday("15:00:00"),
        to: friday("15:02:00"),
    };
    let both = vec![symbol("AAPL"), symbol("SPY")];
    assert!(
        requests.contains(&DataRequest::MinuteBars(both, silent_range)),
        "{requests:?}"
    );
    let state = fixture.health.snapshot().stream.unwrap().state;
    assert_eq!(state, StreamState::Silent(friday("15:00:00")));
    fixture.until(friday("15:04:01")).await;
    assert_eq!(polls(&fixture.sent_requests()).len(), 2, "once a minute");
    // It delivers prices again.
    trade(&mut fixture, &stream_server, "SPY", "501", "15:04:01").await;
    fixture.until(friday("15:06:00")).await;
    assert_eq!(polls(&fixture.sent_requests()), NO_POLL);
    assert_eq!(fixture.health.snapshot().stream.unwrap().state, StreamState::Live);
}

#[tokio::test]
async fn silence_counts_only_with_a_liquid_stock() {
    for (volume, expected) in [(4_999_999, 0), (5_000_000, 1)] {
        let known = KnownState {
            volumes: [(symbol("THIN"), volume)].into(),
            ..KnownState::default()
        };
        let (fixture, _line) = streaming("15:00:00", &["THIN"], "THIN", known).await;
        fixture.until(friday("15:02:01")).await;
        assert_eq!(polls(&fixture.sent_requests()).len(), expected, "{volume}");
    }
}

#[tokio::test]
async fn stream_may_be_silent_until_two_minutes_after_the_open() {
    let stream_server = StreamServer::open().await;
    let config = FixtureConfig {
        stream: Some(stream_server.url.clone()),
        capabilities: vec![Capability::Quotes, Capability::Stream],
        ..FixtureConfig::at(friday("14:00:00"), &["SPY"])
    };
    let fixture = Fixture::begin(config, |_| Ok(DataResponse::default())).await;
    stream_server.subscribed(&["SPY"]).await;
    // The first round requests new stocks; in the session's first round the stream is live.
    fixture.until(friday("14:00:01")).await;
    let _ = fixture.sent_requests();
    fixture.until(friday("14:32:00")).await;
    assert_eq!(polls(&fixture.sent_requests()), NO_POLL);
    fixture.until(friday("14:32:01")).await;
    assert_eq!(polls(&fixture.sent_requests()), [["SPY"]]);
}

#[tokio::test]
async fn refused_stocks_are_polled_until_streamed() {
    let (mut fixture, stream_server) =
        streaming("15:00:00", &["AAPL", "MSFT", "SPY"], "SPY", KnownState::default()).await;
    stream_server.send(TOO_MANY);
    trade(&mut fixture, &stream_server, "SPY", "501", "15:00:00").await;
    assert_eq!(fixture.health.snapshot().stream.unwrap().refused, 2);
    fixture.until(friday("15:01:00")).await;
    assert_eq!(polls(&fixture.sent_requests()), [["AAPL", "MSFT"]]);
    trade(&mut fixture, &stream_server, "AAPL", "190", "15:01:00").await;
    fixture.until(friday("15:02:00")).await;
    assert_eq!(polls(&fixture.sent_requests()), [["MSFT"]]);
}

#[tokio::test]
async fn streamed_stocks_are_not_polled() {
    let (fixture, _line) = streaming("15:00:00", &["AAPL", "MSFT", "SPY"], "SPY", KnownState::default()).await;
    fixture.until(friday("15:01:00")).await;
    assert_eq!(polls(&fixture.sent_requests()), NO_POLL);
}

#[tokio::test]
async fn future_prices_do_not_keep_a_silent_stream_live() {
    let (fixture, stream_server) = streaming("15:00:00", &["SPY"], "SPY", KnownState::default()).await;
    fixture.until(friday("15:01:00")).await;
    stream_server.send("SPY 501 2024-03-08T15:01:10Z");
    let dropped = async {
        while fixture.health.snapshot().quotes.of(FilterReason::Ahead) == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(HANG_LIMIT, dropped).await.unwrap();
    fixture.until(friday("15:02:00")).await;
    assert_eq!(polls(&fixture.sent_requests()), NO_POLL);
    fixture.until(friday("15:02:01")).await;
    assert_eq!(polls(&fixture.sent_requests()), [["SPY"]]);
}

/// Streams THIN to a host with a wrong clock, corrects the clock, and returns what is delivered of the next trade.
async fn delivered_after_a_correction(wrong: Timestamp, right: &str, trade_at: &str) -> Vec<String> {
    let stream_server = StreamServer::open().await;
    let config = FixtureConfig {
        stream: Some(stream_server.url.clone()),
        capabilities: vec![Capability::Quotes, Capability::Stream],
        provider_time: Some(friday(right)),
        ..FixtureConfig::at(wrong, &["THIN"])
    };
    let mut fixture = Fixture::begin(config, |_| Ok(quotes(Vec::new()))).await;
    stream_server.subscribed(&["THIN"]).await;
    trade(&mut fixture, &stream_server, "THIN", "20", right).await;
    fixture.clock.step_to(friday(right));
    fixture.until(friday(trade_at)).await;
    stream_server.send(&format!("THIN 21 2024-03-08T{trade_at}Z"));
    fixture.next_delivered().await
}

#[tokio::test]
async fn streamed_prices_are_delivered_after_a_fast_clock_is_corrected() {
    let delivered = delivered_after_a_correction(friday("15:00:10"), "15:00:00", "15:00:03").await;
    assert_eq!(delivered, ["THIN 21 15:00:03"]);
}

#[tokio::test]
async fn streamed_prices_are_delivered_after_a_slow_clock_is_corrected() {
    let delivered = delivered_after_a_correction(friday("15:00:00"), "16:00:00", "16:00:03").await;
    assert_eq!(delivered, ["THIN 21 16:00:03"]);
}

#[tokio::test]
async fn silent_stream_is_detected_after_a_clock_correction() {
    let (fixture, _line) = streaming("15:00:00", &["SPY"], "SPY", KnownState::default()).await;
    fixture.clock.step_to(thursday("15:00:00"));
    fixture.settle().await;
    let _ = fixture.sent_requests();
    fixture.until(thursday("15:02:00")).await;
    assert_eq!(polls(&fixture.sent_requests()), NO_POLL);
    fixture.until(thursday("15:02:01")).await;
    assert_eq!(polls(&fixture.sent_requests()), [["SPY"]]);
}
