//! Turning an item to the other intention.

use serde_json::Value;
use store::model::WatchlistItem;
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::auto_alerts::{self, Which};
use super::body::{self, Swap};
use super::desk::Desk;
use super::{After, ItemView, no_such_item};
use crate::identity::account::awake;
use crate::watchlist::Watchlists;
use crate::{AccountId, Actor, ServiceError};

/// An item that was turned.
#[derive(Clone, PartialEq, Debug)]
pub struct Swapped {
    /// The item as it is now.
    pub item: ItemView,
    /// How many alerts of the analyst's were deleted.
    pub deleted_alerts: usize,
}

impl Watchlists {
    /// Turns an item to an intention from the body of a swap request (interface 3): its initial price is the present one, the
    /// analyst's alerts are deleted, its paper trade is closed and the opposite one opened, and the analyst looks at it anew.
    /// All of it in one transaction. A trade that has the direction already stays.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`], [`ServiceError::Invalid`], [`ServiceError::NotFound`]
    pub async fn swap_watchlist_item(&self, actor: &Actor, body: &Value) -> Result<Swapped, ServiceError> {
        let swap = body::read_swap(body)?;
        let work = Turn {
            watchlists: self.clone(),
            account: actor.account,
            swap,
            desk: self.desk(swap.symbol).await,
        };
        let after = self.ports.store.write(work).await?;
        Ok(Swapped {
            item: self.watchlist_item(actor.account, swap.item).await?,
            deleted_alerts: after.forgotten.len(),
        })
    }
}

struct Turn {
    watchlists: Watchlists,
    account: AccountId,
    swap: Swap,
    desk: Desk,
}

impl Turn {
    async fn item(&self, unit: &mut UnitOfWork) -> Result<WatchlistItem, Abort<ServiceError>> {
        let found = unit.watchlist_item(self.account, self.swap.item).await?;
        let item = found.ok_or_else(|| Abort::Refused(no_such_item()))?;
        if item.symbol != self.swap.symbol {
            let fault = format!("must be {}, which this item is about", item.symbol);
            return Err(Abort::Refused(ServiceError::field("stock_symbol", fault)));
        }
        Ok(item)
    }
}

impl Transaction for Turn {
    type Output = After;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<After, Abort<ServiceError>>> {
        Box::pin(async move {
            awake(unit, self.account).await?;
            let before = self.item(unit).await?;
            let now = self.desk.now;
            // A trade in the other direction opens at the first current price.
            let is_same = before.intention == self.swap.intention;
            let item = WatchlistItem {
                intention: self.swap.intention,
                initial_price: self.desk.priced().or(before.initial_price.filter(|_| is_same)),
                updated_at: now,
                ..before.clone()
            };
            unit.update_watchlist_item(&item).await?;
            self.desk.turn(unit, &before, item.intention).await?;
            let forgotten = auto_alerts::remove(unit, item.id, Which::All, now).await?;
            // Also without automatic alerts: then the analysis makes none.
            let asked = item.is_active && item.initial_price.is_some();
            if asked {
                unit.request_analysis(item.id, self.account, now).await?;
            }
            Ok(After {
                forgotten,
                asked,
                awaits: item.is_active && item.initial_price.is_none(),
                ..After::default()
            })
        })
    }

    fn committed(&self, after: &After) {
        self.watchlists.tell_after(after);
    }
}
