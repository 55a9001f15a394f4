//! The source of market data, from the settings.

use std::future::pending;
use std::sync::Arc;

use evaluation::feed::{LeasedSource, ProviderSetup, SourceConfig, SourceEnded, SourceTask, saved_market};
use foundation::{Ports, Role};
use jiff::Timestamp;
use service::Service;
use sources::simulated::SimulationConfig;
use store::{Store, StoreError};

use crate::settings::{MarketConfig, Settings, SourceKind};
use crate::wiring;
use crate::wiring::providers::build_shared_providers;

/// The source of market data of this process.
#[derive(Debug)]
pub(super) enum RunningSource {
    /// This process is the only one that runs a source.
    Own(SourceTask),
    /// One of the nodes of a cluster runs the source.
    Leased(LeasedSource),
    /// Market data is pushed, or other nodes run the source.
    Elsewhere,
}

impl RunningSource {
    /// Starts the source, on a node of a cluster as soon as it has the lease.
    pub(super) fn start(settings: &Settings, source: SourceConfig, service: &Service, ports: &Ports) -> Self {
        let cluster = &settings.cluster;
        if !cluster.is_node() {
            let calendar = wiring::calendar(&settings.market);
            let started = SourceTask::start(source, &calendar, &service.evaluation, &ports.clock);
            return started.map_or(Self::Elsewhere, Self::Own);
        }
        if !cluster.roles.has(Role::Feed) || settings.market.source == SourceKind::Push {
            return Self::Elsewhere;
        }
        let parts = Arc::new((settings.clone(), service.clone(), ports.clone()));
        let leased = LeasedSource::start(ports, cluster.lease_ttl, move |used_until| {
            let parts = Arc::clone(&parts);
            async move {
                let (settings, service, ports) = &*parts;
                start_shared(settings, service, ports, used_until).await
            }
        });
        Self::Leased(leased)
    }

    /// Waits until the source has delivered its first current data. Returns at once if the source is leased or runs elsewhere.
    pub(super) async fn up_to_date(&self) {
        if let Self::Own(source) = self {
            source.up_to_date().await;
        }
    }

    /// Waits until the source ends by itself. A source that another node may run is started again instead.
    pub(super) async fn failed(&self) -> SourceEnded {
        match self {
            Self::Own(source) => source.failed().await,
            Self::Leased(_) | Self::Elsewhere => pending().await,
        }
    }

    pub(super) async fn stop(self) {
        match self {
            Self::Own(source) => source.stop().await,
            Self::Leased(source) => source.stop().await,
            Self::Elsewhere => {}
        }
    }
}

/// Starts the source on a node that has the lease. Another node may have fetched data until a time.
async fn start_shared(
    settings: &Settings,
    service: &Service,
    ports: &Ports,
    used_until: Option<Timestamp>,
) -> anyhow::Result<Option<SourceTask>> {
    let seed = u64::from_le_bytes(ports.random.bytes());
    let providers = match settings.market.source {
        SourceKind::Providers => {
            let clock = Arc::clone(&ports.clock);
            Some(build_shared_providers(settings, clock, seed, used_until)?)
        }
        SourceKind::Simulated | SourceKind::File | SourceKind::Push => None,
    };
    let source = config(&settings.market, &ports.store, providers).await?;
    let calendar = wiring::calendar(&settings.market);
    Ok(SourceTask::start(source, &calendar, &service.evaluation, &ports.clock))
}

/// Returns the source. A simulated market continues from the latest quotes, so call this before anything is ingested.
///
/// # Errors
/// [`StoreError`] if the latest quotes cannot be read.
pub(super) async fn config(
    market: &MarketConfig,
    store: &Store,
    providers: Option<ProviderSetup>,
) -> Result<SourceConfig, StoreError> {
    Ok(match (market.source, &market.data_dir, providers) {
        (SourceKind::Simulated, ..) => SourceConfig::Simulated {
            market: SimulationConfig {
                seed: market.seed,
                companies: usize::try_from(market.companies.get()).unwrap_or(usize::MAX),
                pace: market.pace,
                lively: market.lively,
                ..SimulationConfig::default()
            },
            saved: saved_market(&store.latest_quotes().await?),
        },
        (SourceKind::File, Some(dir), _) => SourceConfig::Folder(dir.clone()),
        (SourceKind::Providers, _, Some(providers)) => SourceConfig::Live(Box::new(providers)),
        // The settings require a folder for the file source, and `Server::open` builds the providers.
        (SourceKind::Push | SourceKind::File | SourceKind::Providers, ..) => SourceConfig::Push,
    })
}
