//! Stream conformance tests: behaviour that all streams share.
//!
//! | test | expected result |
//! |---|---|
//! | `delivers_trades` | the trade's price, in the requested spelling of the symbol |
//! | `reconnects_and_reports_the_gap` | a new connection after the backoff, all symbols subscribed, the gap reported |
//! | `rejected_key_ends_the_stream` | the task ends with `Unauthorized`, without reconnecting |
//! | `too_many_connections_waits_before_reconnecting` | at least 30 s of delay |
//! | `conflates_for_a_slow_consumer` | of 10,000 trades in 3 symbols, the extremes and the newest remain; the others are counted |
//! | `counts_unreadable_messages` | counted; the next message is processed |
//! | `oversize_message_drops_the_connection` | a new connection |
//! | `idle_connection_is_pinged_and_dropped` | a ping after 15 s, disconnected after 30 s |
//! | `symbol_change_sends_the_difference` | only the changes are sent |
//! | `answers_pings` | a pong |
//! | `ends_when_the_consumer_is_dropped` | the task ends |
//! | `subscribes_up_to_the_plan_limit` | the first symbols are subscribed, the others counted |

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::SignedDuration;
use market::Symbol;
use sources::provider::http::AdapterSetup;
use sources::provider::stream::{PriceStream, StreamConfig, StreamReport, StreamState, start};
use sources::provider::{Provider, ProviderError};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::providers::support::case::symbols;
use crate::providers::support::clock::TestClock;
use crate::providers::support::setup;
use crate::providers::support::websocket::{ServerConnection, WebSocketServer};

/// The stream of an adapter.
pub struct StreamCase {
    /// Builds the adapter for this stream URL.
    pub build: fn(url: &str, setup: &AdapterSetup) -> Box<dyn Provider>,
    /// The login dialogue. `←` marks messages of the provider, `→` messages of the client.
    pub login: Vec<(&'static str, &'static str)>,
    /// The messages that subscribe AAPL and BRK-B.
    pub subscribe: Vec<&'static str>,
    /// The messages that subscribe MSFT and unsubscribe BRK-B.
    pub change: Vec<&'static str>,
    /// Builds the provider's message of a trade, with the provider's spelling of the symbol and the time in milliseconds.
    pub trade: fn(symbol: &str, price: &str, millis: i64) -> String,
    /// The provider's spelling of BRK.B.
    pub share_class: &'static str,
    /// The provider's message for a rejected key; `None` if it fails the handshake with 401.
    pub rejected_key: Option<&'static str>,
    /// The provider's message for too many connections; `None` if it fails the handshake with 429.
    pub too_many_connections: Option<&'static str>,
}

/// A running stream with its WebSocket server and clock.
pub struct StreamFixture {
    case: StreamCase,
    server: WebSocketServer,
    clock: Arc<TestClock>,
    wanted: watch::Sender<Arc<BTreeSet<Symbol>>>,
    prices: PriceStream,
    task: JoinHandle<Result<(), ProviderError>>,
}

fn seconds(count: i64) -> SignedDuration {
    SignedDuration::from_secs(count)
}

impl StreamFixture {
    pub async fn new(case: StreamCase) -> Self {
        let server = WebSocketServer::new().await;
        let clock = TestClock::paused();
        let setup = setup(&clock);
        let provider = (case.build)(&server.url, &setup);
        let (wanted, receiver) = watch::channel(Arc::new(symbols(&["AAPL", "BRK-B"]).into_iter().collect()));
        let settings = StreamConfig {
            max_message_bytes: 200_000,
            ..StreamConfig::default()
        };
        let (prices, task) = start(provider.stream().unwrap(), &setup, settings, receiver).unwrap();
        Self {
            case,
            server,
            clock,
            wanted,
            prices,
            task: tokio::spawn(task),
        }
    }

    /// Accepts a connection and expects the login and all subscriptions.
    async fn subscribed(&self) -> ServerConnection {
        let mut connection = self.log_in().await;
        for expected in &self.case.subscribe {
            assert_eq!(connection.receive().await.as_deref(), Some(*expected));
        }
        connection
    }

    async fn log_in(&self) -> ServerConnection {
        let mut connection = self.server.accept().await;
        for (sender, text) in &self.case.login {
            match *sender {
                "←" => connection.send(text).await,
                _ => assert_eq!(connection.receive().await.as_deref(), Some(*text)),
            }
        }
        connection
    }

