//! The server with a manual clock.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use accounts::access::{ApiKeyParams, NewAccount};
use alerts::{AlertId, HistoryAction, Plan};
use bellwether::metering::Metering;
use bellwether::serve::Server;
use bellwether::settings::{Settings, SourceKind};
use bellwether::wiring::providers::build_providers;
use clock::{Clock, ManualClock};
use foundation::Network;
use foundation::vault::Vault;
use foundation::{Actor, Ports, Random, Scope};
use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::Value;
use service::Service;
use service::alerts::{AlertDetail, Created};
use store::model::PageRequest;
use store::{Store, StoreOptions};
use testkit::{Database, HANG_LIMIT};

use crate::live::exchange::FakeExchange;

/// The real time that other tasks get for one second of the test's clock.
const STEP_PAUSE: Duration = Duration::from_millis(5);

/// The maximum number of one-second steps in [`TestServer::advance_until`].
const MAX_STEPS: u32 = 600;

pub fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub fn symbol(name: &str) -> Symbol {
    name.parse().unwrap()
}

/// The source of market data.
#[derive(Clone, Copy)]
pub enum DataSource<'a> {
    Alpaca(&'a FakeExchange),
    Folder(&'a Path),
}

pub struct TestServer {
    pub clock: Arc<ManualClock>,
    pub server: Server,
    pub ann: Actor,
}

/// A firing: the alert's condition and stock, the time, the price and the reason.
#[derive(Clone, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub struct RecordedFiring {
    pub condition: String,
    pub symbol: String,
    pub at: Timestamp,
    pub price: Option<String>,
    pub reason: String,
    /// The time of the crossing, if the firing is late.
    pub crossed_at: Option<String>,
}

impl TestServer {
    pub async fn open(database: &Database, source: DataSource<'_>, now: Timestamp) -> Self {
        let mut overrides: Vec<(&str, String)> = vec![
            ("SERVER__LISTEN", "127.0.0.1:0".to_owned()),
            ("DATABASE__URL", database.url().to_owned()),
        ];
        match source {
            DataSource::Alpaca(exchange) => overrides.extend([
                ("MARKET__SOURCE", "providers".to_owned()),
                ("SOURCES__ALPACA__KEY_ID", "PKTEST".to_owned()),
                ("SOURCES__ALPACA__SECRET", "open-sesame".to_owned()),
                ("SOURCES__ALPACA__DATA_URL", exchange.rest_url.clone()),
                ("SOURCES__ALPACA__TRADING_URL", exchange.rest_url.clone()),
                ("SOURCES__ALPACA__STREAM_URL", exchange.stream_url.clone()),
                ("SOURCES__ALPACA__STREAM_SYMBOLS", "100".to_owned()),
            ]),
            DataSource::Folder(folder) => overrides.extend([
                ("MARKET__SOURCE", "file".to_owned()),
                ("MARKET__DATA_DIR", folder.display().to_string()),
            ]),
        }
        let settings = Settings::with_overrides(&overrides).unwrap();
        let source_kind = settings.market.source;
        let clock = match source {
            DataSource::Alpaca(exchange) => Arc::clone(&exchange.clock),
            DataSource::Folder(_) => Arc::new(ManualClock::new(now)),
        };
        let shared: Arc<dyn Clock> = Arc::<ManualClock>::clone(&clock);
        let providers = matches!(source_kind, SourceKind::Providers).then(|| {
            let mut providers = build_providers(&settings, Arc::clone(&shared), 1).unwrap();
            // The test's clock jumps, and idle timeouts are not tested here.
            providers.stream.idle_timeout = Duration::from_secs(86_400);
            providers
        });
        let ports = Ports {
            store: Store::open(StoreOptions::new(database.url())).await.unwrap(),
            clock: Arc::clone(&shared),
            random: Arc::new(Random::new(Box::new(ChaCha20Rng::seed_from_u64(1)))),
            vault: Arc::new(Vault::new(b"a key for tests")),
            network: Network::new(Arc::clone(&shared)),
        };
        static METERING: OnceLock<Metering> = OnceLock::new();
        let metering = METERING.get_or_init(|| Metering::install().unwrap()).clone();
        let server = Server::with_ports(&settings, ports, providers, metering).await.unwrap();
        let ann = account(&server.service).await;
        Self { clock, server, ann }
    }

    pub fn service(&self) -> &Service {
        &self.server.service
    }

