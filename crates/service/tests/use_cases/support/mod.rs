//! A world of its own for each test.

use std::sync::Arc;

use alerts::{AlertId, HistoryAction, Plan, Status};
use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use service::access::{NewKey, NewUser};
use service::alerts::{AlertDetail, Created};
use service::market::IngestAnswer;
use service::webhooks::Network;
use service::{Actor, Chance, PageRequest, Ports, Scope, Service, ServiceError, Settings};
use sources::ManualClock;
use store::model::{HistoryRow, StoredEvent};
use store::{Store, StoreOptions};
use testkit::Database;

/// A Friday, half an hour after the open.
pub(crate) const OPEN: &str = "2024-03-08T15:00:00Z";
pub(crate) const PASSWORD: &str = "correct horse";
/// More than any test has on a page.
pub(crate) const ALL: PageRequest = PageRequest { page: 1, limit: 100 };

pub(crate) struct World {
    pub(crate) service: Service,
    pub(crate) clock: Arc<ManualClock>,
    operator: Actor,
    database: Arc<Database>,
    settings: Settings,
    /// Each start draws other ids.
    restarts: u64,
}

/// Runs each test on each database.
macro_rules! on_each_database {
    ($($test:ident)*) => {
        mod sqlite {
            $(#[test]
            fn $test() {
                testkit::run(async {
                    super::$test($crate::support::World::new(testkit::Database::sqlite()).await).await;
                });
            })*
        }
        mod postgresql {
            $(#[test]
            fn $test() {
                testkit::run(async {
                    super::$test($crate::support::World::new(testkit::Database::postgres().await).await).await;
                });
            })*
        }
    };
}
pub(crate) use on_each_database;

impl World {
    pub(crate) async fn new(database: Database) -> Self {
        Self::with(database, settings()).await
    }

    /// With other settings than those that most tests have.
    pub(crate) async fn with(database: Database, settings: Settings) -> Self {
        Self::with_network(database, settings, by_clock).await
    }

    /// The same after a restart with other settings.
    pub(crate) async fn with_settings(self, settings: Settings) -> Self {
        Self { settings, ..self }.restarted().await
    }

    /// With another network than that of the clock.
    pub(crate) async fn with_network(
        database: Database,
        settings: Settings,
        network: impl FnOnce(&Arc<ManualClock>) -> Network,
    ) -> Self {
        let clock = Arc::new(ManualClock::new(OPEN.parse().unwrap()));
        let service = start_on(&database, &clock, 1, settings.clone(), network(&clock)).await;
        let operator = account(&service, "operator@example.com", Plan::Premium, true).await;
        Self {
            service,
            clock,
            operator,
            database: Arc::new(database),
            settings,
            restarts: 0,
        }
    }

    /// The service after a restart.
    pub(crate) async fn restarted(self) -> Self {
        self.service.stop().await;
        let restarts = self.restarts + 1;
        let service = start(&self.database, &self.clock, 100 + restarts, self.settings.clone()).await;
        Self {
            service,
            restarts,
            ..self
        }
    }

    /// Another process on the same database and the same clock.
    pub(crate) async fn another_process(&self) -> World {
        World {
            service: start(&self.database, &self.clock, 3, self.settings.clone()).await,
            clock: Arc::clone(&self.clock),
            operator: self.operator.clone(),
            database: Arc::clone(&self.database),
            settings: self.settings.clone(),
            restarts: 0,
        }
    }

    /// Whoever operates this service.
    pub(crate) fn operator(&self) -> &Actor {
        &self.operator
    }

    /// Its database, for what no use case shows.
    pub(crate) async fn store(&self) -> Store {
        Store::open(StoreOptions::new(self.database.url())).await.unwrap()
    }

    /// Delivers market data, of which some may be refused.
    pub(crate) async fn ingest(&self, body: Value) -> IngestAnswer {
        self.service.market.ingest_json(&self.operator, &body).await.unwrap()
    }

    /// All events of an account, oldest first.
    pub(crate) async fn events(&self, actor: &Actor) -> Vec<StoredEvent> {
        self.service.alerts.events_after(actor, 0, 100).await.unwrap()
    }

    /// Ann, on that plan.
    pub(crate) async fn ann(&self, plan: Plan) -> Actor {
        account(&self.service, "ann@example.com", plan, false).await
    }

    pub(crate) async fn bob(&self, plan: Plan) -> Actor {
        account(&self.service, "bob@example.com", plan, false).await
    }

    /// Delivers market data; all of it has to be taken.
    pub(crate) async fn deliver(&self, body: Value) {
        let answer = self.service.market.ingest_json(&self.operator, &body).await.unwrap();
        assert_eq!(answer.rejected, []);
    }

    pub(crate) async fn quote(&self, symbol: &str, price: f64) {
        self.deliver(json!({"quotes": [{"symbol": symbol, "price": price}]}))
            .await;
    }

    pub(crate) fn advance(&self, minutes: i64) {
        self.clock.advance(SignedDuration::from_mins(minutes));
    }

    /// A new alert; it has to be one.
    pub(crate) async fn create(&self, actor: &Actor, body: Value) -> AlertDetail {
        match self.service.alerts.create_alert(actor, &body).await.unwrap() {
            Created::New(detail) => *detail,
            Created::Existing(detail) => panic!("there was one already: {detail:?}"),
        }
    }

