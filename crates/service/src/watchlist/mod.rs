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

pub use alerts::Intention;
use alerts::{Alert, AlertId};

pub use paper::{NOTIONAL, Point, Range};
pub use performance::PerformanceView;
pub use read::{BriefStock, ItemView};
pub use store::model::{PaperTradeId, WatchlistItem, WatchlistItemId};
pub use swap::Swapped;
pub use trades::TradeView;

pub(crate) use split::adjust as adjust_to_split;

use crate::{Service, ServiceError};

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

impl Service {
    /// Tells everybody who has to know; to be called from [`store::Work::committed`].
    pub(crate) fn tell_after(&self, after: &After) {
        for id in &after.forgotten {
            self.0.evaluator.forget(*id);
        }
        for alert in &after.told {
            self.0.evaluator.tell(alert);
            self.0.initial_prices.note(alert);
        }
        if after.asked {
            self.0.analyses.bell.notify_one();
        }
        if after.awaits {
            self.0.awaiting.expect_prices();
        }
    }
}

fn no_such_item() -> ServiceError {
    ServiceError::NotFound("watchlist item")
}
