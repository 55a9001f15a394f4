//! Adding a stock to the watchlist.

use alerts::plan;
use jiff::Timestamp;
use market::Symbol;
use market::records::StockRow;
use serde_json::Value;
use store::model::{WatchlistItem, WatchlistItemId};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::body::{self, NewItem};
use super::desk::Desk;
use super::{After, ItemView};
use crate::identity::account::awake;
use crate::watchlist::Watchlists;
use crate::{AccountId, Actor, ServiceError};

impl Watchlists {
    /// Adds a stock to the actor's watchlist from the body of a create request (interface 2.3, decisions 3.1). A stock that is
    /// not known yet comes into the catalog under `stock_name`; its price is awaited.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`], [`ServiceError::Invalid`]; [`ServiceError::UnknownStock`] for an unknown stock without a
    /// name, [`ServiceError::Conflict`] for one that is on the watchlist, [`ServiceError::Forbidden`] for one too many.
    pub async fn add_to_watchlist(&self, actor: &Actor, body: &Value) -> Result<ItemView, ServiceError> {
        let asked = body::read_new(body)?;
        let new_name = match self.prices.require_stock(asked.symbol).await {
            Ok(()) => None,
            Err(unknown) => Some(asked.stock_name.clone().ok_or(unknown)?),
        };
        let id = WatchlistItemId(self.ports.chance.uuid());
        let work = Add {
            watchlists: self.clone(),
            account: actor.account,
            id,
            desk: self.desk(asked.symbol).await,
            new_name,
            asked,
        };
        self.ports.store.write(work).await?;
        self.watchlist_item(actor.account, id).await
    }
}

struct Add {
    watchlists: Watchlists,
    account: AccountId,
    id: WatchlistItemId,
    asked: NewItem,
    desk: Desk,
    /// The name of a stock that is not known yet.
    new_name: Option<String>,
}

impl Add {
    fn item(&self, now: Timestamp, has_auto_alerts: bool) -> WatchlistItem {
        WatchlistItem {
            id: self.id,
            account: self.account,
            symbol: self.asked.symbol,
            intention: self.asked.intention,
            target_price: self
                .asked
                .target_price
                .map(|price| store::model::TimedPrice { price, at: now }),
            initial_price: self.desk.priced(),
            notes: self.asked.notes.clone(),
            has_auto_alerts,
            is_active: true,
            created_at: now,
            updated_at: now,
            advised: None,
        }
    }
}

impl Transaction for Add {
    type Output = After;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<After, Abort<ServiceError>>> {
        Box::pin(async move {
            let account = awake(unit, self.account).await?;
            let symbol = self.asked.symbol;
            if unit.watchlist_item_for(self.account, symbol).await?.is_some() {
                return Err(Abort::Refused(already_there(symbol)));
            }
            let items = unit.count_watchlist_items(self.account).await?;
            plan::check_watchlist_quota(account.plan, items).map_err(|refusal| Abort::Refused(refusal.into()))?;
            if let Some(name) = &self.new_name {
                unit.insert_named_stock(symbol, name).await?;
            }
            let item = self.item(self.desk.now, account.plan.has_auto_alerts());
            unit.insert_watchlist_item(&item).await?;
            self.desk.open(unit, &item).await?;
            let asked = item.has_auto_alerts && item.initial_price.is_some();
            if asked {
                unit.request_analysis(item.id, self.account, self.desk.now).await?;
            }
            Ok(After {
                asked,
                awaits: item.initial_price.is_none(),
                ..After::default()
            })
        })
    }

    fn committed(&self, after: &After) {
        if let Some(name) = &self.new_name {
            let row = StockRow::named(self.asked.symbol, name);
            let catalog = &self.watchlists.catalog;
            // Whoever has named it meanwhile knows it as well.
            if catalog.get(self.asked.symbol).is_none() {
                catalog.change(self.asked.symbol, |entry| entry.row = row);
            }
        }
        self.watchlists.tell_after(after);
    }
}

fn already_there(symbol: Symbol) -> ServiceError {
    ServiceError::Conflict(format!(
        "{symbol} is on the watchlist already; change that item, or turn it to the other intention (PUT /watchlist/order)"
    ))
}