    async fn trade(&self, connection: &mut ServerConnection, symbol: &str, price: &str, second: i64) {
        connection
            .send(&(self.case.trade)(symbol, price, 1_709_911_800_000 + second * 1_000))
            .await;
    }

    /// Returns the next prices, as `AAPL 171.2`. Updates with only a gap are skipped.
    async fn next(&mut self) -> Vec<String> {
        loop {
            let update = self.prices.next().await.unwrap();
            if !update.quotes.is_empty() {
                return update
                    .quotes
                    .iter()
                    .map(|row| format!("{} {}", row.symbol, row.price))
                    .collect();
            }
        }
    }

    /// Waits until the report satisfies `is`.
    async fn until(&self, is: impl Fn(&StreamReport) -> bool) -> StreamReport {
        loop {
            let report = self.prices.report();
            if is(&report) {
                return report;
            }
            tokio::task::yield_now().await;
        }
    }
}

pub async fn delivers_trades(mut fixture: StreamFixture) {
    let mut connection = fixture.subscribed().await;
    let share_class = fixture.case.share_class;
    fixture.trade(&mut connection, "AAPL", "171.2", 0).await;
    assert_eq!(fixture.next().await, ["AAPL 171.2"]);
    fixture.trade(&mut connection, share_class, "405.123456", 1).await;
    let update = fixture.prices.next().await.unwrap();
    let row = update.quotes[0];
    assert_eq!(
        (row.symbol.as_str(), row.price.to_string().as_str()),
        ("BRK-B", "405.123456")
    );
    assert_eq!(
        row.time.map(|time| time.to_string()).as_deref(),
        Some("2024-03-08T15:30:01Z")
    );
}

pub async fn reconnects_and_reports_the_gap(mut fixture: StreamFixture) {
    let mut connection = fixture.subscribed().await;
    fixture.trade(&mut connection, "AAPL", "171.2", 0).await;
    assert_eq!(fixture.next().await, ["AAPL 171.2"]);
    connection.close();
    let wait = fixture
        .clock
        .advance_to_sleeper(SignedDuration::from_millis(1), seconds(1))
        .await;
    let mut connection = fixture.subscribed().await;
    let update = fixture.prices.next().await.unwrap();
    let gap = update.gap.unwrap();
    assert_eq!(gap.to.duration_since(gap.from), wait);
    fixture.trade(&mut connection, "AAPL", "172", 5).await;
    assert_eq!(fixture.next().await, ["AAPL 172"]);
    let report = fixture.prices.report();
    assert_eq!(
        (report.connections, report.disconnections, report.state),
        (2, 1, StreamState::Live)
    );
}

pub async fn rejected_key_ends_the_stream(fixture: StreamFixture) {
    match fixture.case.rejected_key {
        None => fixture.server.reject(401).await,
        Some(rejected_key) => {
            let mut connection = fixture.server.accept().await;
            for (sender, text) in &fixture.case.login {
                match *sender {
                    "←" if !text.contains("auth_success") && !text.contains("authenticated") => {
                        connection.send(text).await
                    }
                    "←" => connection.send(rejected_key).await,
                    _ => drop(connection.receive().await),
                }
            }
        }
    }
    let ended = fixture.task.await.unwrap();
    assert!(matches!(ended, Err(ProviderError::Unauthorized { .. })), "{ended:?}");
    assert_eq!(fixture.prices.report().state, StreamState::Ended);
}

pub async fn too_many_connections_waits_before_reconnecting(fixture: StreamFixture) {
    match fixture.case.too_many_connections {
        None => fixture.server.reject(429).await,
        Some(too_many_connections) => {
            let mut connection = fixture.server.accept().await;
            connection.send(too_many_connections).await;
            while connection.receive().await.is_some() {}
        }
    }
    fixture.until(|report| report.disconnections == 1).await;
    let wait = fixture.clock.advance_to_sleeper(seconds(1), seconds(60)).await;
    assert!(wait >= seconds(29), "{wait:?}");
    fixture.subscribed().await;
}

pub async fn conflates_for_a_slow_consumer(mut fixture: StreamFixture) {
    let three = symbols(&["AAPL", "MSFT", "SPY"]);
    fixture.wanted.send_replace(Arc::new(three.into_iter().collect()));
    let mut connection = fixture.log_in().await;
    fixture.until(|report| report.state == StreamState::Live).await;
    for number in 0..10_000 {
        let symbol = ["AAPL", "MSFT", "SPY"][number % 3];
        fixture
            .trade(&mut connection, symbol, &format!("{}", number + 1), 0)
            .await;
    }
    let _ = fixture.until(|report| report.messages >= 10_000).await;
    // The lowest price is the first one, and the highest is the newest.
    let expected = ["AAPL 1", "AAPL 10000", "MSFT 2", "MSFT 9998", "SPY 3", "SPY 9999"];
    assert_eq!(fixture.next().await, expected);
    assert_eq!(fixture.prices.take(), None);
    assert_eq!(fixture.prices.report().conflated, 10_000 - 6);
}

