//! The live demo: the same service that `serve` runs, with an account, an API key and alerts that fire within
//! seconds.
//!
//! Firings are read as any client reads them: as the account's events, in order. A price alert that fired is rearmed
//! a little further from the price, so that alerts keep firing.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use accounts::access::{ApiKeyParams, NewAccount};
use alerts::{AlertId, Plan};
use anyhow::{Context, bail};
use clap::Args;
use clock::Clock;
use foundation::{Actor, Scope, ServiceError};
use jiff::SignedDuration;
use service::Service;
use service::alerts::Created;

use super::output::{DEMO_EMAIL, DemoDetails, introduction, json_line, readable_line};
use super::webhook::{self, DemoWebhook};
use super::{alert_requests, watchlist};
use crate::metering::Metering;
use crate::serve::{Server, close_or_exit};
use crate::settings::Settings;
use crate::signals::ShutdownSignals;
use crate::terminal::say;

/// The interval of polling for new events.
const POLL_INTERVAL: SignedDuration = SignedDuration::from_millis(200);
/// The maximum number of events per query.
const EVENT_BATCH_SIZE: u32 = 500;
/// The maximum number of catalog rows that are read.
const MAX_STOCKS_READ: usize = 100;
/// The address that the demo uses if it is free.
const DEFAULT_ADDRESS: &str = "127.0.0.1:8080";

/// The options of the demo.
#[derive(Args, Clone, Debug)]
pub struct DemoOptions {
    /// The seed of the simulated market; the same seed gives the same market
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
    /// Print each firing as a JSON line
    #[arg(long)]
    pub json: bool,
    /// Keep the database in this folder, and continue from it the next time
    #[arg(long)]
    pub dir: Option<PathBuf>,
    /// The address to listen on [default: 127.0.0.1:8080, or any free port]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
    /// Stop after this number of seconds
    #[arg(long = "for", value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub lasting: Option<u32>,
    /// Stop after this number of firings; with --for, exit with code 1 if there are fewer in time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub firings: Option<u64>,
}

/// Runs the demo until its end or a shutdown signal.
///
/// # Errors
/// If the service cannot start or fails, or fewer alerts fire than requested.
pub async fn run(options: &DemoOptions, metering: Metering) -> anyhow::Result<()> {
    let mut signals = ShutdownSignals::listen().context("cannot listen for signals")?;
    let temporary = match options.dir {
        Some(_) => None,
        None => Some(tempfile::tempdir().context("cannot create a folder for the database")?),
    };
    let folder = options.dir.as_deref().or(temporary.as_ref().map(|dir| dir.path()));
    let folder = folder.context("there is no folder for the database")?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    let settings = settings(options, folder).await?;
    let server = Server::open(&settings, metering, Some(DEMO_EMAIL)).await?;
    let mut totals = Totals::default();
    let shown = tokio::select! {
        shown = show(&server, options, &mut totals) => shown,
        _ = signals.next() => Ok(()),
    };
    totals.print_message();
    shown.and(close_or_exit(server, signals).await)
}

/// Returns the settings of `serve` with the overrides of the demo.
async fn settings(options: &DemoOptions, folder: &Path) -> anyhow::Result<Settings> {
    let listen = match options.listen {
        Some(address) => address.to_string(),
        None if is_free(DEFAULT_ADDRESS).await => DEFAULT_ADDRESS.to_owned(),
        None => "127.0.0.1:0".to_owned(),
    };
    let database = format!("sqlite://{}", folder.join("demo.db").display());
    let seed = options.seed.to_string();
    Ok(Settings::with_overrides(&[
        ("SERVER__LISTEN", listen.as_str()),
        ("DATABASE__URL", &database),
        ("MARKET__SOURCE", "simulated"),
        ("MARKET__SEED", &seed),
        ("MARKET__ALWAYS_OPEN", "true"),
        ("MARKET__LIVELY", "true"),
        ("WEBHOOKS__ALLOW_PRIVATE_CIDRS", webhook::ALLOWED_CIDR),
    ])?)
}

