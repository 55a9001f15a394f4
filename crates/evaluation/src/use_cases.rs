//! The use cases of this crate and the state that they share.

use std::sync::Arc;

use foundation::Ports;
use sources::live::LiveSourceHealth;
use tokio::sync::broadcast;

use crate::EvaluationConfig;
use crate::blindness::BlindnessNotices;
use crate::catalog::Catalog;
use crate::cluster::Cluster;
use crate::evaluator::Evaluator;
use crate::market::{MarketIntake, MarketOverview};
use crate::prices::Prices;
use crate::prices::arrivals::PriceArrivals;
use crate::prices::awaited::AwaitedPrices;
use crate::prices::initial_stocks::InitialPrices;
use crate::prices::interest::StockInterest;
use crate::prices::loading::FirstLoad;
use crate::stocks::Stocks;

/// Maximum number of queued refresh requests while the source of market data is busy. Beyond it, the oldest is dropped.
const MAX_QUEUED_REFRESH_REQUESTS: usize = 16;

/// The use cases of this crate and the state that they share.
pub struct EvaluationUseCases {
    /// Market data that sources deliver.
    pub market_intake: MarketIntake,
    /// Current prices.
    pub prices: Prices,
    /// The catalog of stocks.
    pub stocks: Stocks,
    /// The state of the market.
    pub market: MarketOverview,
    /// Notices about alerts that cannot be evaluated.
    pub blindness: BlindnessNotices,
    /// All known stocks.
    pub catalog: Arc<Catalog>,
    /// The owner of the engine.
    pub evaluator: Arc<Evaluator>,
    /// Stocks that somebody has asked for.
    pub interest: Arc<StockInterest>,
    /// Stocks whose alerts wait for a first price.
    pub initial_prices: Arc<InitialPrices>,
    /// Wakes those who wait for a price.
    pub awaiting: Arc<AwaitedPrices>,
    /// Whether the first data is still being loaded.
    pub loading: Arc<FirstLoad>,
    /// The health of the providers' source, if that is the source of market data.
    pub live_source: LiveSourceHealth,
    /// Refresh requests to the source of market data.
    pub wanted: broadcast::Sender<sources::live::RefreshKind>,
    /// The cluster that this process is a node of, if there is one.
    pub cluster: Option<Arc<Cluster>>,
}

impl EvaluationUseCases {
    /// Creates the use cases in the order of their dependencies.
    #[must_use]
    pub fn new(ports: &Ports, settings: &Arc<EvaluationConfig>, cluster: Option<Arc<Cluster>>) -> Self {
        let catalog = Arc::new(Catalog::default());
        let sharded = cluster.as_ref().map(|cluster| Arc::clone(&cluster.sharded));
        let evaluator = Arc::new(Evaluator::new(ports, settings, Arc::clone(&catalog), sharded));
        let interest = Arc::new(StockInterest::default());
        let initial_prices = Arc::new(InitialPrices::default());
        let awaiting = Arc::new(AwaitedPrices::default());
        let loading = Arc::new(FirstLoad::default());
        let wanted = broadcast::channel(MAX_QUEUED_REFRESH_REQUESTS).0;
        let price_arrivals = PriceArrivals::new(Arc::clone(&awaiting), Arc::clone(&initial_prices));
        let market_intake = MarketIntake {
            ports: ports.clone(),
            settings: Arc::clone(settings),
            catalog: Arc::clone(&catalog),
            evaluator: Arc::clone(&evaluator),
            intake: Arc::default(),
            interest: Arc::clone(&interest),
            price_arrivals: price_arrivals.clone(),
            wanted: wanted.clone(),
            origin: cluster.as_ref().map(|cluster| Arc::clone(&cluster.origin)),
        };
        let prices = Prices {
            ports: ports.clone(),
            settings: Arc::clone(settings),
            catalog: Arc::clone(&catalog),
            evaluator: Arc::clone(&evaluator),
            interest: Arc::clone(&interest),
            initial_prices: Arc::clone(&initial_prices),
            price_source: Arc::default(),
            price_arrivals,
            loading: Arc::clone(&loading),
            market_intake: market_intake.clone(),
        };
        let stocks = Stocks {
            ports: ports.clone(),
            catalog: Arc::clone(&catalog),
            evaluator: Arc::clone(&evaluator),
            prices: prices.clone(),
        };
        let market = MarketOverview {
            ports: ports.clone(),
            settings: Arc::clone(settings),
            catalog: Arc::clone(&catalog),
            evaluator: Arc::clone(&evaluator),
            market_intake: market_intake.clone(),
            prices: prices.clone(),
            stocks: stocks.clone(),
        };
        let blindness = BlindnessNotices {
            ports: ports.clone(),
            settings: Arc::clone(settings),
            evaluator: Arc::clone(&evaluator),
        };
        Self {
            market_intake,
            prices,
            stocks,
            market,
            blindness,
            catalog,
            evaluator,
            interest,
            initial_prices,
            awaiting,
            loading,
            live_source: LiveSourceHealth::default(),
            wanted,
            cluster,
        }
    }
}
