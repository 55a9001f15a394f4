//! # Serving: startup, shutdown and the running server
//!
//! A [`Server`] is the service with its database, its market data source and its HTTP server. Startup goes from
//! dependency to dependent: First the addresses are bound, so that a second program on the same port does not touch
//! the database. Then the database is opened, the service starts, and the source gets the saved market state.
//! Requests are accepted last.
//!
//! Deliveries run on a separate runtime (`delivery_runtime.rs`), so that receivers that flood or hang do not delay
//! other work.
//!
//! Shutdown goes in reverse order: New requests are refused and running ones are answered, new deliveries stop, the
//! service commits what was decided, and the delivery runtime ends. A second signal ends the process at once. This
//! loses nothing that was acknowledged, because that is on disk.

mod delivery_runtime;
mod source;
mod web;

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use clock::Clock;
use evaluation::feed::ProviderSetup;
use foundation::{Ports, Random};
use service::Service;
use store::Store;
use tokio::task::JoinHandle;

use crate::metering::Metering;
use crate::settings::{Settings, SourceKind};
use crate::signals::ShutdownSignals;
use crate::wiring::providers::build_providers;
use crate::{terminal, wiring};
use delivery_runtime::DeliveryRuntime;
use source::RunningSource;
use web::{BoundListeners, HttpServer};

/// The running server.
pub struct Server {
    /// The use cases.
    pub service: Service,
    /// The database.
    pub store: Store,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of random ids and secrets.
    pub random: Arc<Random>,
    source: RunningSource,
    web: HttpServer,
    upkeep: JoinHandle<()>,
    deliveries: Option<DeliveryRuntime>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("web", &self.web).finish_non_exhaustive()
    }
}

impl Server {
    /// Builds the server and starts serving. The demo has the address of an account that its link signs in to.
    ///
    /// # Errors
    /// If an address is in use, or the database cannot be opened or read.
    pub async fn open(settings: &Settings, metering: Metering, demo_account: Option<&str>) -> anyhow::Result<Self> {
        // The address is bound first, so that a second program on the same port does not touch the database.
        let listeners = BoundListeners::bind(&settings.server).await?;
        let mut ports = wiring::ports(settings).await?;
        let deliveries = DeliveryRuntime::start()?;
        if let Some(handle) = deliveries.handle() {
            ports.network = ports.network.on_runtime(handle);
        }
        let providers = match settings.market.source {
            // A node of a cluster builds them when it has the lease.
            SourceKind::Providers if !settings.cluster.is_node() => {
                let seed = u64::from_le_bytes(ports.random.bytes());
                Some(build_providers(settings, Arc::clone(&ports.clock), seed)?)
            }
            SourceKind::Providers | SourceKind::Simulated | SourceKind::File | SourceKind::Push => None,
        };
        let mut server = Self::build(settings, listeners, ports, providers, metering, demo_account).await?;
        server.deliveries = Some(deliveries);
        Ok(server)
    }

    /// Builds the server with the given database, clock and providers.
    ///
    /// # Errors
    /// The same as [`open`](Self::open).
    pub async fn with_ports(
        settings: &Settings,
        ports: Ports,
        providers: Option<ProviderSetup>,
        metering: Metering,
    ) -> anyhow::Result<Self> {
        let listeners = BoundListeners::bind(&settings.server).await?;
        Self::build(settings, listeners, ports, providers, metering, None).await
    }

    async fn build(
        settings: &Settings,
        listeners: BoundListeners,
        ports: Ports,
        providers: Option<ProviderSetup>,
        metering: Metering,
        demo_account: Option<&str>,
    ) -> anyhow::Result<Self> {
        let mut service_settings = wiring::service_settings(settings)?;
        service_settings.cluster = wiring::cluster::config(settings, &ports.store).await?;
        if settings.server.public_url.is_none() {
            // With port 0 the system assigns a free port.
            service_settings.delivery.public_url = format!("http://{}", listeners.address());
        }
        // Before the service ingests anything, because a simulated market continues from the saved quotes.
        let saved = source::config(&settings.market, &ports.store, providers)
            .await
            .context("cannot read the saved market state")?;
        let service = Service::start(ports.clone(), service_settings)
            .await
            .context("cannot start the service")?;
        let source = RunningSource::start(settings, saved, &service, &ports);
        let web = HttpServer::start(listeners, settings, &service, &ports, metering.clone(), demo_account)?;
        Ok(Self {
            service,
            store: ports.store,
            clock: ports.clock,
            random: ports.random,
            source,
            web,
            upkeep: tokio::spawn(metering.upkeep()),
            deliveries: None,
        })
    }

    /// Returns the address of the API.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.web.address()
    }

    /// Returns the address of health and metrics, if it is separate.
    #[must_use]
    pub fn ops_address(&self) -> Option<SocketAddr> {
        self.web.ops_address()
    }

    /// Waits until the source has delivered its first current data. Returns at once without a source.
    pub async fn up_to_date(&self) {
        self.source.up_to_date().await;
    }

    /// Waits until a component of the server fails.
    pub async fn failed(&self) -> anyhow::Error {
        tokio::select! {
            error = self.web.failed() => error,
            error = self.source.failed() => error.into(),
        }
    }

    /// Shuts down: answers running requests, ingests received updates and commits decisions.
    ///
    /// # Errors
    /// If the HTTP server failed.
    pub async fn close(self) -> anyhow::Result<()> {
        let stopped = self.web.stop().await;
        self.source.stop().await;
        self.service.stop().await;
        // The dispatchers have ended with the service.
        drop(self.deliveries);
        self.upkeep.abort();
        stopped
    }
}

/// Runs the service until a shutdown signal.
///
/// # Errors
/// If the service cannot start, or fails while it runs.
pub async fn run(settings: &Settings, metering: Metering) -> anyhow::Result<()> {
    let mut signals = ShutdownSignals::listen().context("cannot listen for signals")?;
    let server = Server::open(settings, metering, None).await?;
    announce(&server)?;
    announce_first_account(&server).await?;
    let ended = tokio::select! {
        signal = signals.next() => {
            tracing::info!(signal, "stopping: running requests are answered");
            Ok(())
        }
        error = server.failed() => Err(error),
    };
    ended.and(close_or_exit(server, signals).await)?;
    tracing::info!("stopped");
    Ok(())
}

/// Prints the addresses, also for programs that start the service on a free port.
fn announce(server: &Server) -> anyhow::Result<()> {
    let mut text = format!("bellwether listens on http://{}\n", server.address());
    if let Some(address) = server.ops_address() {
        text += &format!("health and metrics are on http://{address}\n");
    }
    terminal::print(&text).context("cannot write to standard output")?;
    tracing::info!(address = %server.address(), version = env!("CARGO_PKG_VERSION"), "listening");
    Ok(())
}

/// Tells the operator of a service without accounts how to create the first one.
async fn announce_first_account(server: &Server) -> anyhow::Result<()> {
    let identity = &server.service.identity;
    if identity.has_accounts().await? {
        return Ok(());
    }
    let url = format!("{}/first-account", identity.public_url());
    let code = identity.first_account_code();
    let text =
        format!("no account exists yet; create the first one at {url} (from another machine with the code {code})\n");
    terminal::print(&text).context("cannot write to standard output")
}

/// Shuts the server down. Another signal meanwhile exits the process.
pub(crate) async fn close_or_exit(server: Server, mut signals: ShutdownSignals) -> anyhow::Result<()> {
    tokio::select! {
        closed = server.close() => closed,
        signal = signals.next() => {
            tracing::warn!(signal, "exiting at once because of a second signal");
            std::process::exit(1);
        }
    }
}
