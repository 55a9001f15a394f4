//! A live source at work.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::civil::{Date, time};
use jiff::{SignedDuration, Timestamp};
use market::records::QuoteRow;
use market::{Calendar, Symbol};
use sources::combine::{Combination, Polling};
use sources::folder::IntradayBar;
use sources::freshness::Limits;
use sources::live::{self, Health, Matter, Memory, Options, Seen};
use sources::provider::http::{Quota, Setup};
use sources::provider::{
    Answer, Ask, Capability, Fetch, MinuteBar, Offer, Provider, ProviderError, Reach, Tier, stream,
};
use sources::{Clock, Delivery, ManualClock};
use tokio::sync::{broadcast, mpsc, watch};

pub fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// `2024-03-08T{time}Z`: a Friday with a session from 14:30 to 21:00.
pub fn friday(time: &str) -> Timestamp {
    at(&format!("2024-03-08T{time}Z"))
}

pub fn symbol(name: &str) -> Symbol {
    name.parse().unwrap()
}

pub fn quote(name: &str, price: &str, time: Timestamp) -> QuoteRow {
    QuoteRow {
        symbol: symbol(name),
        price: price.parse().unwrap(),
        volume: None,
        time: Some(time),
        bid: None,
        ask: None,
    }
}

pub fn minute(name: &str, time: Timestamp, [open, high, low, close]: [&str; 4]) -> MinuteBar {
    let price = |text: &str| text.parse().unwrap();
    MinuteBar {
        symbol: symbol(name),
        bar: IntradayBar {
            time,
            open: price(open),
            high: price(high),
            low: price(low),
            close: price(close),
            volume: 100,
        },
    }
}

type Answering = Box<dyn FnMut(&Ask) -> Result<Answer, ProviderError> + Send>;

/// A provider that answers what it is told to, and remembers what it was asked.
pub struct Told {
    tier: Tier,
    asked: Mutex<Vec<Ask>>,
    answering: Mutex<Answering>,
}

impl std::fmt::Debug for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Told")
    }
}

impl Provider for Told {
    fn name(&self) -> &'static str {
        "told"
    }

    fn tier(&self) -> &Tier {
        &self.tier
    }

    fn fetch<'a>(&'a self, ask: &'a Ask) -> Fetch<'a> {
        self.asked.lock().unwrap().push(ask.clone());
        let answer = (self.answering.lock().unwrap())(ask);
        Box::pin(async move { answer })
    }

    fn stream(&self) -> Option<Box<dyn stream::Protocol>> {
        None
    }

    fn clock_skew(&self) -> Option<SignedDuration> {
        None
    }
}

/// What is known before.
#[derive(Debug, Default)]
pub struct Known {
    pub seen: BTreeMap<Symbol, Seen>,
    pub bars: BTreeMap<Symbol, Date>,
}

impl Memory for Known {
    fn last_seen(&self, symbol: Symbol) -> Option<Seen> {
        self.seen.get(&symbol).copied()
    }

    fn last_bar(&self, symbol: Symbol) -> Option<Date> {
        self.bars.get(&symbol).copied()
    }
}

/// What there is before the source begins.
pub struct Beginning {
    pub now: Timestamp,
    pub watched: Vec<Symbol>,
    pub known: Known,
    pub delay: Duration,
    pub capabilities: Vec<Capability>,
}

impl Beginning {
    pub fn at(now: Timestamp, watched: &[&str]) -> Self {
        Self {
            now,
            watched: watched.iter().map(|name| symbol(name)).collect(),
            known: Known::default(),
            delay: Duration::ZERO,
            capabilities: vec![Capability::Quotes, Capability::MinuteBars],
        }
    }
}

pub struct World {
    pub clock: Arc<ManualClock>,
    pub provider: Arc<Told>,
    pub watched: watch::Sender<Arc<Vec<Symbol>>>,
    pub wanted: broadcast::Sender<Matter>,
    pub health: Health,
    deliveries: mpsc::Receiver<Delivery>,
}

impl World {
    pub async fn begin(
        beginning: Beginning,
        answer: impl FnMut(&Ask) -> Result<Answer, ProviderError> + Send + 'static,
    ) -> Self {
        let offers = beginning.capabilities.iter().map(|&capability| Offer {
            capability,
            reach: Reach::Symbols(100),
            delay: beginning.delay,
        });
        let provider = Arc::new(Told {
            tier: Tier {
                provider: "told",
                plan: "test",
                offers: offers.collect(),
                quotas: vec![Quota::per_minute(1_000)],
            },
            asked: Mutex::default(),
            answering: Mutex::new(Box::new(answer)),
        });
        let clock = Arc::new(ManualClock::new(beginning.now));
        let shared: Arc<dyn Clock> = Arc::<ManualClock>::clone(&clock);
        let dynamic: Arc<dyn Provider> = Arc::<Told>::clone(&provider);
        let options = Options {
            combination: Arc::new(Combination::new(Arc::clone(&shared)).with_all_of(&dynamic)),
            setup: Setup::new(shared, 1),
            calendar: Calendar::nyse(),
            polling: Polling::default(),
            limits: Limits::default(),
            stream: stream::Settings::default(),
            nightly_at: time(22, 30, 0, 0),
            benchmark: symbol("SPY"),
        };
        let (watched, receiver) = watch::channel(Arc::new(beginning.watched));
        let (sender, deliveries) = mpsc::channel(1_000);
        let health = Health::default();
        let memory: Arc<dyn Memory> = Arc::new(beginning.known);
        let (wanted, matters) = broadcast::channel(16);
        tokio::spawn(live::run(options, receiver, matters, memory, health.clone(), sender));
        let world = Self {
            clock,
            provider,
            watched,
            wanted,
            health,
            deliveries,
        };
        world.settle().await;
        world
    }

    /// Lets everybody do what they can do now.
    pub async fn settle(&self) {
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
    }

    /// Lets the time pass until then, second by second.
    pub async fn until(&self, then: Timestamp) {
        while self.clock.now() < then {
            let next = self.clock.now().saturating_add(SignedDuration::from_secs(1)).unwrap();
            self.clock.set(next.min(then));
            self.settle().await;
        }
    }

    /// What the provider was asked since this was called last.
    pub fn asked(&self) -> Vec<Ask> {
        std::mem::take(&mut *self.provider.asked.lock().unwrap())
    }

    /// The prices that were delivered since this was called last, as `AAPL 190 15:00:00`, with a `late` if they are told as
    /// missed.
    pub fn delivered(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Ok(delivery) = self.deliveries.try_recv() {
            let line = |quote: &QuoteRow| {
                let time = quote.time.unwrap().strftime("%H:%M:%S");
                format!("{} {} {time}", quote.symbol, quote.price)
            };
            lines.extend(
                delivery
                    .missed
                    .quotes
                    .iter()
                    .map(|quote| format!("{} late", line(quote))),
            );
            lines.extend(delivery.batch.quotes.iter().map(line));
        }
        lines
    }

    /// The deliveries since this was called last.
    pub fn deliveries(&mut self) -> Vec<Delivery> {
        std::iter::from_fn(|| self.deliveries.try_recv().ok()).collect()
    }
}

/// An answer of quotes.
pub fn quotes(rows: Vec<QuoteRow>) -> Answer {
    let mut answer = Answer::default();
    answer.batch.quotes = rows;
    answer
}

/// An answer of minutes.
pub fn minutes(minutes: Vec<MinuteBar>) -> Answer {
    Answer {
        minutes,
        ..Answer::default()
    }
}

pub fn silent() -> ProviderError {
    ProviderError::Cut { provider: "told" }
}