pub async fn counts_unreadable_messages(mut fixture: StreamFixture) {
    let mut connection = fixture.subscribed().await;
    for invalid in ["}{", "", "[{\"T\":\"t\"", "null"] {
        connection.send(invalid).await;
    }
    fixture.trade(&mut connection, "AAPL", "0", 0).await;
    fixture.trade(&mut connection, "AAPL", "-3", 0).await;
    fixture.trade(&mut connection, "AAPL", "171.2", 0).await;
    assert_eq!(fixture.next().await, ["AAPL 171.2"]);
    assert!(fixture.prices.report().unreadable >= 6, "{:?}", fixture.prices.report());
    assert_eq!(fixture.prices.report().connections, 1);
}

pub async fn oversize_message_drops_the_connection(fixture: StreamFixture) {
    let mut connection = fixture.subscribed().await;
    connection.send(&" ".repeat(200_001)).await;
    fixture.until(|report| report.disconnections == 1).await;
    fixture
        .clock
        .advance_to_sleeper(SignedDuration::from_millis(1), seconds(1))
        .await;
    fixture.subscribed().await;
}

pub async fn idle_connection_is_pinged_and_dropped(fixture: StreamFixture) {
    let mut connection = fixture.subscribed().await;
    fixture.clock.advance_to_sleeper(seconds(15), seconds(15)).await;
    connection.wait_for_ping().await;
    // The server stops reading, so it sends no pong.
    fixture.clock.advance_to_sleeper(seconds(15), seconds(15)).await;
    fixture.until(|report| report.disconnections == 1).await;
}

pub async fn symbol_change_sends_the_difference(fixture: StreamFixture) {
    let mut connection = fixture.subscribed().await;
    fixture
        .wanted
        .send_replace(Arc::new(symbols(&["AAPL", "MSFT"]).into_iter().collect()));
    for expected in &fixture.case.change {
        assert_eq!(connection.receive().await.as_deref(), Some(*expected));
    }
}

pub async fn answers_pings(fixture: StreamFixture) {
    let mut connection = fixture.subscribed().await;
    connection.ping().await;
}

pub async fn ends_when_the_consumer_is_dropped(fixture: StreamFixture) {
    let _connection = fixture.subscribed().await;
    drop(fixture.prices);
    assert_eq!(fixture.task.await.unwrap(), Ok(()));
}

pub async fn subscribes_up_to_the_plan_limit(fixture: StreamFixture) {
    let many: BTreeSet<Symbol> = (0..100)
        .map(|number| format!("S{number:03}").parse().unwrap())
        .collect();
    fixture.wanted.send_replace(Arc::new(many));
    let mut connection = fixture.log_in().await;
    let message = connection.receive().await.unwrap();
    assert!(message.contains("S000"), "{message}");
    let report = fixture.until(|report| report.state == StreamState::Live).await;
    let provider = (fixture.case.build)(&fixture.server.url, &setup(&fixture.clock));
    let max = provider.stream().unwrap().max_symbols();
    assert_eq!(report.symbols_over_limit, max.map_or(0, |max| 100 - max));
}

/// Defines the stream conformance tests of each case.
macro_rules! stream_conformance {
    ($($name:ident: $case:expr;)*) => {$(
        mod $name {
            use super::*;

            crate::providers::stream_conformance::stream_tests! { $case;
                delivers_trades
                reconnects_and_reports_the_gap
                rejected_key_ends_the_stream
                too_many_connections_waits_before_reconnecting
                conflates_for_a_slow_consumer
                counts_unreadable_messages
                oversize_message_drops_the_connection
                idle_connection_is_pinged_and_dropped
                symbol_change_sends_the_difference
                answers_pings
                ends_when_the_consumer_is_dropped
                subscribes_up_to_the_plan_limit
            }
        }
    )*};
}

macro_rules! stream_tests {
    ($case:expr; $($check:ident)*) => {$(
        #[tokio::test]
        async fn $check() {
            crate::providers::stream_conformance::$check(crate::providers::stream_conformance::StreamFixture::new($case).await).await;
        }
    )*};
}

pub(crate) use {stream_conformance, stream_tests};
