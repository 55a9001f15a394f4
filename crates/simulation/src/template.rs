//! The state with which each simulation starts: a database with accounts, webhooks and prices, made once by the service itself.

use std::sync::Arc;
use std::time::Duration;

use ::clock::{Clock, ManualClock};
use accounts::access::{ApiKeyParams, NewAccount};
use alerts::Plan as AccountPlan;
use anyhow::Context;
use delivery::messages::{EmailConfig, MessagesConfig};
use foundation::vault::Vault;
use foundation::{Actor, Network, Ports, Random, Scope};
use jiff::{SignedDuration, Timestamp};
use notify::email::SmtpConfig;
use notify::schedule::RetrySchedule;
use rand::SeedableRng;
use rand_chacha::{ChaCha8Rng, ChaCha20Rng};
use serde_json::{Value, json};
use service::{Service, ServiceConfig};
use store::{Store, StoreOptions};

use crate::disk::{self, DiskImage};
use crate::former_schema::FormerSchemas;
use crate::network::{MAIL_HOST, SimulatedNetwork, host};
use crate::plan::{FIRST_PRICE, STOCKS};
use crate::threads::{Delays, OneThread};

/// The time of the first process: a Friday, half an hour after the open.
const OPEN: &str = "2024-03-08T15:00:00Z";
/// The time of the first process of the second session, half an hour after the open of the next Monday.
const SECOND_SESSION: &str = "2024-03-11T14:00:00Z";
/// The day of the splits, in New York.
pub(crate) const SPLIT_DAY: &str = "2024-03-11";
/// The time from the preparation to the first process.
const FIRST_START: SignedDuration = SignedDuration::from_secs(60);
/// The interval of retries. There are so many that no delivery is given up before the faults end.
const RETRY_DELAY: SignedDuration = SignedDuration::from_secs(2);
const MAX_RETRIES: usize = 500;
/// The timeout of an attempt to send an email.
const MAIL_TIMEOUT: Duration = Duration::from_secs(20);
/// The time within which the threads that made the template end, in milliseconds.
const MAX_THREAD_WAIT_MS: u32 = 60_000;
/// The number of separate emails to an address within a minute; more of them become one.
const BURST_LIMIT: u32 = 3;

/// The state with which each simulation starts.
#[derive(Clone, Debug)]
pub struct Template {
    pub(crate) image: DiskImage,
    pub(crate) former_schemas: FormerSchemas,
    pub(crate) operator: Actor,
    pub(crate) users: Vec<Actor>,
    pub(crate) url: String,
    pub(crate) time: Timestamp,
    /// The time of the first process of the second session.
    pub(crate) second_session: Timestamp,
    /// The database file of the machine, which stays empty.
    _folder: Arc<tempfile::TempDir>,
}

/// The receivers of the webhooks of a user: the first user has two, the second one.
pub(crate) fn receivers_of(user: usize) -> Vec<usize> {
    match user {
        0 => vec![0, 1],
        1 => vec![2],
        _ => Vec::new(),
    }
}

/// The symbol of a stock.
pub(crate) fn symbol(stock: usize) -> &'static str {
    ["ACME", "BOLT", "CORE"][stock]
}

/// Opens the store on the simulated disk, on this thread alone.
pub(crate) async fn open_store(url: &str, delays: Arc<Delays>) -> Result<Store, store::StoreError> {
    let options = StoreOptions {
        threads: Some(Arc::new(OneThread(delays))),
        ..StoreOptions::new(url)
    };
    Store::open(options).await
}

/// The external dependencies of the service, all of them simulated.
pub(crate) fn ports(store: Store, clock: Arc<dyn Clock>, simulated: &SimulatedNetwork, random: ChaCha20Rng) -> Ports {
    let mut network = Network::new(Arc::clone(&clock));
    network.resolver = Arc::new(simulated.clone());
    network.dialer = Arc::new(simulated.clone());
    Ports {
        store,
        clock,
        random: Arc::new(Random::new(Box::new(random))),
        vault: Arc::new(Vault::new(b"a key for simulations")),
        network,
    }
}

/// The settings of the service. Without a mail server, it keeps its emails for the operator.
pub(crate) fn settings(has_mail_server: bool) -> anyhow::Result<ServiceConfig> {
    let retry_delays = RetrySchedule::new(vec![RETRY_DELAY; MAX_RETRIES]);
    let smtp = SmtpConfig {
        url: format!("smtp://{MAIL_HOST}?tls=none"),
        from: "alerts@example.com".to_owned(),
        hello_name: Some("alerts.example.com".to_owned()),
        extra_roots: Vec::new(),
        timeout: MAIL_TIMEOUT,
    };
    Ok(ServiceConfig {
        evaluation: evaluation::EvaluationConfig {
            calendar: market::Calendar::nyse(),
            engine: alerts::engine::EngineConfig::default(),
            benchmark: "SPY".parse()?,
            missing_feeds: Vec::new(),
            follow_every: SignedDuration::from_secs(1),
            compare_every: SignedDuration::from_mins(5),
        },
        delivery: delivery::DeliveryConfig {
            public_url: "https://alerts.example.com".to_owned(),
            messages: MessagesConfig {
                email: EmailConfig {
                    smtp: has_mail_server.then_some(smtp),
                    retry_delays: retry_delays.clone(),
                    ..EmailConfig::default()
                },
                ..MessagesConfig::default()
            },
            channels: delivery::notification_channels::ChannelServicesConfig {
                burst_limit: BURST_LIMIT,
                ..delivery::notification_channels::ChannelServicesConfig::default()
            },
            webhooks: delivery::webhooks::WebhooksConfig {
                allow_private: vec!["10.0.0.0/8".parse()?],
                retry_delays,
                ..delivery::webhooks::WebhooksConfig::default()
            },
        },
        identity: accounts::identity::IdentityConfig::default(),
        analyst: watchlist::analyst::AnalystConfig::default(),
        cluster: None,
    })
}

