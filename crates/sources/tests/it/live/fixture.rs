//! A running live source with a fake provider and a manual clock.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clock::{Clock, ClockReading, ManualClock};
use jiff::civil::time;
use jiff::{SignedDuration, Timestamp};
use market::records::QuoteRow;
use market::{Calendar, IntradayBar, Symbol};
use sources::MarketUpdate;
use sources::freshness::QuoteLimits;
use sources::live::{
    self, LiveSourceConfig, LiveSourceHealth, LiveSourceInputs, MarketState, PriceReply, PriceRequest, RefreshKind,
};
use sources::provider::http::{AdapterSetup, ClockSkew, RequestLimit};
use sources::provider::{
    Capability, CapabilityOffer, DataRequest, DataResponse, FetchFuture, MinuteBar, Provider, ProviderError,
    RequestScope, Tier, stream,
};
use sources::routing::{PollingConfig, ProviderRouter};
use tokio::sync::{broadcast, mpsc, oneshot, watch};

pub use crate::live::known_state::KnownState;
use crate::live::stream_server::TestProtocol;

pub fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// `2024-03-08T{time}Z`: a Friday with a session from 14:30 to 21:00.
pub fn friday(time: &str) -> Timestamp {
    at(&format!("2024-03-08T{time}Z"))
}

/// The same time on the day before, which has a session as well.
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
        vwap: None,
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

type RequestHandler = Box<dyn FnMut(&DataRequest) -> Result<DataResponse, ProviderError> + Send>;

/// A provider with the answers of the test, which records its requests.
pub struct FakeProvider {
    /// The URL of its stream, if it has one.
    stream: Option<String>,
    tier: Tier,
    sent_requests: Mutex<Vec<DataRequest>>,
    handler: Mutex<RequestHandler>,
    clock: Option<ProviderClock>,
}

/// A provider's clock, which is never stepped, and the skew that a client has measured.
struct ProviderClock {
    host: Arc<ManualClock>,
    at_start: Timestamp,
    skew: ClockSkew,
}

impl ProviderClock {
    fn measure(&self) {
        let time = self.at_start + self.host.uptime();
        let date = time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        let now = ClockReading::of(&*self.host);
        self.skew.measure(Some(&date), now, now);
    }
}

impl std::fmt::Debug for FakeProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FakeProvider")
    }
}

impl Provider for FakeProvider {
    fn tier(&self) -> &Tier {
        &self.tier
    }

    fn fetch<'a>(&'a self, request: &'a DataRequest) -> FetchFuture<'a> {
        self.sent_requests.lock().unwrap().push(request.clone());
        if let Some(clock) = &self.clock {
            clock.measure();
        }
        let answer = (self.handler.lock().unwrap())(request);
        Box::pin(async move { answer })
    }

    fn stream(&self) -> Option<Box<dyn stream::StreamProtocol>> {
        Some(Box::new(TestProtocol(self.stream.clone()?)))
    }

    fn clock_skew(&self) -> Option<SignedDuration> {
        let clock = self.clock.as_ref()?;
        clock.skew.get(ClockReading::of(&*clock.host))
    }
}

/// The configuration of the live source and its provider.
pub struct FixtureConfig {
    pub now: Timestamp,
    pub watched: Vec<Symbol>,
    pub known: KnownState,
    pub delay: Duration,
    pub capabilities: Vec<Capability>,
    /// Whether the provider documents prices of extended hours.
    pub has_extended_hours: bool,
    /// The URL of the provider's stream, if it has one.
    pub stream: Option<String>,
    /// The quotes of a fallback provider; without quotes there is no fallback.
    pub second_source: Vec<QuoteRow>,
    /// The time of the provider's clock if answers carry it; the clock of the host may be wrong.
    pub provider_time: Option<Timestamp>,
}

impl FixtureConfig {
    pub fn at(now: Timestamp, watched: &[&str]) -> Self {
        Self {
            now,
            watched: watched.iter().map(|name| symbol(name)).collect(),
            known: KnownState::default(),
            delay: Duration::ZERO,
            capabilities: vec![Capability::Quotes, Capability::MinuteBars],
            has_extended_hours: false,
            stream: None,
            second_source: Vec::new(),
            provider_time: None,
        }
    }
}

pub struct Fixture {
    pub clock: Arc<ManualClock>,
    pub provider: Arc<FakeProvider>,
    /// The quotes of the fallback provider.
    pub second_source: Arc<Mutex<Vec<QuoteRow>>>,
    pub watched: watch::Sender<Arc<Vec<Symbol>>>,
    pub splits_only: watch::Sender<Arc<BTreeSet<Symbol>>>,
    pub refreshes: broadcast::Sender<RefreshKind>,
    pub health: LiveSourceHealth,
    requests: mpsc::Sender<PriceRequest>,
    updates: mpsc::Receiver<MarketUpdate>,
}

