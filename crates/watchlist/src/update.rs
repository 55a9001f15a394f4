//! Updates a watchlist item: target, notes, whether it is active, and whether it has automatic alerts.

use serde_json::Value;
use store::model::{TimedPrice, WatchlistItem, WatchlistItemId};
use store::{Abort, UnitOfWork};

use super::auto_alerts::{self, AlertSelection};
use super::body::{UpdateWatchlistItemRequest, stored_notes};
use super::trade_context::TradeContext;
use super::{ItemView, WatchlistEffects, no_such_item};
use crate::Watchlists;
use foundation::account::{lock_account, require_active};
use foundation::request::Request;
use foundation::{Actor, ServiceError};
use store::model::AccountId;

impl Watchlists {
    /// Applies an update request. If it deactivates the item, its paper trade is closed and the analyst's alerts are
    /// deleted. If it activates the item, the item starts anew at the present price.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`], [`ServiceError::Invalid`], [`ServiceError::NotFound`]
    pub async fn update_watchlist_item(
        &self,
        actor: &Actor,
        id: WatchlistItemId,
        body: &Value,
    ) -> Result<ItemView, ServiceError> {
        let change = UpdateWatchlistItemRequest::read(body)?;
        let found = self.ports.store.watchlist_item(actor.account, id).await?;
        let symbol = found.ok_or_else(no_such_item)?.item.symbol;
        let context = match change.is_active {
            Some(_) => self.trade_context(symbol).await,
            None => self.trade_context_at(symbol, self.prices.current_price(symbol)),
        };
        let work = UpdateItem {
            account: actor.account,
            id,
            change,
            context,
        };
        self.transaction(work, |work, unit| Box::pin(work.run(unit))).await?;
        self.watchlist_item(actor.account, id).await
    }
}

struct UpdateItem {
    account: AccountId,
    id: WatchlistItemId,
    change: UpdateWatchlistItemRequest,
    context: TradeContext,
}

impl UpdateItem {
    /// Returns the item in its new state.
    fn changed(&self, before: &WatchlistItem) -> WatchlistItem {
        let change = &self.change;
        let mut item = before.clone();
        if let Some(target) = change.target_price.0 {
            item.target_price = target.map(|price| TimedPrice {
                price,
                at: self.context.now,
            });
        }
        if let Some(notes) = &change.notes.0 {
            item.notes = stored_notes(notes.as_ref());
        }
        item.has_auto_alerts = change.auto_alerts_enabled.unwrap_or(before.has_auto_alerts);
        item.is_active = change.is_active.unwrap_or(before.is_active);
        if item.is_active && !before.is_active {
            item.initial_price = self.context.timed_price();
        }
        if item != *before {
            item.updated_at = self.context.now;
        }
        item
    }

    async fn run(&self, unit: &mut UnitOfWork) -> Result<WatchlistEffects, Abort<ServiceError>> {
        let account = lock_account(unit, self.account).await?;
        let before = unit.watchlist_item(self.account, self.id).await?;
        let before = before.ok_or_else(no_such_item)?;
        let item = self.changed(&before);
        let (has_begun, has_ended) = (item.is_active && !before.is_active, !item.is_active && before.is_active);
        // A deactivated account may stop things, but starting anything needs an active account.
        let wants_more = has_begun || (item.has_auto_alerts && !before.has_auto_alerts);
        if wants_more {
            require_active(&account)?;
        }
        unit.update_watchlist_item(&item).await?;
        if has_begun {
            self.context.open(unit, &before).await?;
        }
        if has_ended {
            self.context.close(unit, &before).await?;
        }
        let mut effects = WatchlistEffects {
            members: self.context.follow_watchlist(unit, &account).await?,
            awaits_price: has_begun && item.initial_price.is_none(),
            ..WatchlistEffects::default()
        };
        let is_wanted = |item: &WatchlistItem| item.is_active && item.has_auto_alerts;
        if is_wanted(&before) && !is_wanted(&item) {
            unit.cancel_analysis(item.id).await?;
            effects.deleted_alerts = auto_alerts::remove(unit, item.id, AlertSelection::All, self.context.now).await?;
        }
        // Another target needs other alerts.
        let has_other_target =
            before.target_price.map(|target| target.price) != item.target_price.map(|target| target.price);
        let is_news = !is_wanted(&before) || has_other_target;
        if is_wanted(&item) && is_news && item.initial_price.is_some() {
            unit.request_analysis(item.id, self.account, self.context.now).await?;
            effects.analysis_requested = true;
        }
        Ok(effects)
    }
}
