//! The use cases of this crate.

use std::sync::Arc;

use evaluation::{EvaluationConfig, EvaluationUseCases};
use foundation::Ports;
use tokio_util::sync::CancellationToken;

use crate::Watchlists;
use crate::analyst::{Analyst, AnalystConfig, AnalystError, StockAnalysis};

/// The use cases of this crate.
pub struct WatchlistUseCases {
    /// Watchlists and paper trades.
    pub watchlists: Watchlists,
    /// Analyses of stocks.
    pub analysis: StockAnalysis,
}

impl WatchlistUseCases {
    /// Creates the use cases. Waits for prices and analyses end with `stop`.
    ///
    /// # Errors
    /// [`AnalystError`] if a setting of the language model is invalid.
    pub fn new(
        ports: &Ports,
        analyst: &AnalystConfig,
        settings: &Arc<EvaluationConfig>,
        evaluation: &EvaluationUseCases,
        stop: &CancellationToken,
    ) -> Result<Self, AnalystError> {
        let analysis = StockAnalysis {
            ports: ports.clone(),
            settings: Arc::clone(settings),
            catalog: Arc::clone(&evaluation.catalog),
            evaluator: Arc::clone(&evaluation.evaluator),
            analyst: Arc::new(Analyst::new(analyst, ports)?),
            prices: evaluation.prices.clone(),
        };
        let watchlists = Watchlists {
            ports: ports.clone(),
            settings: Arc::clone(settings),
            catalog: Arc::clone(&evaluation.catalog),
            evaluator: Arc::clone(&evaluation.evaluator),
            initial_prices: Arc::clone(&evaluation.initial_prices),
            awaiting: Arc::clone(&evaluation.awaiting),
            analyses: Arc::default(),
            stop: stop.clone(),
            prices: evaluation.prices.clone(),
            stocks: evaluation.stocks.clone(),
            analysis: analysis.clone(),
        };
        Ok(Self { watchlists, analysis })
    }
}
