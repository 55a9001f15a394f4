//! Changes of an alert between its late evaluation and the commit.

use std::collections::HashSet;
use std::sync::Arc;

use ::alerts::{AlertId, Plan, Status};
use ::market::records::{Batch, QuoteRow};
use ::market::{Calendar, Price};
use clock::{Clock, ManualClock};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::json;
use store::{Store, StoreOptions};
use testkit::{Database, on_both_databases};

use accounts::access::{ApiKeyParams, NewAccount};
use evaluation::evaluator::missed::{Gaps, RerunResult};
use foundation::Network;
use foundation::vault::Vault;
use foundation::{Actor, Ports, Random, Scope};
use service::alerts::Created;
use service::{Service, ServiceConfig};

const NOW: &str = "2024-03-08T15:20:00Z";

/// A service with an alert on 199 or above, created before a gap with a price of 200. The gap is evaluated; nothing
/// is committed.
struct Fixture {
    service: Service,
    ann: Actor,
    alert: AlertId,
    gaps: Gaps,
    result: RerunResult,
}

fn settings() -> ServiceConfig {
    ServiceConfig {
        evaluation: evaluation::EvaluationConfig {
            calendar: Calendar::nyse(),
            engine: ::alerts::engine::EngineConfig::default(),
            benchmark: "SPY".parse().unwrap(),
            missing_feeds: Vec::new(),
            follow_every: jiff::SignedDuration::from_secs(1),
            compare_every: jiff::SignedDuration::from_mins(5),
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

fn row(price: &str, time: &str) -> QuoteRow {
    QuoteRow {
        symbol: "AAPL".parse().unwrap(),
        price: price.parse().unwrap(),
        volume: None,
        time: Some(time.parse().unwrap()),
        bid: None,
        ask: None,
        vwap: None,
    }
}

impl Fixture {
    async fn new(database: &Database) -> Self {
        let clock = Arc::new(ManualClock::new("2024-03-08T15:00:00Z".parse().unwrap()));
        let ports = Ports {
            store: Store::open(StoreOptions::new(database.url())).await.unwrap(),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            random: Arc::new(Random::new(Box::new(ChaCha20Rng::seed_from_u64(1)))),
            vault: Arc::new(Vault::new(b"a key for tests")),
            network: Network::new(clock.clone()),
        };
        let service = Service::start(ports, settings()).await.unwrap();
        let ann = ann(&service).await;
        let quotes = vec![row("198", "2024-03-08T15:00:00Z")];
        let seen = Batch {
            quotes,
            ..Batch::default()
        };
        service.market_intake.ingest(seen).await.unwrap();
        let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 199});
        let Created::New(made) = service.alerts.create_alert(&ann, &body).await.unwrap() else {
            panic!("an equivalent alert exists");
        };
        clock.set(NOW.parse().unwrap());
        let (gaps, result) = evaluate_gap(&service).await;
        assert_eq!(result.decisions.len(), 1);
        let alert = made.stored.alert.id;
        Self {
            service,
            ann,
            alert,
            gaps,
            result,
        }
    }

    /// Commits the evaluation. Returns the number of firings, the alert's status and the number of events.
    async fn commit(self) -> (Option<u64>, Status, usize) {
        let fired = self
            .service
            .evaluation
            .evaluator
            .merge_gaps(&self.gaps, self.result)
            .await
            .unwrap();
        let detail = self.service.alerts.alert(&self.ann, self.alert).await.unwrap();
        let events = self.service.alerts.events_after(&self.ann, 0, 10).await.unwrap();
        // The live engine and the database agree in any case.
        assert_eq!(self.service.compare().await.unwrap(), 0);
        (fired, detail.stored.alert.status, events.len())
    }
}

async fn evaluate_gap(service: &Service) -> (Gaps, RerunResult) {
    let rows = [row("200", "2024-03-08T15:10:00Z"), row("197", "2024-03-08T15:15:00Z")];
    let evaluator = &service.evaluation.evaluator;
    let gaps = Arc::new(evaluator.gaps([("AAPL".parse().unwrap(), &rows[..])], |_, _| None, &HashSet::new()));
    let result = evaluator.evaluate_gaps(&gaps).await.unwrap();
    (Arc::into_inner(gaps).unwrap(), result)
}

async fn ann(service: &Service) -> Actor {
    let email = "ann@example.com".to_owned();
    let user = NewAccount {
        email: email.clone(),
        password: "correct horse".to_owned(),
        plan: Plan::Premium,
        is_operator: false,
        is_verified: true,
    };
    service.accounts.create_account(user).await.unwrap();
    let key = ApiKeyParams {
        name: "key".to_owned(),
        scopes: Scope::PUBLIC.to_vec(),
    };
    let key = service.accounts.create_api_key_for_email(&email, key).await.unwrap();
    service.authenticator.authenticate_key(&key.secret).await.unwrap()
}

on_both_databases! {
    async fn unchanged_alert_fires(database) {
        assert_eq!(Fixture::new(database).await.commit().await, (Some(1), Status::Triggered, 1));
    }

    async fn alert_paused_meanwhile_does_not_fire(database) {
        let fixture = Fixture::new(database).await;
        fixture.service.alerts.pause_alert(&fixture.ann, fixture.alert).await.unwrap();
        assert_eq!(fixture.commit().await, (Some(0), Status::Paused, 0));
    }

    async fn alert_changed_meanwhile_does_not_fire_by_its_old_threshold(database) {
        let fixture = Fixture::new(database).await;
        let change = json!({"threshold": 199.5});
        fixture.service.alerts.update_alert(&fixture.ann, fixture.alert, &change).await.unwrap();
        assert_eq!(fixture.commit().await, (Some(0), Status::Active, 0));
    }

    async fn alert_deleted_meanwhile_does_not_fire(database) {
        let fixture = Fixture::new(database).await;
        fixture.service.alerts.delete_alert(&fixture.ann, fixture.alert).await.unwrap();
        let fired = fixture.service.evaluation.evaluator.merge_gaps(&fixture.gaps, fixture.result).await.unwrap();
        assert_eq!(fired, Some(0));
        assert_eq!(fixture.service.compare().await.unwrap(), 0);
    }

    async fn alert_fired_by_a_live_price_meanwhile_fires_once(database) {
        let fixture = Fixture::new(database).await;
        let quotes = vec![row("201", NOW)];
        fixture.service.market_intake.ingest(Batch { quotes, ..Batch::default() }).await.unwrap();
        assert_eq!(fixture.service.alerts.alert(&fixture.ann, fixture.alert).await.unwrap().stored.alert.status, Status::Triggered);
        assert_eq!(fixture.commit().await, (Some(0), Status::Triggered, 1));
    }

    async fn price_observed_meanwhile_stays_the_last_one(database) {
        let fixture = Fixture::new(database).await;
        let quotes = vec![row("198.5", NOW)];
        fixture.service.market_intake.ingest(Batch { quotes, ..Batch::default() }).await.unwrap();
        let fired = fixture.service.evaluation.evaluator.merge_gaps(&fixture.gaps, fixture.result).await.unwrap();
        assert_eq!(fired, Some(1));
        let symbol = "AAPL".parse().unwrap();
        let session = fixture.service.evaluation.evaluator.read(|engine| engine.observed_session(symbol)).unwrap();
        let prices = [session.open, session.high, session.low, session.last].map(Price::as_f64);
        assert_eq!(prices, [198.0, 200.0, 197.0, 198.5]);
    }

    async fn repeated_evaluation_after_a_crash_fires_once(database) {
        let fixture = Fixture::new(database).await;
        let (gaps, result) = evaluate_gap(&fixture.service).await;
        let (service, ann) = (fixture.service.clone(), fixture.ann.clone());
        assert_eq!(fixture.commit().await.0, Some(1));
        // The second process commits afterwards.
        assert_eq!(service.evaluation.evaluator.merge_gaps(&gaps, result).await.unwrap(), Some(0));
        assert_eq!(service.alerts.events_after(&ann, 0, 10).await.unwrap().len(), 1);
    }

    async fn evaluation_from_before_a_split_is_discarded(database) {
        let fixture = Fixture::new(database).await;
        let split = ::market::records::SplitRow {
            symbol: "AAPL".parse().unwrap(),
            date: ::jiff::civil::date(2024, 3, 8),
            ratio: "4".parse().unwrap(),
        };
        fixture.service.market_intake.ingest(Batch { splits: vec![split], ..Batch::default() }).await.unwrap();
        let fired = fixture.service.evaluation.evaluator.merge_gaps(&fixture.gaps, fixture.result).await.unwrap();
        assert_eq!(fired, None);
        assert!(fixture.service.alerts.events_after(&fixture.ann, 0, 10).await.unwrap().is_empty());
    }
}
