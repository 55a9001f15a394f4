//! # The watchlist: what an account means to do with stocks, and what following that would have earned
//!
//! An item is a stock with an intention, to buy or to sell. Each active item has one open paper trade that tries the
//! intention out (or awaits the stock's first price), and, if its owner wants that, alerts that the analyst makes.
//!
//! * [`create`], [`update`], [`swap`], [`delete`]: what its owner does; each in one transaction with everything that follows
//!   from it. The account is locked first, so that one account's changes come one after another.
//! * [`desk`]: opens and closes the paper trades. [`opening`]: those that awaited a price.
//! * [`auto_alerts`]: the analyst's alerts of an item. They are there as long as the item is active and its owner wants them, so
//!   they are deleted with either, and never stand in the way of alerts that somebody has made.
//! * [`analysis`]: has the analyst look at items, and again when its alerts went stale.
//! * [`read`], [`trades`], [`performance`]: what is shown.
//! * [`split`]: a stock is divided. [`follow`]: takes the trades through one session after another.

pub(crate) mod analysis;
mod auto_alerts;
pub(crate) mod body;
mod create;
mod delete;
mod desk;
mod follow;
pub(crate) mod opening;
mod performance;
mod provisional;
mod read;
mod split;
mod swap;
mod trades;
mod update;

use std::sync::Arc;

use alerts::{Alert, AlertId};
use tokio_util::sync::CancellationToken;

use crate::analyst::StockAnalysis;
use crate::catalog::Catalog;
use crate::evaluator::Evaluator;
use crate::prices::Prices;
use crate::prices::initial::InitialPrices;
use crate::stocks::Stocks;
use crate::watchlist::opening::Awaiting;
use crate::{Ports, ServiceError, Settings};
pub use alerts::Intention;

pub use paper::{PerformanceRange, SeriesPoint, TRADE_NOTIONAL};
pub use performance::PerformanceView;
pub use read::{BriefStock, ItemView};
pub use store::model::{PaperTradeId, WatchlistItem, WatchlistItemId};
pub use swap::Swapped;
pub use trades::TradeView;

pub(crate) use split::adjust as adjust_to_split;

/// What has to be told after the commit.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct After {
    /// Alerts that were deleted.
    pub(crate) forgotten: Vec<AlertId>,
    /// Alerts that were made.
    pub(crate) told: Vec<Alert>,
    /// Whether the analyst was asked something.
    pub(crate) asked: bool,
    /// Whether an item awaits a price.
    pub(crate) awaits: bool,
}

/// Watchlists, their paper trades and the alerts of the analyst.
#[derive(Clone)]
pub struct Watchlists {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<Settings>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) initial_prices: Arc<InitialPrices>,
    pub(crate) awaiting: Arc<Awaiting>,
    pub(crate) analyses: Arc<analysis::Queue>,
    pub(crate) stop: CancellationToken,
    pub(crate) prices: Prices,
    pub(crate) stocks: Stocks,
    pub(crate) analysis: StockAnalysis,
}

impl Watchlists {
    /// Tells everybody who has to know; to be called from [`store::Transaction::committed`].
    pub(crate) fn tell_after(&self, after: &After) {
        for id in &after.forgotten {
            self.evaluator.forget(*id);
        }
        for alert in &after.told {
            self.evaluator.tell(alert);
            self.initial_prices.note(alert);
        }
        if after.asked {
            self.analyses.bell.notify_one();
        }
        if after.awaits {
            self.awaiting.expect_prices();
        }
    }
}

fn no_such_item() -> ServiceError {
    ServiceError::NotFound("watchlist item")
}
