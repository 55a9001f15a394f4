//! Databases with alerts and webhooks, and services on them.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use accounts::access::{ApiKeyParams, NewAccount};
use alerts::AlertId;
use alerts::alert::NewAlert;
use alerts::request::{ParseContext, parse_create};
use alerts::transition::{self, OwnerVerification, PriceAvailability};
use clock::Clock;
use foundation::Network;
use foundation::{Actor, Ports, Random, Scope};
use hyper::body::Bytes;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use market::{Calendar, Price};
use notify::message::{ALERT_TRIGGERED, webhook_body};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use rustls::pki_types::CertificateDer;
use serde_json::json;
use service::{Service, ServiceConfig};
use store::model::AccountId;
use store::model::{Account, AlertOwner, EvaluationCommit, EventId, Firing, FiringResult, HistoryRow, StoredAlert};
use store::{Store, StoreOptions};
use tempfile::TempDir;
use uuid::Uuid;

use crate::system::RealClock;

const OPERATOR: &str = "operator@example.com";
/// The number of alerts that one transaction writes.
const ALERTS_PER_TRANSACTION: usize = 5_000;
const STOCKS: usize = 1_000;
/// The prices at which no alert fires, and at which all fire.
pub(crate) const QUIET_PRICE: u32 = 100;
pub(crate) const STORM_PRICE: u32 = 1_000;

/// The state of the alerts in a new database.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum InitialState {
    /// The alerts are active.
    Armed,
    /// The alerts have fired, and their deliveries are pending.
    Fired,
}

/// A database in a temporary folder.
pub(crate) struct BenchDatabase {
    folder: TempDir,
    root: Option<CertificateDer<'static>>,
}

impl BenchDatabase {
    /// Creates a database with `count` alerts, evenly distributed over the owners of webhooks with these URLs, one
    /// account each. A separate process creates it, so that its memory is not measured.
    pub(crate) fn new(
        urls: &[String],
        count: usize,
        state: InitialState,
        root: Option<&CertificateDer<'static>>,
    ) -> Self {
        let database = Self {
            folder: tempfile::tempdir().unwrap(),
            root: root.cloned(),
        };
        let is_fired = state == InitialState::Fired;
        let filled = Command::new(std::env::current_exe().unwrap())
            .arg("fill")
            .arg(database.folder.path())
            .args([count.to_string(), is_fired.to_string()])
            .args(urls)
            .status();
        assert!(filled.unwrap().success(), "the database could not be filled");
        database
    }

    async fn ports(&self, seed: u64) -> Ports {
        ports(self.folder.path(), seed).await
    }

    /// Starts a service, and returns it with its store.
    pub(crate) async fn start(&self) -> (Service, Store) {
        let ports = self.ports(2).await;
        let store = ports.store.clone();
        let service = Service::start(ports, settings(self.root.as_ref())).await.unwrap();
        (service, store)
    }
}

async fn ports(folder: &Path, seed: u64) -> Ports {
    let url = format!("sqlite://{}", folder.join("bench.db").display());
    Ports {
        store: Store::open(StoreOptions::new(url)).await.unwrap(),
        clock: Arc::new(RealClock),
        random: Arc::new(Random::new(Box::new(ChaCha20Rng::seed_from_u64(seed)))),
        vault: Arc::new(foundation::vault::Vault::new(b"a key for a bench")),
        network: Network::new(Arc::new(RealClock)),
    }
}

fn settings(root: Option<&CertificateDer<'static>>) -> ServiceConfig {
    ServiceConfig {
        evaluation: evaluation::EvaluationConfig {
            calendar: Calendar::nyse().always_open(),
            engine: alerts::engine::EngineConfig::default(),
            benchmark: "SPY".parse().unwrap(),
            missing_feeds: Vec::new(),
            follow_every: SignedDuration::from_secs(1),
            compare_every: SignedDuration::from_mins(5),
        },
        delivery: delivery::DeliveryConfig {
            public_url: "http://127.0.0.1".to_owned(),
            messages: delivery::messages::MessagesConfig::default(),
            channels: delivery::notification_channels::ChannelServicesConfig::default(),
            webhooks: delivery::webhooks::WebhooksConfig {
                allow_private: vec!["127.0.0.0/8".parse().unwrap()],
                own_roots: root.iter().map(|root| root.to_vec()).collect(),
                ..delivery::webhooks::WebhooksConfig::default()
            },
        },
        identity: accounts::identity::IdentityConfig::default(),
        analyst: watchlist::analyst::AnalystConfig::default(),
        cluster: None,
    }
}

/// Returns the operator of a service on such a database.
pub(crate) async fn operator(service: &Service) -> Actor {
    let key = ApiKeyParams {
        name: "bench".to_owned(),
        scopes: Scope::ALL.to_vec(),
    };
    let key = service.accounts.create_api_key_for_email(OPERATOR, key).await.unwrap();
    service.authenticator.authenticate_key(&key.secret).await.unwrap()
}

/// Returns the body of an ingest request: every stock at one price.
pub(crate) fn snapshot(price: u32) -> serde_json::Value {
    let quotes = (0..STOCKS).map(|stock| json!({"symbol": symbol(stock), "price": price}));
    json!({"quotes": quotes.collect::<Vec<_>>()})
}

fn symbol(stock: usize) -> String {
    format!("S{stock}")
}

