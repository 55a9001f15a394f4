//! What happens to an alert between its judging and the commit.

use std::sync::Arc;

use ::alerts::{AlertId, Plan, Status};
use ::market::Calendar;
use ::market::records::Batch;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::json;
use sources::ManualClock;
use store::{Store, StoreOptions};
use testkit::{Database, on_both_databases};

use super::*;
use crate::access::{NewKey, NewUser};
use crate::alerts::Created;
use crate::vault::Vault;
use crate::webhooks::Network;
use crate::{Actor, Chance, Clock, Ports, Scope, Service, Settings};

const NOW: &str = "2024-03-08T15:20:00Z";

/// A service with an alert on 199 or more, made before a gap in which the price was 200. It was judged; nothing is committed.
struct Stage {
    service: Service,
    ann: Actor,
    alert: AlertId,
    gaps: Gaps,
    found: Found,
}

fn settings() -> Settings {
    Settings {
        calendar: Calendar::nyse(),
        engine: ::alerts::engine::EngineConfig::default(),
        benchmark: "SPY".parse().unwrap(),
        missing_feeds: Vec::new(),
        follow_every: jiff::SignedDuration::from_secs(1),
        compare_every: jiff::SignedDuration::from_mins(5),
        webhooks: crate::webhooks::Settings::default(),
        public_url: "https://alerts.example.com".to_owned(),
        identity: crate::identity::Settings::default(),
        messages: crate::messages::Settings::default(),
        analyst: crate::analyst::Settings::default(),
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
    }
}

impl Stage {
    async fn set(database: &Database) -> Self {
        let clock = Arc::new(ManualClock::new("2024-03-08T15:00:00Z".parse().unwrap()));
        let ports = Ports {
            store: Store::open(StoreOptions::new(database.url())).await.unwrap(),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            chance: Arc::new(Chance::new(Box::new(ChaCha20Rng::seed_from_u64(1)))),
            vault: Arc::new(Vault::new(b"a key for tests")),
            network: Network::by_clock(&(Arc::clone(&clock) as Arc<dyn Clock>)),
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
            panic!("there was one already");
        };
        clock.set(NOW.parse().unwrap());
        let (gaps, found) = judged(&service).await;
        assert_eq!(found.decisions.len(), 1);
        let alert = made.stored.alert.id;
        Self {
            service,
            ann,
            alert,
            gaps,
            found,
        }
    }

    /// Commits what was judged, and tells how many alerts have fired and what this one is then.
    async fn commit(self) -> (Option<u64>, Status, usize) {
        let fired = self.service.evaluator.rejoin(&self.gaps, self.found).await.unwrap();
        let detail = self.service.alerts.alert(&self.ann, self.alert).await.unwrap();
        let events = self.service.alerts.events_after(&self.ann, 0, 10).await.unwrap();
        // Whatever became of it, the live engine knows.
        assert_eq!(self.service.compare().await.unwrap(), 0);
        (fired, detail.stored.alert.status, events.len())
    }
}

async fn judged(service: &Service) -> (Gaps, Found) {
    let rows = [row("200", "2024-03-08T15:10:00Z"), row("197", "2024-03-08T15:15:00Z")];
    let evaluator = &service.evaluator;
    let gaps = Arc::new(evaluator.gaps([("AAPL".parse().unwrap(), &rows[..])], |_, _| None));
    let found = evaluator.rerun(&gaps).await.unwrap();
    (Arc::into_inner(gaps).unwrap(), found)
}

async fn ann(service: &Service) -> Actor {
    let email = "ann@example.com".to_owned();
    let user = NewUser {
        email: email.clone(),
        password: "correct horse".to_owned(),
        plan: Plan::Premium,
        is_operator: false,
        is_verified: true,
    };
    service.accounts.create_user(user).await.unwrap();
    let key = NewKey {
        name: "key".to_owned(),
        scopes: Scope::PUBLIC.to_vec(),
    };
    let key = service.accounts.create_key_for(&email, key).await.unwrap();
    service.authenticator.authenticate_key(&key.secret).await.unwrap()
}

