//! Adds a stock to the watchlist.

use alerts::plan;
use jiff::Timestamp;
use market::Symbol;
use market::records::StockRow;
use serde_json::Value;
use store::model::{WatchlistItem, WatchlistItemId};
use store::{Abort, UnitOfWork};

use super::body::{CreateWatchlistItemRequest, stored_notes};
use super::trade_context::TradeContext;
use super::{ItemView, WatchlistEffects};
use crate::Watchlists;
use foundation::account::lock_active_account;
use foundation::request::Request;
use foundation::{Actor, ServiceError};
use store::model::AccountId;

impl Watchlists {
    /// Adds a stock to the actor's watchlist from the body of a create request (interface 2.3, decisions 3.1). An
    /// unknown stock is added to the catalog under `stock_name`, and the item awaits its price.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`], [`ServiceError::Invalid`]; [`ServiceError::UnknownStock`] for an unknown stock
    /// without a name; [`ServiceError::Conflict`] if the stock is on the watchlist; [`ServiceError::Forbidden`] if the
    /// watchlist is full.
    pub async fn add_to_watchlist(&self, actor: &Actor, body: &Value) -> Result<ItemView, ServiceError> {
        let new_item = CreateWatchlistItemRequest::read(body)?;
        let new_name = match self.prices.require_stock(new_item.stock_symbol).await {
            Ok(()) => None,
            Err(unknown) => Some(new_item.stock_name.clone().ok_or(unknown)?.0),
        };
        let id = WatchlistItemId(self.ports.random.uuid());
        let symbol = new_item.stock_symbol;
        let work = AddWatchlistItem {
            account: actor.account,
            id,
            context: self.trade_context(symbol).await,
            new_name: new_name.clone(),
            new_item,
        };
        let watchlists = self.clone();
        let transaction = self.ports.transaction_then(
            work,
            |work, unit| Box::pin(work.run(unit)),
            move |effects| {
                // Another request may have named it meanwhile.
                if let Some(name) = new_name.as_ref().filter(|_| watchlists.catalog.get(symbol).is_none()) {
                    let row = StockRow::named(symbol, name);
                    watchlists.catalog.change(symbol, |entry| entry.row = row);
                }
                watchlists.apply_effects(effects);
            },
        );
        transaction.await?;
        self.watchlist_item(actor.account, id).await
    }
}

struct AddWatchlistItem {
    account: AccountId,
    id: WatchlistItemId,
    new_item: CreateWatchlistItemRequest,
    context: TradeContext,
    /// The name of a stock that is not known yet.
    new_name: Option<String>,
}

impl AddWatchlistItem {
    fn item(&self, now: Timestamp, has_auto_alerts: bool) -> WatchlistItem {
        WatchlistItem {
            id: self.id,
            account: self.account,
            symbol: self.new_item.stock_symbol,
            intention: self.new_item.intention,
            target_price: self
                .new_item
                .target_price
                .map(|price| store::model::TimedPrice { price, at: now }),
            initial_price: self.context.timed_price(),
            notes: stored_notes(self.new_item.notes.as_ref()),
            has_auto_alerts,
            is_active: true,
            created_at: now,
            updated_at: now,
            advised: None,
        }
    }

    async fn run(&self, unit: &mut UnitOfWork) -> Result<WatchlistEffects, Abort<ServiceError>> {
        let account = lock_active_account(unit, self.account).await?;
        let symbol = self.new_item.stock_symbol;
        if unit.watchlist_item_for(self.account, symbol).await?.is_some() {
            return Err(Abort::Refused(already_there(symbol)));
        }
        let items = unit.count_watchlist_items(self.account).await?;
        plan::check_watchlist_quota(account.plan, items).map_err(ServiceError::from)?;
        if let Some(name) = &self.new_name {
            unit.insert_named_stock(symbol, name).await?;
        }
        let item = self.item(self.context.now, account.plan.has_auto_alerts());
        unit.insert_watchlist_item(&item).await?;
        self.context.open(unit, &item).await?;
        let analysis_requested = item.has_auto_alerts && item.initial_price.is_some();
        if analysis_requested {
            unit.request_analysis(item.id, self.account, self.context.now).await?;
        }
        Ok(WatchlistEffects {
            members: self.context.follow_watchlist(unit, &account).await?,
            analysis_requested,
            awaits_price: item.initial_price.is_none(),
            ..WatchlistEffects::default()
        })
    }
}

fn already_there(symbol: Symbol) -> ServiceError {
    ServiceError::Conflict(format!(
        "{symbol} is on the watchlist already; change that item, or swap its intention (PUT /watchlist/order)"
    ))
}