async fn is_free(address: &str) -> bool {
    tokio::net::TcpListener::bind(address).await.is_ok()
}

/// The totals for the final message.
#[derive(Clone, Copy, Default)]
struct Totals {
    fired: u64,
    received: u64,
    trusted: u64,
}

impl Totals {
    fn print_message(self) {
        let Self {
            fired,
            received,
            trusted,
        } = self;
        say!(
            "\n{fired} alerts have fired, {received} webhook deliveries were received, {trusted} with verified signatures."
        );
    }
}

async fn show(server: &Server, options: &DemoOptions, totals: &mut Totals) -> anyhow::Result<()> {
    let clock = std::sync::Arc::clone(&server.clock);
    say!("Generating two years of simulated market data ...");
    tokio::select! {
        () = server.up_to_date() => {}
        error = server.failed() => return Err(error),
    }
    let password: String = server
        .random
        .bytes::<6>()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let service = server.service.clone();
    let (key, is_new) = account(&service, &password).await?;
    let actor = service.authenticator.authenticate_key(&key).await?;
    let webhook = DemoWebhook::open(&service, &actor).await?;
    let last_seq = last_event_seq(server, &actor).await?;
    let alerts = create_alerts(&service, &actor, clock.as_ref()).await?;
    watchlist::fill(server, &actor).await?;
    let details = DemoDetails {
        address: server.address(),
        key: &key,
        password: is_new.then_some(&*password),
        alerts,
        receiver: webhook.address(),
        webhook: webhook.id(),
    };
    say!("{}", introduction(&details));
    let lasting = options.lasting.map(|seconds| SignedDuration::from_secs(seconds.into()));
    let end = lasting.and_then(|lasting| clock.now().checked_add(lasting).ok());
    let mut watcher = FiringWatcher {
        service,
        actor,
        last_seq,
        fired: 0,
        wanted_firings: options.firings,
        as_json: options.json,
        webhook,
    };
    loop {
        let is_enough = watcher.poll(server).await?;
        *totals = watcher.totals();
        if is_enough {
            watcher.catch_up(clock.as_ref()).await;
            *totals = watcher.totals();
            return Ok(());
        }
        let next = clock
            .now()
            .saturating_add(POLL_INTERVAL)
            .context("the clock is at its maximum")?;
        if let Some(end) = end
            && next > end
        {
            watcher.catch_up(clock.as_ref()).await;
            *totals = watcher.totals();
            return watcher.check_firings();
        }
        tokio::select! {
            () = clock.sleep_until(next) => {}
            error = server.failed() => return Err(error),
        }
    }
}

/// Creates a new key with all scopes for the demo's account. Also returns whether the account is new.
async fn account(service: &Service, password: &str) -> anyhow::Result<(String, bool)> {
    let user = NewAccount {
        email: DEMO_EMAIL.to_owned(),
        password: password.to_owned(),
        plan: Plan::Premium,
        is_operator: true,
        is_verified: true,
    };
    let is_new = match service.accounts.create_account(user).await {
        Ok(_) => true,
        // The folder contains the database of an earlier demo.
        Err(ServiceError::Conflict(_)) => false,
        Err(error) => return Err(error.into()),
    };
    let key = ApiKeyParams {
        name: "demo".to_owned(),
        scopes: Scope::ALL.to_vec(),
    };
    Ok((
        service.accounts.create_api_key_for_email(DEMO_EMAIL, key).await?.secret,
        is_new,
    ))
}

/// Creates the alerts and returns their number.
async fn create_alerts(service: &Service, actor: &Actor, clock: &dyn Clock) -> anyhow::Result<usize> {
    let stocks = service.stocks.search_stocks("", MAX_STOCKS_READ);
    let mut stocks_read = Vec::with_capacity(stocks.len());
    for row in &stocks {
        let view = service.stocks.stock(row.symbol).await?;
        stocks_read.push((view, service.stocks.fundamentals(row.symbol).await?));
    }
    let bodies = alert_requests::create_bodies(&stocks_read, clock.now());
    for body in &bodies {
        match service.alerts.create_alert(actor, body).await {
            Ok(Created::New(_) | Created::Existing(_)) => {}
            Err(error) => bail!("cannot create the alert {body}: {error}"),
        }
    }
    Ok(bodies.len())
}

