//! Deletes a watchlist item.

use store::model::WatchlistItemId;
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::auto_alerts::{self, AlertSelection};
use super::trade_context::TradeContext;
use super::{WatchlistEffects, no_such_item};
use crate::Watchlists;
use foundation::account::lock_account;
use foundation::{Actor, ServiceError};
use store::model::AccountId;

impl Watchlists {
    /// Deletes an item. Its paper trade is closed and kept; the analyst's alerts are deleted.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn delete_watchlist_item(&self, actor: &Actor, id: WatchlistItemId) -> Result<(), ServiceError> {
        let found = self.ports.store.watchlist_item(actor.account, id).await?;
        let symbol = found.ok_or_else(no_such_item)?.item.symbol;
        let work = DeleteWatchlistItem {
            watchlists: self.clone(),
            account: actor.account,
            id,
            context: self.trade_context(symbol).await,
        };
        self.ports.store.write(work).await?;
        Ok(())
    }
}

struct DeleteWatchlistItem {
    watchlists: Watchlists,
    account: AccountId,
    id: WatchlistItemId,
    context: TradeContext,
}

impl Transaction for DeleteWatchlistItem {
    type Output = WatchlistEffects;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<WatchlistEffects, Abort<ServiceError>>> {
        Box::pin(async move {
            lock_account(unit, self.account).await?;
            let found = unit.watchlist_item(self.account, self.id).await?;
            let item = found.ok_or_else(|| Abort::Refused(no_such_item()))?;
            self.context.close(unit, &item).await?;
            let deleted_alerts = auto_alerts::remove(unit, item.id, AlertSelection::All, self.context.now).await?;
            unit.delete_watchlist_item(item.id).await?;
            Ok(WatchlistEffects {
                deleted_alerts,
                ..WatchlistEffects::default()
            })
        })
    }

    fn committed(&self, effects: &WatchlistEffects) {
        self.watchlists.apply_effects(effects);
    }
}