impl Fixture {
    pub async fn begin(
        config: FixtureConfig,
        answer: impl FnMut(&DataRequest) -> Result<DataResponse, ProviderError> + Send + 'static,
    ) -> Self {
        let offers = config.capabilities.iter().map(|&capability| CapabilityOffer {
            capability,
            scope: RequestScope::Symbols(100),
            delay: config.delay,
            has_extended_hours: config.has_extended_hours,
        });
        let clock = Arc::new(ManualClock::new(config.now));
        let provider_clock = config.provider_time.map(|at_start| ProviderClock {
            host: Arc::clone(&clock),
            at_start,
            skew: ClockSkew::default(),
        });
        let provider = Arc::new(FakeProvider {
            stream: config.stream,
            tier: Tier {
                provider: "fake",
                plan: "test",
                offers: offers.collect(),
                request_limits: vec![RequestLimit::per_minute(1_000)],
            },
            sent_requests: Mutex::default(),
            handler: Mutex::new(Box::new(answer)),
            clock: provider_clock,
        });
        let shared: Arc<dyn Clock> = Arc::<ManualClock>::clone(&clock);
        let dynamic: Arc<dyn Provider> = Arc::<FakeProvider>::clone(&provider);
        let (splits_only_sender, splits_only) = watch::channel(Arc::default());
        let mut router = ProviderRouter::new(Arc::clone(&shared)).with_all_capabilities_of(&dynamic);
        let has_second_source = !config.second_source.is_empty();
        let second_source = Arc::new(Mutex::new(config.second_source));
        if has_second_source {
            router = router.with(Capability::Quotes, other(Arc::clone(&second_source)));
        }
        let live_config = LiveSourceConfig {
            router: Arc::new(router),
            setup: AdapterSetup::new(shared, 1),
            calendar: Calendar::nyse(),
            polling: PollingConfig::default(),
            limits: QuoteLimits::default(),
            // The manual clock runs faster than pings.
            stream: stream::StreamConfig {
                idle_timeout: Duration::from_secs(7 * 24 * 3_600),
                ..stream::StreamConfig::default()
            },
            nightly_at: time(22, 30, 0, 0),
            benchmark: symbol("SPY"),
            splits_only,
        };
        let (watched, receiver) = watch::channel(Arc::new(config.watched));
        let (sender, updates) = mpsc::channel(1_000);
        let health = LiveSourceHealth::default();
        let market_state: Arc<dyn MarketState> = Arc::new(config.known);
        let (refreshes, refreshes_receiver) = broadcast::channel(16);
        let (requests, requested) = mpsc::channel(100);
        let inputs = LiveSourceInputs {
            watched: receiver,
            refreshes: refreshes_receiver,
            requests: requested,
        };
        tokio::spawn(live::run(live_config, inputs, market_state, health.clone(), sender));
        let fixture = Self {
            clock,
            provider,
            second_source,
            watched,
            splits_only: splits_only_sender,
            refreshes,
            health,
            requests,
            updates,
        };
        fixture.settle().await;
        fixture
    }

    /// Requests the newest price of a stock.
    pub async fn request(&self, name: &str) -> oneshot::Receiver<PriceReply> {
        let (reply, receiver) = oneshot::channel();
        let symbol = symbol(name);
        self.requests.send(PriceRequest { symbol, reply }).await.unwrap();
        receiver
    }

    /// Lets all tasks run until they wait.
    pub async fn settle(&self) {
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
    }

    /// Advances the clock to `then`, second by second.
    pub async fn until(&self, then: Timestamp) {
        while self.clock.now() < then {
            let next = self.clock.now().saturating_add(SignedDuration::from_secs(1)).unwrap();
            self.clock.set(next.min(then));
            self.settle().await;
        }
    }

    /// The requests to the provider since the last call.
    pub fn sent_requests(&self) -> Vec<DataRequest> {
        std::mem::take(&mut *self.provider.sent_requests.lock().unwrap())
    }

    /// The prices that were delivered since the last call, as `AAPL 190 15:00:00`, with a `late` for missed quotes.
    pub fn delivered(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Ok(update) = self.updates.try_recv() {
            let line = |quote: &QuoteRow| {
                let time = quote.time.unwrap().strftime("%H:%M:%S");
                format!("{} {} {time}", quote.symbol, quote.price)
            };
            lines.extend(update.missed.quotes.iter().map(|quote| format!("{} late", line(quote))));
            lines.extend(update.batch.quotes.iter().map(line));
        }
        lines
    }

    /// The missed periods that were delivered since the last call: the numbers of complete stocks and of quotes.
    pub fn missed_periods(&mut self) -> Vec<(usize, usize)> {
        let updates = std::iter::from_fn(|| self.updates.try_recv().ok());
        let periods = updates.filter(|update| !update.missed.quotes.is_empty());
        periods
            .map(|update| (update.missed.complete.len(), update.missed.quotes.len()))
            .collect()
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
        tokio::time::timeout(testkit::HANG_LIMIT, some).await.unwrap()
    }

    /// The updates since the last call.
    pub fn updates(&mut self) -> Vec<MarketUpdate> {
        std::iter::from_fn(|| self.updates.try_recv().ok()).collect()
    }
}

/// A second provider, with quotes only.
fn other(rows: Arc<Mutex<Vec<QuoteRow>>>) -> Arc<dyn Provider> {
    let offer = CapabilityOffer {
        capability: Capability::Quotes,
        scope: RequestScope::Symbols(100),
        delay: Duration::ZERO,
        has_extended_hours: false,
    };
    Arc::new(FakeProvider {
        stream: None,
        tier: Tier {
            provider: "other",
            plan: "test",
            offers: vec![offer],
            request_limits: vec![RequestLimit::per_minute(1_000)],
        },
        sent_requests: Mutex::default(),
        handler: Mutex::new(Box::new(move |_| Ok(quotes(rows.lock().unwrap().clone())))),
        clock: None,
    })
}

/// An answer with quotes.
pub fn quotes(rows: Vec<QuoteRow>) -> DataResponse {
    let mut answer = DataResponse::default();
    answer.batch.quotes = rows;
    answer
}

/// An answer with minute bars.
pub fn minutes(minutes: Vec<MinuteBar>) -> DataResponse {
    DataResponse {
        minutes,
        ..DataResponse::default()
    }
}

pub fn no_answer() -> ProviderError {
    ProviderError::Truncated { provider: "fake" }
}
