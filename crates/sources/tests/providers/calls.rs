//! # The table of streams: what every stream does in the same way
//!
//! | no. | case | what it must come to |
//! |---|---|---|
//! | 1 | a trade is told | the subscribed symbol's price, under the name it was asked for |
//! | 2 | the connection drops | connected again after a while, everything subscribed again, the gap told |
//! | 3 | the key is refused | the task ends with `Unauthorized`; nobody calls again |
//! | 4 | too many connections | waits 30 s or longer |
//! | 5 | the consumer is slow | of 10,000 trades in 3 symbols, 3 prices wait; the others are counted |
//! | 6 | a message that makes no sense | counted; the next one is heard |
//! | 7 | a message that is too large | the connection is dropped |
//! | 8 | silence | a ping after 15 s, the connection dropped after 30 s |
//! | 9 | symbols change | only the difference is said |
//! | 10 | a ping | is answered |
//! | 11 | nobody listens any more | the task ends |
//! | 12 | more symbols than the plan has | the first so many are subscribed, the others counted |

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::SignedDuration;
use market::Symbol;
use sources::provider::http::Setup;
use sources::provider::stream::{Prices, Report, Settings, State, start};
use sources::provider::{Provider, ProviderError};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::support::clock::TestClock;
use crate::support::setup;
use crate::support::subject::symbols;
use crate::support::telephone::{Call, Telephone};

/// A stream of one adapter.
pub struct Line {
    /// The adapter, calling this address.
    pub build: fn(url: &str, setup: &Setup) -> Box<dyn Provider>,
    /// What the provider says when it is called, what it must be told then, and so on: `←` before what it says.
    pub greeting: Vec<(&'static str, &'static str)>,
    /// What it must be told so that AAPL and BRK-B come in.
    pub subscribe: Vec<&'static str>,
    /// What it must be told so that MSFT comes in and BRK-B does not any more.
    pub change: Vec<&'static str>,
    /// How it says that a symbol (as it writes it) was traded at a price at an instant in milliseconds.
    pub trade: fn(symbol: &str, price: &str, millis: i64) -> String,
    /// How it writes BRK.B.
    pub class: &'static str,
    /// How it says no to a key; nothing if it answers the call with 401.
    pub refusal: Option<&'static str>,
    /// How it says that there are too many connections; nothing if it answers the call with 429.
    pub crowded: Option<&'static str>,
}

/// A line on its stage.
pub struct Stage {
    line: Line,
    phone: Telephone,
    clock: Arc<TestClock>,
    wanted: watch::Sender<Arc<BTreeSet<Symbol>>>,
    prices: Prices,
    task: JoinHandle<Result<(), ProviderError>>,
}

fn seconds(count: i64) -> SignedDuration {
    SignedDuration::from_secs(count)
}

impl Stage {
    pub async fn new(line: Line) -> Self {
        let phone = Telephone::new().await;
        let clock = TestClock::standing();
        let setup = setup(&clock);
        let provider = (line.build)(&phone.url, &setup);
        let (wanted, receiver) = watch::channel(Arc::new(symbols(&["AAPL", "BRK-B"]).into_iter().collect()));
        let settings = Settings {
            most_message_bytes: 200_000,
            ..Settings::default()
        };
        let (prices, task) = start(provider.stream().unwrap(), &setup, settings, receiver).unwrap();
        Self {
            line,
            phone,
            clock,
            wanted,
            prices,
            task: tokio::spawn(task),
        }
    }

    /// Takes a call up to where everything is subscribed.
    async fn connected(&self) -> Call {
        let mut call = self.greeted().await;
        for expected in &self.line.subscribe {
            assert_eq!(call.hear().await.as_deref(), Some(*expected));
        }
        call
    }

    async fn greeted(&self) -> Call {
        let mut call = self.phone.take().await;
        for (who, what) in &self.line.greeting {
            match *who {
                "←" => call.say(what).await,
                _ => assert_eq!(call.hear().await.as_deref(), Some(*what)),
            }
        }
        call
    }

