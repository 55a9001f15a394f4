//! The state in which a list of alerts was read, by which an unchanged list is recognised without reading it again.

use evaluation::stocks::Stocks;
use foundation::{Actor, ServiceError};
use jiff::Timestamp;
use market::{Price, Symbol};
use store::model::AlertRevision;

use super::{AlertItem, Alerts};

/// The state in which a list without distances was read: the revision of the account's alerts, and the displayed names and prices of
/// their stocks.
#[derive(Clone, Debug)]
pub struct ListState {
    revision: AlertRevision,
    stocks: Vec<ShownStock>,
    /// The end of the first snooze, which the list then shows no longer.
    changes_at: Option<Timestamp>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct ShownStock {
    symbol: Symbol,
    /// `None` for alerts over many stocks, which have no stock with a name.
    name: Option<String>,
    last_price: Option<Price>,
}

impl ListState {
    /// Returns the state of a list whose items were read after `revision`, and which shows stocks or only their symbols.
    #[must_use]
    pub fn of(revision: AlertRevision, items: &[AlertItem], shows_stocks: bool) -> Self {
        let mut stocks: Vec<ShownStock> = match shows_stocks {
            true => items.iter().map(ShownStock::of).collect(),
            false => Vec::new(),
        };
        stocks.sort_by(|one, other| (one.symbol, &one.name).cmp(&(other.symbol, &other.name)));
        stocks.dedup();
        let snoozes = items.iter().filter_map(|item| item.stored.alert.options.snoozed_until);
        Self {
            revision,
            stocks,
            changes_at: snoozes.min(),
        }
    }
}

impl ShownStock {
    fn of(item: &AlertItem) -> Self {
        Self {
            symbol: item.stored.alert.symbol,
            name: item.stored.scope().is_none().then(|| item.stock_name.clone()),
            last_price: item.last_price,
        }
    }

    fn has_name_in(&self, stocks: &Stocks) -> bool {
        self.name
            .as_deref()
            .is_none_or(|name| stocks.is_named(self.symbol, name))
    }
}

impl Alerts {
    /// Returns the revision of the actor's alerts. Read it before the list whose [state](ListState::of) it begins.
    pub async fn revision(&self, actor: &Actor) -> Result<AlertRevision, ServiceError> {
        Ok(self.ports.store.alert_revision(actor.account).await?)
    }

    /// Whether a list may have changed since it was read in a state.
    pub async fn has_changed(&self, actor: &Actor, state: &ListState) -> Result<bool, ServiceError> {
        let has_ended = state.changes_at.is_some_and(|at| at <= self.ports.clock.now());
        if has_ended || self.revision(actor).await? != state.revision {
            return Ok(true);
        }
        let has_same_prices = self.evaluator.read(|engine| {
            let price = |symbol| {
                self.evaluator
                    .last_observed_in(engine, symbol)
                    .map(|observed| observed.price)
            };
            state.stocks.iter().all(|stock| price(stock.symbol) == stock.last_price)
        });
        Ok(!has_same_prices || !state.stocks.iter().all(|stock| stock.has_name_in(&self.stocks)))
    }
}
