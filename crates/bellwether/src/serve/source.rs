//! The source of market data, from the settings.

use evaluation::feed::{ProviderSetup, SourceConfig, saved_market};
use sources::simulated::SimulationConfig;
use store::{Store, StoreError};

use crate::settings::{MarketConfig, SourceKind};

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