    async fn trade(&self, call: &mut Call, symbol: &str, price: &str, second: i64) {
        call.say(&(self.line.trade)(symbol, price, 1_709_911_800_000 + second * 1_000))
            .await;
    }

    /// The next prices, as `AAPL 171.2`; gaps are passed over.
    async fn next(&mut self) -> Vec<String> {
        loop {
            let news = self.prices.next().await.unwrap();
            if !news.quotes.is_empty() {
                return news
                    .quotes
                    .iter()
                    .map(|row| format!("{} {}", row.symbol, row.price))
                    .collect();
            }
        }
    }

    /// Waits until the report is as `is` says.
    async fn until(&self, is: impl Fn(&Report) -> bool) -> Report {
        loop {
            let report = self.prices.report();
            if is(&report) {
                return report;
            }
            tokio::task::yield_now().await;
        }
    }
}

pub async fn a_trade_is_told(mut stage: Stage) {
    let mut call = stage.connected().await;
    let class = stage.line.class;
    stage.trade(&mut call, "AAPL", "171.2", 0).await;
    assert_eq!(stage.next().await, ["AAPL 171.2"]);
    stage.trade(&mut call, class, "405.123456", 1).await;
    let news = stage.prices.next().await.unwrap();
    let row = news.quotes[0];
    assert_eq!(
        (row.symbol.as_str(), row.price.to_string().as_str()),
        ("BRK-B", "405.123456")
    );
    assert_eq!(
        row.time.map(|time| time.to_string()).as_deref(),
        Some("2024-03-08T15:30:01Z")
    );
}

pub async fn the_connection_drops(mut stage: Stage) {
    let mut call = stage.connected().await;
    stage.trade(&mut call, "AAPL", "171.2", 0).await;
    assert_eq!(stage.next().await, ["AAPL 171.2"]);
    call.hang_up();
    let wait = stage.clock.let_pass(SignedDuration::from_millis(1), seconds(1)).await;
    let mut call = stage.connected().await;
    let news = stage.prices.next().await.unwrap();
    let gap = news.gap.unwrap();
    assert_eq!(gap.to.duration_since(gap.from), wait);
    stage.trade(&mut call, "AAPL", "172", 5).await;
    assert_eq!(stage.next().await, ["AAPL 172"]);
    let report = stage.prices.report();
    assert_eq!((report.connected, report.lost, report.state), (2, 1, State::Live));
}

pub async fn the_key_is_refused(stage: Stage) {
    match stage.line.refusal {
        None => stage.phone.refuse(401).await,
        Some(refusal) => {
            let mut call = stage.phone.take().await;
            for (who, what) in &stage.line.greeting {
                match *who {
                    "←" if !what.contains("auth_success") && !what.contains("authenticated") => call.say(what).await,
                    "←" => call.say(refusal).await,
                    _ => drop(call.hear().await),
                }
            }
        }
    }
    let ended = stage.task.await.unwrap();
    assert!(matches!(ended, Err(ProviderError::Unauthorized { .. })), "{ended:?}");
    assert_eq!(stage.prices.report().state, State::Ended);
}

pub async fn too_many_connections(stage: Stage) {
    match stage.line.crowded {
        None => stage.phone.refuse(429).await,
        Some(crowded) => {
            let mut call = stage.phone.take().await;
            call.say(crowded).await;
            while call.hear().await.is_some() {}
        }
    }
    stage.until(|report| report.lost == 1).await;
    let wait = stage.clock.let_pass(seconds(1), seconds(60)).await;
    assert!(wait >= seconds(29), "{wait:?}");
    stage.connected().await;
}

pub async fn the_consumer_is_slow(mut stage: Stage) {
    let three = symbols(&["AAPL", "MSFT", "SPY"]);
    stage.wanted.send_replace(Arc::new(three.into_iter().collect()));
    let mut call = stage.greeted().await;
    stage.until(|report| report.state == State::Live).await;
    for number in 0..10_000 {
        let symbol = ["AAPL", "MSFT", "SPY"][number % 3];
        stage.trade(&mut call, symbol, &format!("{}", number + 1), 0).await;
    }
    let _ = stage.until(|report| report.messages >= 10_000).await;
    // The lowest, which was the first, and the newest, which is the highest.
    let told = ["AAPL 1", "AAPL 10000", "MSFT 2", "MSFT 9998", "SPY 3", "SPY 9999"];
    assert_eq!(stage.next().await, told);
    assert_eq!(stage.prices.take(), None);
    assert_eq!(stage.prices.report().conflated, 10_000 - 6);
}

