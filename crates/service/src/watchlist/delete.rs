//! Taking a stock off the watchlist.

use store::model::WatchlistItemId;
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::auto_alerts::{self, Which};
use super::desk::Desk;
use super::{After, no_such_item};
use crate::identity::account::present;
use crate::watchlist::Watchlists;
use crate::{AccountId, Actor, ServiceError};

impl Watchlists {
    /// Deletes an item. Its paper trade is closed and stays, what the analyst made of it goes.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn delete_watchlist_item(&self, actor: &Actor, id: WatchlistItemId) -> Result<(), ServiceError> {
        let found = self.ports.store.watchlist_item(actor.account, id).await?;
        let symbol = found.ok_or_else(no_such_item)?.item.symbol;
        let work = Delete {
            watchlists: self.clone(),
            account: actor.account,
            id,
            desk: self.desk(symbol).await,
        };
        self.ports.store.write(work).await?;
        Ok(())
    }
}

struct Delete {
    watchlists: Watchlists,
    account: AccountId,
    id: WatchlistItemId,
    desk: Desk,
}

impl Transaction for Delete {
    type Output = After;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<After, Abort<ServiceError>>> {
        Box::pin(async move {
            present(unit, self.account).await?;
            let found = unit.watchlist_item(self.account, self.id).await?;
            let item = found.ok_or_else(|| Abort::Refused(no_such_item()))?;
            self.desk.close(unit, &item).await?;
            let forgotten = auto_alerts::remove(unit, item.id, Which::All, self.desk.now).await?;
            unit.delete_watchlist_item(item.id).await?;
            Ok(After {
                forgotten,
                ..After::default()
            })
        })
    }

    fn committed(&self, after: &After) {
        self.watchlists.tell_after(after);
    }
}
