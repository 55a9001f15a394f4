//! Test service: one instance per test.

mod cluster_node;
mod published_schema;

use std::sync::Arc;

use accounts::access::{ApiKeyParams, NewAccount};
use alerts::{AlertId, HistoryAction, Plan, Status};
use clock::ManualClock;
use evaluation::market::IngestReport;
use foundation::Network;
use foundation::{Actor, Ports, Random, Scope, ServiceError};
use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use published_schema::assert_matches_published_schema;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use service::alerts::{AlertDetail, Created};
use service::{Service, ServiceConfig};
use store::model::PageRequest;
use store::model::{HistoryRow, StoredEvent};
use store::{Store, StoreOptions};
use testkit::Database;

/// A Friday, half an hour after the open.
pub(crate) const OPEN: &str = "2024-03-08T15:00:00Z";
pub(crate) const PASSWORD: &str = "correct horse";
/// A page that contains all items of any test.
pub(crate) const ALL: PageRequest = PageRequest { page: 1, limit: 100 };

pub(crate) struct TestApp {
    pub(crate) service: Service,
    pub(crate) clock: Arc<ManualClock>,
    operator: Actor,
    database: Arc<Database>,
    settings: ServiceConfig,
    /// Each start uses another random seed.
    restarts: u64,
}

/// Runs each test on each database.
macro_rules! on_each_database {
    ($($test:ident)*) => {
        mod sqlite {
            $(#[test]
            fn $test() {
                testkit::run(async {
                    super::$test($crate::support::TestApp::new(testkit::Database::sqlite()).await).await;
                });
            })*
        }
        mod postgresql {
            $(#[test]
            fn $test() {
                testkit::run(async {
                    super::$test($crate::support::TestApp::new(testkit::Database::postgres().await).await).await;
                });
            })*
        }
    };
}
pub(crate) use on_each_database;

impl TestApp {
    pub(crate) async fn new(database: Database) -> Self {
        Self::with(database, settings()).await
    }

    /// Creates a service with a configuration.
    pub(crate) async fn with(database: Database, settings: ServiceConfig) -> Self {
        Self::with_network(database, settings, by_clock).await
    }

    /// Restarts the service with another configuration.
    pub(crate) async fn with_settings(self, settings: ServiceConfig) -> Self {
        Self { settings, ..self }.restarted().await
    }

