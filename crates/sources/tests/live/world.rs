//! A live source at work.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::civil::{Date, time};
use jiff::{SignedDuration, Timestamp};
use market::records::QuoteRow;
use market::{Calendar, Price, Symbol};
use sources::combine::{Combination, Polling};
use sources::folder::IntradayBar;
use sources::freshness::Limits;
use sources::live::{self, Demand, Health, Matter, Memory, Options, PriceReply, PriceRequest, Seen};
use sources::provider::http::{Quota, Setup, Skew};
use sources::provider::{
    Answer, Ask, Capability, Fetch, MinuteBar, Offer, Provider, ProviderError, Reach, Tier, stream,
};
use sources::{Clock, ClockReading, Delivery, ManualClock};
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::line::{HANG_LIMIT, Plain};

pub fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// `2024-03-08T{time}Z`: a Friday with a session from 14:30 to 21:00.
pub fn friday(time: &str) -> Timestamp {
    at(&format!("2024-03-08T{time}Z"))
}

/// The same time of the day before, which has a session as well.
pub fn thursday(time: &str) -> Timestamp {
    at(&format!("2024-03-07T{time}Z"))
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
    /// Where it streams, if it does.
    stream: Option<String>,
    tier: Tier,
    asked: Mutex<Vec<Ask>>,
    answering: Mutex<Answering>,
    clock: Option<ProviderClock>,
}

/// A provider's clock, which is never stepped, and the skew that a client has measured.
struct ProviderClock {
    host: Arc<ManualClock>,
    at_start: Timestamp,
    skew: Skew,
}

impl ProviderClock {
    fn measure(&self) {
        let time = self.at_start + self.host.uptime();
        let date = time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        let now = ClockReading::of(&*self.host);
        self.skew.measure(Some(&date), now, now);
    }
}

impl std::fmt::Debug for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Told")
    }
}

impl Provider for Told {
    fn name(&self) -> &'static str {
        self.tier.provider
    }

    fn tier(&self) -> &Tier {
        &self.tier
    }

    fn fetch<'a>(&'a self, ask: &'a Ask) -> Fetch<'a> {
        self.asked.lock().unwrap().push(ask.clone());
        if let Some(clock) = &self.clock {
            clock.measure();
        }
        let answer = (self.answering.lock().unwrap())(ask);
        Box::pin(async move { answer })
    }

    fn stream(&self) -> Option<Box<dyn stream::Protocol>> {
        Some(Box::new(Plain(self.stream.clone()?)))
    }

    fn clock_skew(&self) -> Option<SignedDuration> {
        let clock = self.clock.as_ref()?;
        clock.skew.get(ClockReading::of(&*clock.host))
    }
}

/// What is known before.
#[derive(Debug, Default)]
pub struct Known {
    pub seen: BTreeMap<Symbol, Seen>,
    pub bars: BTreeMap<Symbol, Date>,
    /// The stocks that are not in the catalog.
    pub unlisted: Vec<Symbol>,
    pub closes: BTreeMap<Symbol, Price>,
    pub volumes: BTreeMap<Symbol, i64>,
}

impl Memory for Known {
    fn last_seen(&self, symbol: Symbol) -> Option<Seen> {
        self.seen.get(&symbol).copied()
    }

    fn last_bar(&self, symbol: Symbol) -> Option<Date> {
        self.bars.get(&symbol).copied()
    }

    fn is_listed(&self, symbol: Symbol) -> bool {
        !self.unlisted.contains(&symbol)
    }

    fn reference_price(&self, symbol: Symbol) -> Option<Price> {
        let seen = || self.seen.get(&symbol).map(|seen| seen.price);
        self.closes.get(&symbol).copied().or_else(seen)
    }

    fn average_volume(&self, symbol: Symbol) -> Option<i64> {
        self.volumes.get(&symbol).copied()
    }
}

/// What there is before the source begins.
pub struct Beginning {
    pub now: Timestamp,
    pub watched: Vec<Symbol>,
    pub known: Known,
    pub delay: Duration,
    pub capabilities: Vec<Capability>,
    /// Where the provider streams, if it does.
    pub stream: Option<String>,
    /// The quotes of a fallback provider; without quotes there is no fallback.
    pub second_source: Vec<QuoteRow>,
    /// The time of the provider's clock if answers carry it; the clock of the host may be wrong.
    pub provider_time: Option<Timestamp>,
}

impl Beginning {
    pub fn at(now: Timestamp, watched: &[&str]) -> Self {
        Self {
            now,
            watched: watched.iter().map(|name| symbol(name)).collect(),
            known: Known::default(),
            delay: Duration::ZERO,
            capabilities: vec![Capability::Quotes, Capability::MinuteBars],
            stream: None,
            second_source: Vec::new(),
            provider_time: None,
        }
    }
}

