//! The time and the memory that a start with a million active alerts takes.
//!
//! `cargo bench -p service --bench start` (1,000,000 alerts; set `ALERTS=...` for another number, and `DATABASE=...` to
//! keep the file and measure it again). It prints the time until the service is ready, the time for reading the rows
//! alone (the part that the database determines), and the additional resident memory per alert.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    missing_docs,
    reason = "a bench may fail so"
)]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use alerts::alert::NewAlert;
use alerts::request::{ParseContext, parse_create};
use alerts::transition::{self, OwnerVerification, PriceAvailability};
use alerts::{AlertId, Plan};
use clock::{Clock, ManualClock};
use foundation::{Ports, Random};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use market::Calendar;
use serde_json::{Value, json};
use service::{Service, ServiceConfig};
use store::model::{Account, AccountId, AlertOwner, HistoryRow, StoredAlert};
use store::{Store, StoreOptions};
use uuid::Uuid;

/// The number of alerts that one transaction writes.
const ALERTS_PER_TRANSACTION: usize = 5_000;
const STOCKS: usize = 10_000;
const MAX_START_SECONDS: f64 = 3.0;
const MAX_BYTES_PER_ALERT: f64 = 300.0;

fn main() {
    let count: usize = std::env::var("ALERTS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1_000_000);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = std::env::var("DATABASE").map_or_else(|_| folder.path().join("bench.db"), PathBuf::from);
    let url = format!("sqlite://{}", file.display());
    if !file.exists() {
        runtime.block_on(fill(&url, count));
    }
    let before = resident_bytes();
    let (read, _) = timed(|| runtime.block_on(read_only(&url)));
    let (start, service) = timed(|| runtime.block_on(start(&url)));
    let per_alert = resident_bytes().saturating_sub(before) as f64 / count as f64;
    println!("{count} active alerts on {STOCKS} stocks");
    println!(
        "ready after {:.2} s, {:.2} s of processor time; reading the rows alone takes {:.2} s, {:.2} s of processor time",
        start.elapsed.as_secs_f64(),
        start.processor.as_secs_f64(),
        read.elapsed.as_secs_f64(),
        read.processor.as_secs_f64(),
    );
    let ready = start.elapsed.as_secs_f64();
    let found = format!("ready after {ready:.2} s, goal at most {MAX_START_SECONDS} s");
    testkit::print_goal(
        &format!("start with {count} alerts"),
        &found,
        ready <= MAX_START_SECONDS,
    );
    let found = format!("{per_alert:.0} bytes an alert, goal at most {MAX_BYTES_PER_ALERT}");
    testkit::print_goal("resident memory", &found, per_alert <= MAX_BYTES_PER_ALERT);
    runtime.block_on(service.stop());
}

async fn start(url: &str) -> Service {
    let clock = Arc::new(ManualClock::new(now())) as Arc<dyn Clock>;
    let ports = Ports {
        store: Store::open(StoreOptions::new(url)).await.unwrap(),
        network: foundation::Network::new(Arc::clone(&clock)),
        vault: Arc::new(foundation::vault::Vault::new(b"a key for a bench")),
        clock,
        random: Arc::new(Random::new(Box::new(Counting(0)))),
    };
    let settings = ServiceConfig {
        evaluation: evaluation::EvaluationConfig {
            calendar: Calendar::nyse(),
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
    };
    Service::start(ports, settings).await.unwrap()
}

async fn read_only(url: &str) {
    let store = Store::open(StoreOptions::new(url)).await.unwrap();
    let mut rows = 0;
    store.active_alerts(&mut |alerts| rows += alerts.len()).await.unwrap();
    assert!(rows > 0);
    store.close().await;
}

fn now() -> Timestamp {
    "2024-03-08T15:00:00Z".parse().unwrap()
}

/// Writes alerts of five kinds, spread over the stocks.
async fn fill(url: &str, count: usize) {
    let store = Store::open(StoreOptions::new(url)).await.unwrap();
    let account = AccountId(Uuid::from_u128(1));
    let added = store.commit(owner(account), |owner, unit| Box::pin(unit.insert_account(owner)));
    added.await.unwrap();
    for from in (0..count).step_by(ALERTS_PER_TRANSACTION) {
        let to = count.min(from + ALERTS_PER_TRANSACTION);
        let added = store.commit((), move |(), unit| {
            Box::pin(async move {
                let calendar = Calendar::nyse();
                let context = ParseContext {
                    now: now(),
                    time_zone: &TimeZone::UTC,
                    calendar: &calendar,
                };
                for number in from..to {
                    let asked = parse_create(&body(number), &context).unwrap();
                    let (alert, row) = alert(number, asked, account);
                    unit.insert_alert(&alert, &row).await?;
                }
                Ok(())
            })
        });
        added.await.unwrap();
    }
    store.close().await;
}

fn body(number: usize) -> Value {
    let symbol = format!("S{}", number % STOCKS);
    let threshold = 50.0 + (number % 997) as f64 / 10.0;
    match number % 5 {
        0 => json!({"symbol": symbol, "condition": "price_above", "threshold": 100.0 + threshold}),
        1 => json!({"symbol": symbol, "condition": "price_below", "threshold": threshold}),
        2 => json!({"symbol": symbol, "condition": "price_change_up", "threshold": threshold / 10.0}),
        3 => json!({"symbol": symbol, "condition": "rsi_limit", "threshold": 70, "parameters": {"direction": "above"}}),
        _ => json!({"symbol": symbol, "condition": "volume_change", "threshold": threshold}),
    }
}

fn alert(number: usize, asked: NewAlert, account: AccountId) -> (StoredAlert, HistoryRow) {
    // Far apart, like random ids.
    let id = AlertId(Uuid::from_u128(
        (number as u128 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835),
    ));
    let price = market::Price::from_micros(100_000_000).unwrap();
    let mut created = transition::create(
        asked,
        id,
        OwnerVerification::Verified,
        PriceAvailability::Awaited,
        now(),
    )
    .unwrap();
    created.alert.initial_price = Some(price);
    let row = HistoryRow {
        alert: id,
        symbol: created.alert.symbol,
        entry: created.entry,
        at: now(),
        price: None,
        details: None,
    };
    let stored = StoredAlert {
        alert: created.alert,
        owner: AlertOwner::Account(account),
        created_by: None,
        role: store::model::ScopeRole::Single,
        managed_by: None,
    };
    (stored, row)
}

fn owner(id: AccountId) -> Account {
    Account {
        id,
        email: "bench@example.com".to_owned(),
        password_hash: None,
        full_name: None,
        plan: Plan::Premium,
        is_operator: false,
        is_verified: true,
        time_zone: "UTC".to_owned(),
        created_at: now(),
        profile: store::model::Profile::default(),
    }
}

/// A counter as random generator: ids need not be secret here.
struct Counting(u64);

impl rand::RngCore for Counting {
    fn next_u32(&mut self) -> u32 {
        u32::try_from(self.next_u64() % (1 << 32)).unwrap()
    }

    fn next_u64(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = u8::try_from(self.next_u64() % 256).unwrap();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn timed<T>(work: impl FnOnce() -> T) -> (Timing, T) {
    let (began, processor) = (std::time::Instant::now(), processor_time());
    let result = work();
    let timing = Timing {
        elapsed: began.elapsed(),
        processor: processor_time().saturating_sub(processor),
    };
    (timing, result)
}

struct Timing {
    elapsed: Duration,
    /// Of all threads. It hardly depends on other work on the machine.
    processor: Duration,
}

/// Returns the processor time of the threads of the process so far; 0 if the system does not report it.
fn processor_time() -> Duration {
    testkit::thread_times("self").values().sum()
}

/// Returns the resident memory of the process; 0 if the system does not report it.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap_or_default();
    let kib: u64 = line
        .split_whitespace()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or_default();
    kib * 1024
}
