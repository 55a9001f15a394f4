//! # The watchlist: planned trades, and the return that they would have earned
//!
//! An item is a stock with an intention, to buy or to sell. Each active item has one open paper trade that tests
//! the intention (or awaits the stock's first price), and optionally alerts that the analyst creates.
//!
//! * [`create`], [`update`], [`swap`], [`delete`]: the owner's changes, each in one transaction with all its
//!   effects. The account is locked first, so that the changes of one account are sequential.
//! * [`trade_context`]: opens and closes the paper trades. [`opening`]: opens those that awaited a price.
//! * [`auto_alerts`]: the analyst's alerts of an item. They exist as long as the item is active and has automatic
//!   alerts, and are deleted otherwise. They never block alerts that a person has created.
//! * [`analysis`]: analyzes items, and repeats the analysis when its alerts are stale.
//! * [`read`], [`trades`], [`performance`]: views.
//! * [`follow`]: follows the trades through the sessions.
//!
//! Functions that return [`ServiceError::Internal`] do so if the database fails.

pub mod analysis;
pub mod analyst;
mod auto_alerts;
pub mod body;
mod create;
mod delete;
mod follow;
pub mod opening;
mod performance;
mod provisional;
mod read;
mod swap;
mod trade_context;
mod trades;
mod update;
mod use_cases;

use std::sync::Arc;

use alerts::{Alert, AlertId};
use tokio_util::sync::CancellationToken;

use crate::analyst::StockAnalysis;
use evaluation::EvaluationConfig;
use evaluation::catalog::Catalog;
use evaluation::evaluator::Evaluator;
use evaluation::prices::Prices;
use evaluation::prices::awaited::AwaitedPrices;
use evaluation::prices::initial_stocks::InitialPrices;
use evaluation::stocks::Stocks;
use foundation::scope_members::MemberChanges;
use foundation::{Ports, ServiceError, TransactionFuture};
use store::{Abort, UnitOfWork};

pub use alerts::Intention;

pub use paper::{PerformanceRange, SeriesPoint, TRADE_NOTIONAL};
pub use performance::PerformanceView;
pub use read::{BriefStock, ItemView};
pub use store::model::{PaperTradeId, WatchlistItem, WatchlistItemId};
pub use swap::SwapResult;
pub use trades::TradeView;
pub use use_cases::WatchlistUseCases;

/// The effects of a change that follow its commit.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct WatchlistEffects {
    /// The deleted alerts.
    pub(crate) deleted_alerts: Vec<AlertId>,
    /// The created alerts.
    pub(crate) created_alerts: Vec<Alert>,
    /// The members of alerts that follow the watchlist.
    pub(crate) members: MemberChanges,
    /// Whether an analysis was requested.
    pub(crate) analysis_requested: bool,
    /// Whether an item awaits a price.
    pub(crate) awaits_price: bool,
}

/// Watchlists, their paper trades and the analyst's alerts.
#[derive(Clone)]
pub struct Watchlists {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<EvaluationConfig>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) initial_prices: Arc<InitialPrices>,
    pub(crate) awaiting: Arc<AwaitedPrices>,
    pub(crate) analyses: Arc<analysis::AnalysisQueue>,
    pub(crate) stop: CancellationToken,
    pub(crate) prices: Prices,
    pub(crate) stocks: Stocks,
    pub(crate) analysis: StockAnalysis,
}

impl Watchlists {
    /// Runs a transaction and applies its effects after the commit.
    ///
    /// # Errors
    /// Those of [`store::Store::transaction`].
    pub(crate) async fn transaction<I: Send + Sync + 'static>(
        &self,
        inputs: I,
        run: impl for<'a> Fn(&'a I, &'a mut UnitOfWork) -> TransactionFuture<'a, WatchlistEffects> + Send + Sync + 'static,
    ) -> Result<WatchlistEffects, Abort<ServiceError>> {
        let watchlists = self.clone();
        let apply = move |effects: &WatchlistEffects| watchlists.apply_effects(effects);
        self.ports.store.transaction_then(inputs, run, apply).await
    }

    fn apply_effects(&self, effects: &WatchlistEffects) {
        for id in effects.deleted_alerts.iter().chain(&effects.members.removed) {
            self.evaluator.remove_alert(*id);
        }
        for alert in effects.created_alerts.iter().chain(&effects.members.changed) {
            self.evaluator.apply_change(alert);
            self.initial_prices.note(alert);
        }
        if effects.analysis_requested {
            self.analyses.wake.notify_one();
        }
        if effects.awaits_price {
            self.awaiting.expect_prices();
        }
    }
}

fn no_such_item() -> ServiceError {
    ServiceError::NotFound("watchlist item")
}
