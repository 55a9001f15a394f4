//! The program as it serves, on a clock that is set by hand.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use alerts::{AlertId, HistoryAction, Plan};
use bellwether::metering::Metering;
use bellwether::serve::House;
use bellwether::settings::{Settings, SourceKind};
use bellwether::wiring::sources::sources;
use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::Value;
use service::access::{NewKey, NewUser};
use service::alerts::{AlertDetail, Created};
use service::webhooks::Network;
use service::{Actor, Chance, Clock, PageRequest, Ports, Scope, Service, vault::Vault};
use sources::ManualClock;
use store::{Options, Store};
use testkit::{Database, HANG_LIMIT};

use crate::exchange::Exchange;

/// What others need at most to do something while a second passes on the test's clock.
const A_MOMENT: Duration = Duration::from_millis(5);

/// The maximum number of one-second steps in [`Live::soon`].
const STEPS: u32 = 600;

pub fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub fn symbol(name: &str) -> Symbol {
    name.parse().unwrap()
}

/// Where the data come from.
#[derive(Clone, Copy)]
pub enum From<'a> {
    Alpaca(&'a Exchange),
    Folder(&'a Path),
}

pub struct Live {
    pub clock: Arc<ManualClock>,
    pub house: House,
    pub ann: Actor,
}

/// What fired: of which alert, when, at which price, and why.
#[derive(Clone, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub struct Fired {
    pub condition: String,
    pub symbol: String,
    pub at: Timestamp,
    pub price: Option<String>,
    pub reason: String,
    /// When it would have fired, if it is late.
    pub crossed_at: Option<String>,
}

impl Live {
    pub async fn open(database: &Database, from: From<'_>, now: Timestamp) -> Self {
        let mut chosen: Vec<(&str, String)> = vec![
            ("SERVER__LISTEN", "127.0.0.1:0".to_owned()),
            ("DATABASE__URL", database.url().to_owned()),
        ];
        match from {
            From::Alpaca(exchange) => chosen.extend([
                ("MARKET__SOURCE", "providers".to_owned()),
                ("SOURCES__ALPACA__KEY_ID", "PKTEST".to_owned()),
                ("SOURCES__ALPACA__SECRET", "open-sesame".to_owned()),
                ("SOURCES__ALPACA__DATA_URL", exchange.rest_url.clone()),
                ("SOURCES__ALPACA__TRADING_URL", exchange.rest_url.clone()),
                ("SOURCES__ALPACA__STREAM_URL", exchange.stream_url.clone()),
                ("SOURCES__ALPACA__STREAM_SYMBOLS", "100".to_owned()),
            ]),
            From::Folder(folder) => chosen.extend([
                ("MARKET__SOURCE", "file".to_owned()),
                ("MARKET__DATA_DIR", folder.display().to_string()),
            ]),
        }
        let chosen = chosen
            .into_iter()
            .map(|(name, value)| (format!("BELLWETHER_{name}"), value));
        let settings = Settings::load(None, chosen).unwrap();
        let from_kind = settings.market.source;
        let clock = match from {
            From::Alpaca(exchange) => Arc::clone(&exchange.clock),
            From::Folder(_) => Arc::new(ManualClock::new(now)),
        };
        let shared: Arc<dyn Clock> = Arc::<ManualClock>::clone(&clock);
        let providers = matches!(from_kind, SourceKind::Providers).then(|| {
            let mut providers = sources(&settings, Arc::clone(&shared), 1).unwrap();
            // The test's clock leaps, and silence is nothing that is tested here.
            providers.stream.silence = Duration::from_secs(86_400);
            providers
        });
        let ports = Ports {
            store: Store::open(Options::new(database.url())).await.unwrap(),
            clock: Arc::clone(&shared),
            chance: Arc::new(Chance::new(Box::new(ChaCha20Rng::seed_from_u64(1)))),
            vault: Arc::new(Vault::new(b"a key for tests")),
            network: Network::by_clock(&shared),
        };
        static METERING: OnceLock<Metering> = OnceLock::new();
        let metering = METERING.get_or_init(|| Metering::begin().unwrap()).clone();
        let house = House::with(&settings, ports, providers, metering).await.unwrap();
        let ann = account(&house.service.0).await;
        Self { clock, house, ann }
    }

    pub fn service(&self) -> &Service {
        &self.house.service.0
    }

    /// Creates an alert, as soon as its stock is in the catalog.
    pub async fn create(&self, body: &Value) -> AlertDetail {
        let stock = symbol(body["symbol"].as_str().unwrap());
        self.until("the stock is in the catalog", async |live| {
            live.service().prices.is_listed(stock)
        })
        .await;
        match self.service().alerts.create_alert(&self.ann, body).await.unwrap() {
            Created::New(detail) | Created::Existing(detail) => *detail,
        }
    }

    pub async fn alert(&self, id: AlertId) -> AlertDetail {
        self.service().alerts.alert(&self.ann, id).await.unwrap()
    }

    /// Lets the others work until something is so.
    pub async fn until(&self, what: &str, mut is_so: impl AsyncFnMut(&Self) -> bool) {
        let waiting = async {
            while !is_so(self).await {
                tokio::task::yield_now().await;
            }
        };
        let waited = tokio::time::timeout(HANG_LIMIT, waiting).await;
        assert!(waited.is_ok(), "never: {what}");
    }

    /// Leaps to an instant that is still to come.
    pub fn leap(&self, then: Timestamp) {
        let now = self.clock.now();
        assert!(now < then, "the test's clock shows {now}, and was to leap to {then}");
        self.clock.set(then);
    }

    /// Lets the time pass until then, at a pace that leaves the others time to answer.
    pub async fn reach(&self, then: Timestamp) {
        while self.clock.now() < then {
            let next = self.clock.now().saturating_add(SignedDuration::from_secs(1)).unwrap();
            self.clock.set(next.min(then));
            let others = async {
                loop {
                    tokio::task::yield_now().await;
                }
            };
            let _: Result<(), _> = tokio::time::timeout(A_MOMENT, others).await;
        }
    }

    /// Advances the clock until a state is reached, by ten minutes at most. Each step waits longer in real time than the one
    /// before, so the other tasks have as much machine time as before any hang limit.
    pub async fn soon(&self, state: &str, mut is_reached: impl AsyncFnMut(&Self) -> bool) {
        let pause = HANG_LIMIT / (STEPS * STEPS / 2);
        for step in 1..=STEPS {
            self.clock.advance(SignedDuration::from_secs(1));
            let reached = tokio::time::timeout(A_MOMENT + pause * step, async {
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

    /// When a stock was observed last.
    pub fn observed(&self, name: &str) -> Option<Timestamp> {
        Some(self.service().market_intake.last_observation(symbol(name))?.1)
    }

    /// Everything that has fired, sorted.
    pub async fn fired(&self, alerts: &[AlertId]) -> Vec<Fired> {
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
                        Fired {
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
    let user = NewUser {
        email: email.to_owned(),
        password: "correct horse".to_owned(),
        plan: Plan::Premium,
        is_operator: false,
        is_verified: true,
    };
    service.accounts.create_user(user).await.unwrap();
    let key = NewKey {
        name: "test".to_owned(),
        scopes: Scope::PUBLIC.to_vec(),
    };
    let key = service.accounts.create_key_for(email, key).await.unwrap();
    service.authenticator.authenticate_key(&key.secret).await.unwrap()
}