    /// The alert that was there already; it has to have been.
    pub(crate) async fn find(&self, actor: &Actor, body: Value) -> AlertDetail {
        match self.service.alerts.create_alert(actor, &body).await.unwrap() {
            Created::Existing(detail) => *detail,
            Created::New(detail) => panic!("there was none: {detail:?}"),
        }
    }

    pub(crate) async fn refused(&self, actor: &Actor, body: Value) -> ServiceError {
        self.service.alerts.create_alert(actor, &body).await.unwrap_err()
    }

    pub(crate) async fn status(&self, actor: &Actor, id: AlertId) -> Status {
        self.service.alerts.alert(actor, id).await.unwrap().stored.alert.status
    }

    /// What an alert's history says of the alert itself, oldest first; what became of notifications is told meanwhile.
    pub(crate) async fn history(&self, actor: &Actor, id: AlertId) -> Vec<HistoryRow> {
        let mut page = self.service.alerts.alert_history(actor, id, ALL).await.unwrap();
        // What became of a notification may have come in between counting and reading.
        assert!(page.total <= u64::try_from(page.items.len()).unwrap());
        page.items.reverse();
        page.items.retain(|row| !is_told_meanwhile(row.entry.action));
        page.items
    }

    /// What has happened to an alert, oldest first.
    pub(crate) async fn actions(&self, actor: &Actor, id: AlertId) -> Vec<HistoryAction> {
        let rows = self.history(actor, id).await;
        rows.into_iter().map(|row| row.entry.action).collect()
    }
}

/// Whether it is about a notification, which is sent in the background.
fn is_told_meanwhile(action: HistoryAction) -> bool {
    matches!(
        action,
        HistoryAction::NotificationSent | HistoryAction::NotificationFailed
    )
}

/// The settings that most tests have.
pub(crate) fn settings() -> Settings {
    Settings {
        calendar: market::Calendar::nyse(),
        engine: alerts::engine::EngineConfig::default(),
        benchmark: "SPY".parse().unwrap(),
        missing_feeds: Vec::new(),
        follow_every: SignedDuration::from_secs(1),
        compare_every: SignedDuration::from_mins(5),
        webhooks: service::webhooks::Settings::default(),
        public_url: "https://alerts.example.com".to_owned(),
        identity: service::identity::Settings::default(),
        messages: service::messages::Settings::default(),
        analyst: service::analyst::Settings::default(),
    }
}

fn by_clock(clock: &Arc<ManualClock>) -> Network {
    Network::by_clock(&(Arc::clone(clock) as Arc<dyn service::Clock>))
}

async fn start(database: &Database, clock: &Arc<ManualClock>, seed: u64, settings: Settings) -> Service {
    start_on(database, clock, seed, settings, by_clock(clock)).await
}

async fn start_on(
    database: &Database,
    clock: &Arc<ManualClock>,
    seed: u64,
    settings: Settings,
    network: Network,
) -> Service {
    let ports = Ports {
        store: Store::open(StoreOptions::new(database.url())).await.unwrap(),
        clock: Arc::clone(clock) as Arc<dyn service::Clock>,
        chance: Arc::new(Chance::new(Box::new(ChaCha20Rng::seed_from_u64(seed)))),
        vault: Arc::new(service::vault::Vault::new(b"a key for tests")),
        network,
    };
    Service::start(ports, settings).await.unwrap()
}

async fn account(service: &Service, email: &str, plan: Plan, is_operator: bool) -> Actor {
    let user = NewUser {
        email: email.to_owned(),
        password: PASSWORD.to_owned(),
        plan,
        is_operator,
        is_verified: true,
    };
    service.accounts.create_user(user).await.unwrap();
    let scopes = if is_operator { Scope::ALL } else { Scope::PUBLIC };
    let key = NewKey {
        name: format!("key of {email}"),
        scopes: scopes.to_vec(),
    };
    let key = service.accounts.create_key_for(email, key).await.unwrap();
    service.authenticator.authenticate_key(&key.secret).await.unwrap()
}

pub(crate) fn symbol(text: &str) -> Symbol {
    text.parse().unwrap()
}

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// The body of a create request for a price alert.
pub(crate) fn above(symbol: &str, threshold: f64) -> Value {
    json!({"symbol": symbol, "condition": "price_above", "threshold": threshold})
}

/// What kind of refusal it is, with what programs read of it.
pub(crate) fn kind(error: &ServiceError) -> String {
    match error {
        ServiceError::Malformed(_) => "malformed".to_owned(),
        ServiceError::Invalid { fields, .. } => {
            let names: Vec<_> = fields.keys().map(String::as_str).collect();
            format!("invalid {}", names.join(" "))
        }
        ServiceError::Unauthenticated(_) => "unauthenticated".to_owned(),
        ServiceError::Forbidden { reason, required, .. } => {
            format!("forbidden {reason} {}", required.as_deref().unwrap_or("-"))
        }
        ServiceError::NotFound(what) => format!("no {what}"),
        ServiceError::UnknownStock { .. } => "no stock".to_owned(),
        ServiceError::Conflict(_) => "conflict".to_owned(),
        ServiceError::TooMany { .. } => "too many".to_owned(),
        ServiceError::Unavailable(_) => "unavailable".to_owned(),
        ServiceError::Overloaded { .. } => "overloaded".to_owned(),
        ServiceError::StorageUnavailable(_) => "storage unavailable".to_owned(),
        ServiceError::Internal(source) => panic!("{source}"),
    }
}