on_both_databases! {
    async fn an_alert_that_stays_as_it_was_fires(database) {
        assert_eq!(Stage::set(database).await.commit().await, (Some(1), Status::Triggered, 1));
    }

    async fn an_alert_that_is_paused_meanwhile_does_not_fire(database) {
        let stage = Stage::set(database).await;
        stage.service.alerts.pause_alert(&stage.ann, stage.alert).await.unwrap();
        assert_eq!(stage.commit().await, (Some(0), Status::Paused, 0));
    }

    async fn an_alert_that_is_changed_meanwhile_is_judged_by_what_it_is_now(database) {
        let stage = Stage::set(database).await;
        let change = json!({"threshold": 199.5});
        stage.service.alerts.update_alert(&stage.ann, stage.alert, &change).await.unwrap();
        assert_eq!(stage.commit().await, (Some(0), Status::Active, 0));
    }

    async fn an_alert_that_is_deleted_meanwhile_does_not_fire(database) {
        let stage = Stage::set(database).await;
        stage.service.alerts.delete_alert(&stage.ann, stage.alert).await.unwrap();
        let fired = stage.service.evaluator.rejoin(&stage.gaps, stage.found).await.unwrap();
        assert_eq!(fired, Some(0));
        assert_eq!(stage.service.compare().await.unwrap(), 0);
    }

    async fn an_alert_that_a_live_price_fires_meanwhile_fires_once(database) {
        let stage = Stage::set(database).await;
        let quotes = vec![row("201", NOW)];
        stage.service.market_intake.ingest(Batch { quotes, ..Batch::default() }).await.unwrap();
        assert_eq!(stage.service.alerts.alert(&stage.ann, stage.alert).await.unwrap().stored.alert.status, Status::Triggered);
        assert_eq!(stage.commit().await, (Some(0), Status::Triggered, 1));
    }

    async fn a_price_that_is_seen_meanwhile_stays_the_last_one(database) {
        let stage = Stage::set(database).await;
        let quotes = vec![row("198.5", NOW)];
        stage.service.market_intake.ingest(Batch { quotes, ..Batch::default() }).await.unwrap();
        let fired = stage.service.evaluator.rejoin(&stage.gaps, stage.found).await.unwrap();
        assert_eq!(fired, Some(1));
        let symbol = "AAPL".parse().unwrap();
        let session = stage.service.evaluator.read(|engine| engine.observed_session(symbol)).unwrap();
        let prices = [session.open, session.high, session.low, session.last].map(Price::as_f64);
        assert_eq!(prices, [198.0, 200.0, 197.0, 198.5]);
    }

    async fn what_a_process_that_died_had_judged_is_judged_again_and_fires_once(database) {
        let stage = Stage::set(database).await;
        let (gaps, found) = judged(&stage.service).await;
        let (service, ann) = (stage.service.clone(), stage.ann.clone());
        assert_eq!(stage.commit().await.0, Some(1));
        // The other one comes to it after all.
        assert_eq!(service.evaluator.rejoin(&gaps, found).await.unwrap(), Some(0));
        assert_eq!(service.alerts.events_after(&ann, 0, 10).await.unwrap().len(), 1);
    }

    async fn what_was_judged_before_a_split_is_judged_anew(database) {
        let stage = Stage::set(database).await;
        let split = ::market::records::SplitRow {
            symbol: "AAPL".parse().unwrap(),
            date: ::jiff::civil::date(2024, 3, 8),
            ratio: "4".parse().unwrap(),
        };
        stage.service.market_intake.ingest(Batch { splits: vec![split], ..Batch::default() }).await.unwrap();
        let fired = stage.service.evaluator.rejoin(&stage.gaps, stage.found).await.unwrap();
        assert_eq!(fired, None);
        assert!(stage.service.alerts.events_after(&stage.ann, 0, 10).await.unwrap().is_empty());
    }
}