/// Runs the process that creates a database.
pub(crate) async fn fill(folder: &Path, count: usize, is_fired: bool, urls: &[String]) {
    let ports = ports(folder, 1).await;
    let store = ports.store.clone();
    let service = Service::without_evaluation(ports, settings(None)).unwrap();
    let user = NewAccount {
        email: OPERATOR.to_owned(),
        password: "correct horse".to_owned(),
        plan: alerts::Plan::Premium,
        is_operator: true,
        is_verified: true,
    };
    let like = service.accounts.create_account(user).await.unwrap();
    let actor = operator(&service).await;
    let owners: Vec<Account> = (0..urls.len()).map(|number| owner(&like, number)).collect();
    add_accounts(&store, owners.clone()).await;
    for (owner, url) in owners.iter().zip(urls) {
        let actor = Actor {
            account: owner.id,
            email: owner.email.clone(),
            is_operator: false,
            ..actor.clone()
        };
        let body = json!({"url": url, "events": [ALERT_TRIGGERED]});
        service.webhooks.create_webhook(&actor, &body).await.unwrap();
    }
    let now = Clock::now(&RealClock);
    let alerts: Vec<StoredAlert> = (0..count)
        .map(|number| alert(number, owners[number % owners.len()].id, now))
        .collect();
    for piece in alerts.chunks(ALERTS_PER_TRANSACTION) {
        add_alerts(&store, piece.to_vec()).await;
    }
    if is_fired {
        let commit = EvaluationCommit {
            firings: alerts.iter().enumerate().map(firing).collect(),
            ..EvaluationCommit::default()
        };
        let outcome = store.commit_evaluation(commit, Arc::new(compose)).await.unwrap();
        let is_taken = |settled: &FiringResult| matches!(settled, FiringResult::Fired(_));
        assert!(outcome.firings.iter().all(is_taken));
    }
    service.stop().await;
}

/// Returns ids that are far apart, like random ones.
fn scattered(number: usize) -> Uuid {
    let bits = (number as u128 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    uuid::Builder::from_random_bytes(bits.to_be_bytes()).into_uuid()
}

fn owner(like: &Account, number: usize) -> Account {
    Account {
        id: AccountId(scattered(number)),
        email: format!("owner{number}@example.com"),
        is_operator: false,
        ..like.clone()
    }
}

fn alert(number: usize, owner: AccountId, now: Timestamp) -> StoredAlert {
    let calendar = Calendar::nyse();
    let context = ParseContext {
        now,
        time_zone: &TimeZone::UTC,
        calendar: &calendar,
    };
    let threshold = 200.0 + number as f64 / 1_000.0;
    let body = json!({"symbol": symbol(number % STOCKS), "condition": "price_above", "threshold": threshold,
        "parameters": {"source": "web", "note": "as a bench writes them"}});
    let asked: NewAlert = parse_create(&body, &context).unwrap();
    let id = AlertId(scattered(number));
    let mut created =
        transition::create(asked, id, OwnerVerification::Verified, PriceAvailability::Awaited, now).unwrap();
    created.alert.initial_price = price(QUIET_PRICE);
    StoredAlert {
        alert: created.alert,
        owner: AlertOwner::Account(owner),
        created_by: Some("key: laptop".to_owned()),
        role: store::model::ScopeRole::Single,
        managed_by: None,
    }
}

fn price(dollars: u32) -> Option<Price> {
    Price::from_micros(i64::from(dollars) * 1_000_000).ok()
}

fn firing((number, stored): (usize, &StoredAlert)) -> Firing {
    Firing {
        alert: stored.alert.id,
        revision: stored.alert.revision,
        at: stored.alert.created_at,
        crossed_at: None,
        price: price(STORM_PRICE),
        metric: None,
        reason: format!("{} is at 1000, at or above your 200", stored.alert.symbol),
        terms: Vec::new(),
        lifecycle: None,
        judged_at: None,
        event: EventId(scattered(number)),
    }
}

/// Returns the `data` of an event, as long as the service's.
fn compose(stored: &StoredAlert, firing: &Firing) -> String {
    let alert = &stored.alert;
    json!({
        "alert": {"id": alert.id.to_string(), "symbol": alert.symbol.as_str(), "condition": alert.condition.kind().name(),
            "threshold": 200, "status": "triggered", "notification": alert.notification.name(),
            "triggered_at": format!("{:.3}", firing.at), "triggered_value": 1000, "initial_price": 100,
            "parameters": alert.parameters},
        "stock": {"symbol": alert.symbol.as_str(), "price": 1000, "change": 900, "change_percent": 900},
        "company_name": "A Company Incorporated", "reason": firing.reason,
    })
    .to_string()
}

/// Returns the body of a delivery.
pub(crate) fn any_body() -> Bytes {
    let stored = alert(0, AccountId(scattered(0)), Clock::now(&RealClock));
    let firing = firing((0, &stored));
    let data = compose(&stored, &firing);
    webhook_body(scattered(0), ALERT_TRIGGERED, firing.at, &data)
}

async fn add_accounts(store: &Store, accounts: Vec<Account>) {
    let added = store.commit(accounts, |accounts, unit| {
        Box::pin(async move {
            for account in accounts {
                unit.insert_account(account).await?;
            }
            Ok(())
        })
    });
    added.await.unwrap();
}

async fn add_alerts(store: &Store, alerts: Vec<StoredAlert>) {
    let added = store.commit(alerts, |stored, unit| {
        Box::pin(async move {
            for stored in stored {
                let row = HistoryRow {
                    alert: stored.alert.id,
                    symbol: stored.alert.symbol,
                    entry: transition::StatusChange {
                        action: alerts::HistoryAction::Created,
                        previous_status: None,
                        new_status: transition::HistoryStatus::Of(alerts::Status::Active),
                    },
                    at: stored.alert.created_at,
                    price: None,
                    details: None,
                };
                unit.insert_alert(stored, &row).await?;
            }
            Ok(())
        })
    });
    added.await.unwrap();
}