pub struct World {
    pub clock: Arc<ManualClock>,
    pub provider: Arc<Told>,
    /// The quotes of the fallback provider.
    pub second_source: Arc<Mutex<Vec<QuoteRow>>>,
    pub watched: watch::Sender<Arc<Vec<Symbol>>>,
    pub splits_only: watch::Sender<Arc<BTreeSet<Symbol>>>,
    pub wanted: broadcast::Sender<Matter>,
    pub health: Health,
    requests: mpsc::Sender<PriceRequest>,
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
        let clock = Arc::new(ManualClock::new(beginning.now));
        let provider_clock = beginning.provider_time.map(|at_start| ProviderClock {
            host: Arc::clone(&clock),
            at_start,
            skew: Skew::default(),
        });
        let provider = Arc::new(Told {
            stream: beginning.stream,
            tier: Tier {
                provider: "told",
                plan: "test",
                offers: offers.collect(),
                quotas: vec![Quota::per_minute(1_000)],
            },
            asked: Mutex::default(),
            answering: Mutex::new(Box::new(answer)),
            clock: provider_clock,
        });
        let shared: Arc<dyn Clock> = Arc::<ManualClock>::clone(&clock);
        let dynamic: Arc<dyn Provider> = Arc::<Told>::clone(&provider);
        let (splits_only_sender, splits_only) = watch::channel(Arc::default());
        let mut combination = Combination::new(Arc::clone(&shared)).with_all_of(&dynamic);
        let has_second_source = !beginning.second_source.is_empty();
        let second_source = Arc::new(Mutex::new(beginning.second_source));
        if has_second_source {
            combination = combination.with(Capability::Quotes, other(Arc::clone(&second_source)));
        }
        let options = Options {
            combination: Arc::new(combination),
            setup: Setup::new(shared, 1),
            calendar: Calendar::nyse(),
            polling: Polling::default(),
            limits: Limits::default(),
            // Its clock is set by hand and goes faster than pings.
            stream: stream::Settings {
                silence: Duration::from_secs(7 * 24 * 3_600),
                ..stream::Settings::default()
            },
            nightly_at: time(22, 30, 0, 0),
            benchmark: symbol("SPY"),
            splits_only,
        };
        let (watched, receiver) = watch::channel(Arc::new(beginning.watched));
        let (sender, deliveries) = mpsc::channel(1_000);
        let health = Health::default();
        let memory: Arc<dyn Memory> = Arc::new(beginning.known);
        let (wanted, matters) = broadcast::channel(16);
        let (requests, requested) = mpsc::channel(100);
        let demand = Demand {
            watched: receiver,
            wanted: matters,
            requests: requested,
        };
        tokio::spawn(live::run(options, demand, memory, health.clone(), sender));
        let world = Self {
            clock,
            provider,
            second_source,
            watched,
            splits_only: splits_only_sender,
            wanted,
            health,
            requests,
            deliveries,
        };
        world.settle().await;
        world
    }

    /// Requests the newest price of a stock.
    pub async fn request(&self, name: &str) -> oneshot::Receiver<PriceReply> {
        let (reply, receiver) = oneshot::channel();
        let symbol = symbol(name);
        self.requests.send(PriceRequest { symbol, reply }).await.unwrap();
        receiver
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

    /// Waits for the next prices, as [`Self::delivered`].
    pub async fn next_delivered(&mut self) -> Vec<String> {
        let some = async {
            loop {
                let delivered = self.delivered();
                if !delivered.is_empty() {
                    return delivered;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(HANG_LIMIT, some).await.unwrap()
    }

    /// The deliveries since this was called last.
    pub fn deliveries(&mut self) -> Vec<Delivery> {
        std::iter::from_fn(|| self.deliveries.try_recv().ok()).collect()
    }
}

/// A second provider, with quotes only.
fn other(rows: Arc<Mutex<Vec<QuoteRow>>>) -> Arc<dyn Provider> {
    let offer = Offer {
        capability: Capability::Quotes,
        reach: Reach::Symbols(100),
        delay: Duration::ZERO,
    };
    Arc::new(Told {
        stream: None,
        tier: Tier {
            provider: "other",
            plan: "test",
            offers: vec![offer],
            quotas: vec![Quota::per_minute(1_000)],
        },
        asked: Mutex::default(),
        answering: Mutex::new(Box::new(move |_| Ok(quotes(rows.lock().unwrap().clone())))),
        clock: None,
    })
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