    /// Creates an alert as soon as its stock is in the catalog.
    pub async fn create(&self, body: &Value) -> AlertDetail {
        let stock = symbol(body["symbol"].as_str().unwrap());
        self.wait_until("the stock is in the catalog", async |test| {
            test.service().prices.is_listed(stock)
        })
        .await;
        match self.service().alerts.create_alert(&self.ann, body).await.unwrap() {
            Created::New(detail) | Created::Existing(detail) => *detail,
        }
    }

    pub async fn alert(&self, id: AlertId) -> AlertDetail {
        self.service().alerts.alert(&self.ann, id).await.unwrap()
    }

    /// Lets the other tasks run until a condition holds.
    pub async fn wait_until(&self, condition: &str, mut is_true: impl AsyncFnMut(&Self) -> bool) {
        let waiting = async {
            while !is_true(self).await {
                tokio::task::yield_now().await;
            }
        };
        let waited = tokio::time::timeout(HANG_LIMIT, waiting).await;
        assert!(waited.is_ok(), "never reached: {condition}");
    }

    /// Sets the clock to a later time.
    pub fn jump_to(&self, then: Timestamp) {
        let now = self.clock.now();
        assert!(now < then, "the test's clock shows {now}, and cannot jump to {then}");
        self.clock.set(then);
    }

    /// Advances the clock to a time, slowly enough that the other tasks can respond.
    pub async fn advance_to(&self, then: Timestamp) {
        while self.clock.now() < then {
            let next = self.clock.now().saturating_add(SignedDuration::from_secs(1)).unwrap();
            self.clock.set(next.min(then));
            let others = async {
                loop {
                    tokio::task::yield_now().await;
                }
            };
            let _: Result<(), _> = tokio::time::timeout(STEP_PAUSE, others).await;
        }
    }

    /// Advances the clock until a state is reached, by ten minutes at most. Each step waits longer in real time than
    /// the one before, so the other tasks have as much machine time as before any hang limit.
    pub async fn advance_until(&self, state: &str, mut is_reached: impl AsyncFnMut(&Self) -> bool) {
        let pause = HANG_LIMIT / (MAX_STEPS * MAX_STEPS / 2);
        for step in 1..=MAX_STEPS {
            self.clock.advance(SignedDuration::from_secs(1));
            let reached = tokio::time::timeout(STEP_PAUSE + pause * step, async {
                while !is_reached(self).await {
                    tokio::task::yield_now().await;
                }
            });
            if reached.await.is_ok() {
                return;
            }
        }
        panic!("not within ten minutes: {state}");
    }

    /// Returns the time of a stock's last observation.
    pub fn last_observed_at(&self, name: &str) -> Option<Timestamp> {
        Some(self.service().market_intake.last_observation(symbol(name))?.at)
    }

    /// Returns all firings, sorted.
    pub async fn fired(&self, alerts: &[AlertId]) -> Vec<RecordedFiring> {
        let mut fired = Vec::new();
        for &id in alerts {
            let detail = self.alert(id).await;
            let all = PageRequest { page: 1, limit: 100 };
            let page = self.service().alerts.alert_history(&self.ann, id, all).await.unwrap();
            let rows = page.items.into_iter();
            fired.extend(
                rows.filter(|row| row.entry.action == HistoryAction::Triggered)
                    .map(|row| {
                        let detail_of = |name: &str| Some(row.details.as_ref()?.get(name)?.as_str()?.to_owned());
                        RecordedFiring {
                            condition: detail.stored.alert.condition.kind().name().to_owned(),
                            symbol: row.symbol.to_string(),
                            at: row.at,
                            price: row.price.map(|price| price.to_string()),
                            reason: detail_of("reason").unwrap(),
                            crossed_at: detail_of("crossed_at"),
                        }
                    }),
            );
        }
        fired.sort();
        fired
    }
}

async fn account(service: &Service) -> Actor {
    let email = "ann@example.com";
    let user = NewAccount {
        email: email.to_owned(),
        password: "correct horse".to_owned(),
        plan: Plan::Premium,
        is_operator: false,
        is_verified: true,
    };
    service.accounts.create_account(user).await.unwrap();
    let key = ApiKeyParams {
        name: "test".to_owned(),
        scopes: Scope::PUBLIC.to_vec(),
    };
    let key = service.accounts.create_api_key_for_email(email, key).await.unwrap();
    service.authenticator.authenticate_key(&key.secret).await.unwrap()
}