    /// Creates a service with another network.
    pub(crate) async fn with_network(
        database: Database,
        settings: ServiceConfig,
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

    /// Restarts the service.
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

    /// Starts another process on the same database and clock.
    pub(crate) async fn another_process(&self) -> TestApp {
        self.another_process_with(self.settings.clone()).await
    }

    /// Starts another process with another configuration.
    pub(crate) async fn another_process_with(&self, settings: ServiceConfig) -> TestApp {
        TestApp {
            service: start(&self.database, &self.clock, 3, settings.clone()).await,
            clock: Arc::clone(&self.clock),
            operator: self.operator.clone(),
            database: Arc::clone(&self.database),
            settings,
            restarts: 0,
        }
    }

    pub(crate) fn settings(&self) -> &ServiceConfig {
        &self.settings
    }

    /// Returns the database. Several processes may use it if it is PostgreSQL.
    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Returns the operator.
    pub(crate) fn operator(&self) -> &Actor {
        &self.operator
    }

    /// Opens the database, for data that no use case returns.
    pub(crate) async fn store(&self) -> Store {
        Store::open(StoreOptions::new(self.database.url())).await.unwrap()
    }

    /// Pushes market data, some of which may be rejected.
    pub(crate) async fn ingest(&self, body: Value) -> IngestReport {
        self.service.market.ingest_json(&self.operator, &body).await.unwrap()
    }

    /// Returns all events of an account, oldest first, each of which must match its published schema.
    pub(crate) async fn events(&self, actor: &Actor) -> Vec<StoredEvent> {
        let events = self.service.alerts.events_after(actor, 0, 100).await.unwrap();
        events.iter().for_each(assert_matches_published_schema);
        events
    }

    /// Creates Ann's account on a plan.
    pub(crate) async fn ann(&self, plan: Plan) -> Actor {
        account(&self.service, "ann@example.com", plan, false).await
    }

    pub(crate) async fn bob(&self, plan: Plan) -> Actor {
        account(&self.service, "bob@example.com", plan, false).await
    }

    /// Pushes market data, all of which must be accepted.
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

    /// Creates an alert; it must be new.
    pub(crate) async fn create(&self, actor: &Actor, body: Value) -> AlertDetail {
        match self.service.alerts.create_alert(actor, &body).await.unwrap() {
            Created::New(detail) => *detail,
            Created::Existing(detail) => panic!("there was one already: {detail:?}"),
        }
    }

    /// Requests an alert that must already exist.
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

    /// Returns the history of an alert without notification entries, oldest first.
    pub(crate) async fn history(&self, actor: &Actor, id: AlertId) -> Vec<HistoryRow> {
        let mut page = self.service.alerts.alert_history(actor, id, ALL).await.unwrap();
        // A notification entry may have been added between counting and reading.
        assert!(page.total <= u64::try_from(page.items.len()).unwrap());
        page.items.reverse();
        page.items.retain(|row| !is_told_meanwhile(row.entry.action));
        page.items
    }

    /// Returns the actions in the history of an alert, oldest first.
    pub(crate) async fn actions(&self, actor: &Actor, id: AlertId) -> Vec<HistoryAction> {
        let rows = self.history(actor, id).await;
        rows.into_iter().map(|row| row.entry.action).collect()
    }
}

/// Returns whether an entry is about a notification, which is sent in the background.
fn is_told_meanwhile(action: HistoryAction) -> bool {
    matches!(
        action,
        HistoryAction::NotificationSent | HistoryAction::NotificationFailed
    )
}

/// Default configuration of the tests.
pub(crate) fn settings() -> ServiceConfig {
    ServiceConfig {
        evaluation: evaluation::EvaluationConfig {
            calendar: market::Calendar::nyse(),
            engine: alerts::engine::EngineConfig::default(),
            benchmark: "SPY".parse().unwrap(),
            missing_feeds: Vec::new(),
            follow_every: SignedDuration::from_secs(1),
            compare_every: SignedDuration::from_mins(5),
        },
        delivery: delivery::DeliveryConfig {
            public_url: "https://alerts.example.com".to_owned(),
            messages: delivery::messages::MessagesConfig::default(),
            channels: delivery::notification_channels::ChannelServicesConfig::default(),
            webhooks: delivery::webhooks::WebhooksConfig::default(),
        },
        identity: accounts::identity::IdentityConfig::default(),
        analyst: watchlist::analyst::AnalystConfig::default(),
        cluster: None,
    }
}

fn by_clock(clock: &Arc<ManualClock>) -> Network {
    Network::new(clock.clone())
}

async fn start(database: &Database, clock: &Arc<ManualClock>, seed: u64, settings: ServiceConfig) -> Service {
    start_on(database, clock, seed, settings, by_clock(clock)).await
}

async fn start_on(
    database: &Database,
    clock: &Arc<ManualClock>,
    seed: u64,
    settings: ServiceConfig,
    network: Network,
) -> Service {
    let ports = Ports {
        store: Store::open(StoreOptions::new(database.url())).await.unwrap(),
        clock: Arc::clone(clock) as Arc<dyn clock::Clock>,
        random: Arc::new(Random::new(Box::new(ChaCha20Rng::seed_from_u64(seed)))),
        vault: Arc::new(foundation::vault::Vault::new(b"a key for tests")),
        network,
    };
    Service::start(ports, settings).await.unwrap()
}

async fn account(service: &Service, email: &str, plan: Plan, is_operator: bool) -> Actor {
    let user = NewAccount {
        email: email.to_owned(),
        password: PASSWORD.to_owned(),
        plan,
        is_operator,
        is_verified: true,
    };
    service.accounts.create_account(user).await.unwrap();
    let scopes = if is_operator { Scope::ALL } else { Scope::PUBLIC };
    let key = ApiKeyParams {
        name: format!("key of {email}"),
        scopes: scopes.to_vec(),
    };
    let key = service.accounts.create_api_key_for_email(email, key).await.unwrap();
    service.authenticator.authenticate_key(&key.secret).await.unwrap()
}

pub(crate) fn symbol(text: &str) -> Symbol {
    text.parse().unwrap()
}

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// Returns the body of a create request for a price alert.
pub(crate) fn above(symbol: &str, threshold: f64) -> Value {
    json!({"symbol": symbol, "condition": "price_above", "threshold": threshold})
}

/// Returns the kind of an error with its machine-readable details.
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
        ServiceError::RateLimited { .. } => "too many".to_owned(),
        ServiceError::Unavailable(_) => "unavailable".to_owned(),
        ServiceError::Overloaded { .. } => "overloaded".to_owned(),
        ServiceError::StorageUnavailable(_) => "storage unavailable".to_owned(),
        ServiceError::Internal(source) => panic!("{source}"),
    }
}