pub async fn a_message_that_makes_no_sense(mut stage: Stage) {
    let mut call = stage.connected().await;
    for nonsense in ["}{", "", "[{\"T\":\"t\"", "null"] {
        call.say(nonsense).await;
    }
    stage.trade(&mut call, "AAPL", "0", 0).await;
    stage.trade(&mut call, "AAPL", "-3", 0).await;
    stage.trade(&mut call, "AAPL", "171.2", 0).await;
    assert_eq!(stage.next().await, ["AAPL 171.2"]);
    assert!(stage.prices.report().unreadable >= 6, "{:?}", stage.prices.report());
    assert_eq!(stage.prices.report().connected, 1);
}

pub async fn a_message_that_is_too_large(stage: Stage) {
    let mut call = stage.connected().await;
    call.say(&" ".repeat(200_001)).await;
    stage.until(|report| report.lost == 1).await;
    stage.clock.let_pass(SignedDuration::from_millis(1), seconds(1)).await;
    stage.connected().await;
}

pub async fn silence(stage: Stage) {
    let mut call = stage.connected().await;
    stage.clock.let_pass(seconds(15), seconds(15)).await;
    call.hear_ping().await;
    // The pong is sent when the other side reads on; it does not.
    stage.clock.let_pass(seconds(15), seconds(15)).await;
    stage.until(|report| report.lost == 1).await;
}

pub async fn symbols_change(stage: Stage) {
    let mut call = stage.connected().await;
    stage
        .wanted
        .send_replace(Arc::new(symbols(&["AAPL", "MSFT"]).into_iter().collect()));
    for expected in &stage.line.change {
        assert_eq!(call.hear().await.as_deref(), Some(*expected));
    }
}

pub async fn a_ping(stage: Stage) {
    let mut call = stage.connected().await;
    call.ping().await;
}

pub async fn nobody_listens(stage: Stage) {
    let _call = stage.connected().await;
    drop(stage.prices);
    assert_eq!(stage.task.await.unwrap(), Ok(()));
}

pub async fn more_symbols_than_the_plan_has(stage: Stage) {
    let many: BTreeSet<Symbol> = (0..100)
        .map(|number| format!("S{number:03}").parse().unwrap())
        .collect();
    stage.wanted.send_replace(Arc::new(many));
    let mut call = stage.greeted().await;
    let said = call.hear().await.unwrap();
    assert!(said.contains("S000"), "{said}");
    let report = stage.until(|report| report.state == State::Live).await;
    let provider = (stage.line.build)(&stage.phone.url, &setup(&stage.clock));
    let most = provider.stream().unwrap().most_symbols();
    assert_eq!(report.left_out, most.map_or(0, |most| 100 - most));
}

/// Puts a stream through the table.
macro_rules! streams {
    ($($name:ident: $line:expr;)*) => {$(
        mod $name {
            use super::*;
            use crate::calls::*;

            crate::calls::calls! { $line;
                call_01 a_trade_is_told
                call_02 the_connection_drops
                call_03 the_key_is_refused
                call_04 too_many_connections
                call_05 the_consumer_is_slow
                call_06 a_message_that_makes_no_sense
                call_07 a_message_that_is_too_large
                call_08 silence
                call_09 symbols_change
                call_10 a_ping
                call_11 nobody_listens
                call_12 more_symbols_than_the_plan_has
            }
        }
    )*};
}

macro_rules! calls {
    ($line:expr; $($number:ident $case:ident)*) => {$(
        #[tokio::test]
        async fn $number() {
            $case(Stage::new($line).await).await;
        }
    )*};
}

pub(crate) use {calls, streams};
