//! Configuration of the source of market data.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::civil::Time;
use sources::freshness::QuoteLimits;
pub(super) use sources::provider::http::AdapterSetup;
use sources::provider::{Provider, stream};
use sources::routing::{PollingConfig, ProviderRouter};
use sources::simulated::{SavedMarket, SimulationConfig};

/// The source of market data.
#[derive(Debug)]
pub enum SourceConfig {
    /// A simulated market.
    Simulated {
        /// The simulation.
        market: SimulationConfig,
        /// The state from which it continues.
        saved: Option<SavedMarket>,
    },
    /// A data folder.
    Folder(PathBuf),
    /// Market data providers.
    Live(Box<ProviderSetup>),
    /// Market data is only pushed.
    Push,
}

/// The market data providers with their configuration.
#[derive(Debug)]
pub struct ProviderSetup {
    /// The providers of each capability.
    pub router: ProviderRouter,
    /// All configured providers.
    pub providers: Vec<Arc<dyn Provider>>,
    /// The setup of the providers' HTTP clients.
    pub setup: AdapterSetup,
    /// The configuration of polling prices.
    pub polling: PollingConfig,
    /// The limits of the quote filter.
    pub limits: QuoteLimits,
    /// The configuration of streams.
    pub stream: stream::StreamConfig,
    /// The New York time at which the nightly jobs start.
    pub nightly_at: Time,
}