/// The number of threads of this process. Where the system does not tell it, 0.
fn running_threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

/// Waits until this process has at most this number of threads: those that hash passwords end a moment later than the service, and a fork
/// while one of them holds a lock would hang.
#[expect(clippy::disallowed_methods, reason = "the end of another thread is no event")]
fn wait_for_threads(most: usize) -> anyhow::Result<()> {
    for _ in 0..MAX_THREAD_WAIT_MS {
        if running_threads() <= most {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    anyhow::bail!("threads that made the template still run")
}

impl Template {
    /// Makes the template. The simulated disk becomes the file system of SQLite in this process.
    ///
    /// # Errors
    /// If the service does not start or refuses a request.
    pub fn make() -> anyhow::Result<Self> {
        let threads = running_threads();
        let made = std::thread::spawn(|| {
            crate::entropy::reseed(0);
            disk::register();
            disk::load(&DiskImage::new());
            let runtime = crate::runtime()?;
            runtime.block_on(Self::make_here())
        });
        let made = made.join().map_err(|_| anyhow::anyhow!("the template panicked"))?;
        wait_for_threads(threads)?;
        made
    }

    async fn make_here() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a folder")?;
        let url = format!("sqlite://{}", folder.path().join("simulated.db").display());
        let time: Timestamp = OPEN.parse()?;
        // Passwords are hashed on other threads, and virtual time would advance by chance meanwhile.
        let clock = Arc::new(ManualClock::new(time));
        let store = open_store(&url, Delays::new(ChaCha8Rng::seed_from_u64(0))).await?;
        let ports = ports(
            store,
            clock,
            &SimulatedNetwork::new(false),
            ChaCha20Rng::seed_from_u64(0),
        );
        let service = Service::start(ports, settings(false)?).await?;
        let operator = account(&service, "operator@example.com", AccountPlan::Premium, true).await?;
        let users = vec![
            account(&service, "ann@example.com", AccountPlan::Premium, false).await?,
            account(&service, "bob@example.com", AccountPlan::Basic, false).await?,
        ];
        for (user, actor) in users.iter().enumerate() {
            for receiver in receivers_of(user) {
                let url = format!("http://{}/hook", host(receiver));
                let body = json!({"url": url, "events": ["alert.triggered"]});
                service.webhooks.create_webhook(actor, &body).await?;
            }
        }
        let stocks: Vec<Value> = (0..STOCKS)
            .map(|stock| json!({"symbol": symbol(stock), "name": symbol(stock)}))
            .collect();
        let quotes: Vec<Value> = (0..STOCKS).map(|stock| quote(stock, FIRST_PRICE)).collect();
        service
            .market
            .ingest_json(&operator, &json!({"stocks": stocks, "quotes": quotes}))
            .await?;
        service.stop().await;
        Ok(Self {
            image: disk::image(),
            former_schemas: FormerSchemas::make(&url)?,
            operator,
            users,
            url,
            time: time + FIRST_START,
            second_session: SECOND_SESSION.parse()?,
            _folder: Arc::new(folder),
        })
    }
}

/// The body of a quote.
pub(crate) fn quote(stock: usize, price: i64) -> Value {
    json!({"symbol": symbol(stock), "price": dollars(price)})
}

/// Converts cents to dollars for JSON.
pub(crate) fn dollars(cents: i64) -> f64 {
    f64::from(i32::try_from(cents).unwrap_or(i32::MAX)) / 100.0
}

async fn account(service: &Service, email: &str, plan: AccountPlan, is_operator: bool) -> anyhow::Result<Actor> {
    let user = NewAccount {
        email: email.to_owned(),
        password: "correct horse".to_owned(),
        plan,
        is_operator,
        is_verified: true,
    };
    service.accounts.create_account(user).await?;
    let scopes = if is_operator { Scope::ALL } else { Scope::PUBLIC };
    let key = ApiKeyParams {
        name: format!("key of {email}"),
        scopes: scopes.to_vec(),
    };
    let key = service.accounts.create_api_key_for_email(email, key).await?;
    Ok(service.authenticator.authenticate_key(&key.secret).await?)
}