async fn last_event_seq(server: &Server, actor: &Actor) -> anyhow::Result<i64> {
    let mut last_seq = 0;
    loop {
        let events = server
            .store
            .events_after(actor.account, last_seq, EVENT_BATCH_SIZE)
            .await?;
        match events.last() {
            Some(last) => last_seq = last.seq,
            None => return Ok(last_seq),
        }
    }
}

/// The state of reading and printing firings.
struct FiringWatcher {
    service: Service,
    actor: Actor,
    last_seq: i64,
    fired: u64,
    wanted_firings: Option<u64>,
    as_json: bool,
    webhook: DemoWebhook,
}

impl FiringWatcher {
    fn totals(&self) -> Totals {
        let (received, trusted) = self.webhook.counts();
        Totals {
            fired: self.fired,
            received,
            trusted,
        }
    }

    /// Waits for pending webhook deliveries.
    async fn catch_up(&mut self, clock: &dyn Clock) {
        let received_lines = self.webhook.catch_up(self.fired, clock).await;
        self.show_received(&received_lines);
    }

    /// With `--json`, standard output contains only firings.
    fn show_received(&self, lines: &[String]) {
        for line in lines.iter().filter(|_| !self.as_json) {
            let _ = writeln!(io::stdout(), "{line}");
        }
    }

    /// Prints the firings since the last poll, and rearms their alerts. Returns whether the wanted number is reached.
    async fn poll(&mut self, server: &Server) -> anyhow::Result<bool> {
        let events = server
            .store
            .events_after(self.actor.account, self.last_seq, EVENT_BATCH_SIZE)
            .await?;
        for event in events {
            self.last_seq = event.seq;
            let line = if self.as_json {
                json_line(&event)
            } else {
                readable_line(&event)
            };
            match writeln!(io::stdout(), "{line}") {
                // The reader has closed the pipe (`| head`).
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(true),
                written => written.context("cannot write to standard output")?,
            }
            self.fired += 1;
            if self
                .wanted_firings
                .is_some_and(|wanted_firings| self.fired >= wanted_firings)
            {
                return Ok(true);
            }
            self.rearm(event.alert).await?;
        }
        // Deliveries are printed after the firings that caused them.
        let received_lines = self.webhook.received_lines();
        self.show_received(&received_lines);
        Ok(false)
    }

    /// Rearms a price alert.
    async fn rearm(&self, id: AlertId) -> Result<(), ServiceError> {
        let changed = self.try_rearm(id).await;
        match changed {
            // A user of the demo may have deleted or changed the alert through the API.
            Err(ServiceError::NotFound(_) | ServiceError::UnknownStock { .. } | ServiceError::Invalid { .. }) => Ok(()),
            changed => changed,
        }
    }

    async fn try_rearm(&self, id: AlertId) -> Result<(), ServiceError> {
        let detail = self.service.alerts.alert(&self.actor, id).await?;
        let condition = detail.stored.alert.condition.kind().name();
        let Some(price) = detail.stock.last_price else {
            return Ok(());
        };
        for body in alert_requests::rearm_bodies(condition, price) {
            match self.service.alerts.update_alert(&self.actor, id, &body).await {
                // Another alert waits at this level already.
                Err(ServiceError::Conflict(_)) => continue,
                updated => updated?,
            };
            self.service.alerts.activate_alert(&self.actor, id).await?;
            break;
        }
        Ok(())
    }

    fn check_firings(&self) -> anyhow::Result<()> {
        match self.wanted_firings {
            Some(wanted_firings) => bail!("{} alerts fired in time, not {wanted_firings}", self.fired),
            None => Ok(()),
        }
    }
}
