//! # Serving: the whole house, until it is told to stop
//!
//! A [`House`] is the service with its database, its source and its ways in, built in the order in which one needs the
//! other: first the addresses are taken, so that a second program on the same port does not touch the database; then
//! the database is opened, the service started, the source told what is known already; last come the requests.
//!
//! Deliveries run on a separate runtime (`delivery_runtime.rs`), so that receivers that flood or hang do not delay other work.
//!
//! It is taken down the other way round: no new requests, those under way answered; no new deliveries; the service
//! commits what was decided; the delivery runtime ends. A second signal ends the program where it stands, which loses
//! nothing that was acknowledged: that is on disk.

mod coverage;
mod delivery_runtime;
mod feeding;
mod live;
mod web;

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use service::{Chance, Clock, Ports, Service};
use store::Store;
use tokio::task::JoinHandle;

use crate::metering::Metering;
use crate::settings::{Settings, SourceKind};
use crate::signals::Signals;
use crate::wiring;
use crate::wiring::sources::{Sources, sources};
use delivery_runtime::DeliveryRuntime;
use feeding::{Beginning, Feeding};
use web::{Listening, Web};

/// The service at work.
#[derive(Debug)]
pub struct House {
    /// The use cases.
    pub service: Handle,
    /// The database.
    pub store: Store,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Ids and secrets.
    pub chance: Arc<Chance>,
    feeding: Option<Feeding>,
    web: Web,
    upkeep: JoinHandle<()>,
    deliveries: Option<DeliveryRuntime>,
}

/// The service, with a `Debug` that says no more than that.
#[derive(Clone)]
pub struct Handle(pub Service);

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Service")
    }
}

impl House {
    /// Builds the house and begins to serve.
    ///
    /// # Errors
    /// If an address is taken, the database cannot be opened or what is in it cannot be read.
    pub async fn open(settings: &Settings, metering: Metering) -> anyhow::Result<Self> {
        // First the address, so that a second program on the same port does not touch the database.
        let listening = Listening::at(&settings.server).await?;
        let mut ports = wiring::ports(settings).await?;
        let deliveries = DeliveryRuntime::start()?;
        if let Some(handle) = deliveries.handle() {
            ports.network = ports.network.on(handle);
        }
        let providers = match settings.market.source {
            SourceKind::Providers => {
                let seed = u64::from_le_bytes(ports.chance.bytes());
                Some(sources(settings, Arc::clone(&ports.clock), seed)?)
            }
            SourceKind::Simulated | SourceKind::File | SourceKind::Push => None,
        };
        let mut house = Self::build(settings, listening, ports, providers, metering).await?;
        house.deliveries = Some(deliveries);
        Ok(house)
    }

    /// The same with a database, a time and providers of one's own.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn with(
        settings: &Settings,
        ports: Ports,
        providers: Option<Sources>,
        metering: Metering,
    ) -> anyhow::Result<Self> {
        let listening = Listening::at(&settings.server).await?;
        Self::build(settings, listening, ports, providers, metering).await
    }

    async fn build(
        settings: &Settings,
        listening: Listening,
        ports: Ports,
        providers: Option<Sources>,
        metering: Metering,
    ) -> anyhow::Result<Self> {
        let beginning = Beginning::of(&settings.market, &ports.store, providers)
            .await
            .context("cannot read what is known of the market")?;
        let mut service_settings = wiring::service_settings(settings)?;
        if settings.server.public_url.is_none() {
            // The port may be any that was free.
            service_settings.public_url = format!("http://{}", listening.address());
        }
        let service = Service::start(ports.clone(), service_settings)
            .await
            .context("cannot start the service")?;
        let feeding = Feeding::start(&settings.market, beginning, &service, &ports.clock);
        let web = Web::start(listening, settings, &service, &ports, metering.clone())?;
        Ok(Self {
            service: Handle(service),
            store: ports.store,
            clock: ports.clock,
            chance: ports.chance,
            feeding,
            web,
            upkeep: tokio::spawn(metering.upkeep()),
            deliveries: None,
        })
    }

    /// Where requests are taken.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.web.address()
    }

    /// Where health and metrics are, if not there.
    #[must_use]
    pub fn ops_address(&self) -> Option<SocketAddr> {
        self.web.ops_address()
    }

    /// Waits until the source has delivered its first news, if there is one.
    pub async fn up_to_date(&self) {
        if let Some(feeding) = &self.feeding {
            feeding.up_to_date().await;
        }
    }

    /// Waits until a part of the house ends by itself, which it does only if it fails.
    pub async fn failed(&self) -> anyhow::Error {
        let feeding = async {
            match &self.feeding {
                Some(feeding) => feeding.failed().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            error = self.web.failed() => error,
            error = feeding => error,
        }
    }

    /// Takes the house down: answers what was asked, takes in what was delivered, commits what was decided.
    ///
    /// # Errors
    /// If the web side had failed.
    pub async fn close(self) -> anyhow::Result<()> {
        let answered = self.web.stop().await;
        if let Some(feeding) = self.feeding {
            feeding.stop().await;
        }
        self.service.0.stop().await;
        // The dispatchers have ended with the service.
        drop(self.deliveries);
        self.upkeep.abort();
        answered
    }
}

/// Runs the service until it is told to stop.
///
/// # Errors
/// If it cannot start, or fails while it runs.
pub async fn run(settings: Settings, metering: Metering) -> anyhow::Result<()> {
    let mut signals = Signals::listen().context("cannot listen to signals")?;
    let house = House::open(&settings, metering).await?;
    announce(&house)?;
    let ended = tokio::select! {
        signal = signals.next() => {
            tracing::info!(signal, "stopping: requests under way are answered");
            Ok(())
        }
        error = house.failed() => Err(error),
    };
    let impatience = tokio::spawn(end_at_once(signals));
    let closed = house.close().await;
    impatience.abort();
    ended.and(closed)?;
    tracing::info!("stopped");
    Ok(())
}

/// Says where the service listens: to people and to programs that took any free port.
fn announce(house: &House) -> anyhow::Result<()> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    let said = writeln!(out, "bellwether listens on http://{}", house.address());
    let said = said.and_then(|()| match house.ops_address() {
        Some(address) => writeln!(out, "health and metrics are on http://{address}"),
        None => Ok(()),
    });
    said.and_then(|()| out.flush()).or_else(|error| match error.kind() {
        std::io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error).context("cannot write to standard output"),
    })?;
    tracing::info!(address = %house.address(), version = env!("CARGO_PKG_VERSION"), "listening");
    Ok(())
}

/// Ends the program at the next signal.
pub(crate) async fn end_at_once(mut signals: Signals) {
    let signal = signals.next().await;
    tracing::warn!(signal, "ended at once, by a second signal");
    std::process::exit(1);
}
