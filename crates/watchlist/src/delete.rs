//! Deletes a watchlist item.

use store::model::WatchlistItemId;

use super::auto_alerts::{self, AlertSelection};
use super::{WatchlistEffects, no_such_item};
use crate::Watchlists;
use foundation::account::lock_account;
use foundation::{Actor, ServiceError};

impl Watchlists {
    /// Deletes an item. Its paper trade is closed and kept; the analyst's alerts are deleted.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn delete_watchlist_item(&self, actor: &Actor, id: WatchlistItemId) -> Result<(), ServiceError> {
        let found = self.ports.store.watchlist_item(actor.account, id).await?;
        let symbol = found.ok_or_else(no_such_item)?.item.symbol;
        let inputs = (actor.account, id, self.trade_context(symbol).await);
        let transaction = self.transaction(inputs, |&(account, id, ref context), unit| {
            Box::pin(async move {
                let account_row = lock_account(unit, account).await?;
                let found = unit.watchlist_item(account, id).await?;
                let item = found.ok_or_else(no_such_item)?;
                context.close(unit, &item).await?;
                let deleted_alerts = auto_alerts::remove(unit, item.id, AlertSelection::All, context.now).await?;
                unit.delete_watchlist_item(item.id).await?;
                Ok(WatchlistEffects {
                    members: context.follow_watchlist(unit, &account_row).await?,
                    deleted_alerts,
                    ..WatchlistEffects::default()
                })
            })
        });
        transaction.await?;
        Ok(())
    }
}
