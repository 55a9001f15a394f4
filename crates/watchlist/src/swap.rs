//! Swaps the intention of a watchlist item.

use serde_json::Value;
use store::model::WatchlistItem;
use store::{Abort, UnitOfWork};

use super::auto_alerts::{self, AlertSelection};
use super::body::SwapIntentionRequest;
use super::trade_context::TradeContext;
use super::{ItemView, WatchlistEffects, no_such_item};
use crate::Watchlists;
use foundation::account::lock_active_account;
use foundation::request::Request;
use foundation::{Actor, ServiceError};
use store::model::AccountId;

/// The result of a swap.
#[derive(Clone, PartialEq, Debug)]
pub struct SwapResult {
    /// The item in its new state.
    pub item: ItemView,
    /// The number of deleted alerts of the analyst.
    pub deleted_alerts: usize,
}

impl Watchlists {
    /// Swaps an item's intention from the body of a swap request (interface 3), in one transaction: the initial price
    /// becomes the present price, the analyst's alerts are deleted, the paper trade is closed and the opposite one
    /// opened, and an analysis is requested. A trade that has the requested direction already stays open.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`], [`ServiceError::Invalid`], [`ServiceError::NotFound`]
    pub async fn swap_watchlist_item(&self, actor: &Actor, body: &Value) -> Result<SwapResult, ServiceError> {
        let swap = SwapIntentionRequest::read(body)?;
        let id = swap.item_id;
        let work = SwapItemIntention {
            account: actor.account,
            context: self.trade_context(swap.stock_symbol).await,
            swap,
        };
        let effects = self.transaction(work, |work, unit| Box::pin(work.run(unit))).await?;
        Ok(SwapResult {
            item: self.watchlist_item(actor.account, id).await?,
            deleted_alerts: effects.deleted_alerts.len(),
        })
    }
}

struct SwapItemIntention {
    account: AccountId,
    swap: SwapIntentionRequest,
    context: TradeContext,
}

impl SwapItemIntention {
    async fn item(&self, unit: &mut UnitOfWork) -> Result<WatchlistItem, Abort<ServiceError>> {
        let found = unit.watchlist_item(self.account, self.swap.item_id).await?;
        let item = found.ok_or_else(no_such_item)?;
        if item.symbol != self.swap.stock_symbol {
            let fault = format!("must be {}, the stock of this item", item.symbol);
            return Err(Abort::Refused(ServiceError::field("stock_symbol", fault)));
        }
        Ok(item)
    }

    async fn run(&self, unit: &mut UnitOfWork) -> Result<WatchlistEffects, Abort<ServiceError>> {
        let account = lock_active_account(unit, self.account).await?;
        let before = self.item(unit).await?;
        let now = self.context.now;
        // A trade in the other direction opens at the first current price.
        let is_same = before.intention == self.swap.new_intention;
        let item = WatchlistItem {
            intention: self.swap.new_intention,
            initial_price: self.context.timed_price().or(before.initial_price.filter(|_| is_same)),
            updated_at: now,
            ..before.clone()
        };
        unit.update_watchlist_item(&item).await?;
        self.context.reverse(unit, &before, item.intention).await?;
        let deleted_alerts = auto_alerts::remove(unit, item.id, AlertSelection::All, now).await?;
        // The analysis is also requested without automatic alerts. It creates none then.
        let analysis_requested = item.is_active && item.initial_price.is_some();
        if analysis_requested {
            unit.request_analysis(item.id, self.account, now).await?;
        }
        Ok(WatchlistEffects {
            members: self.context.follow_watchlist(unit, &account).await?,
            deleted_alerts,
            analysis_requested,
            awaits_price: item.is_active && item.initial_price.is_none(),
            ..WatchlistEffects::default()
        })
    }
}
