//! Changing an item: its target, its notes, whether it is followed, and whether the analyst makes alerts for it.

use serde_json::Value;
use store::model::{TimedPrice, WatchlistItem, WatchlistItemId};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::auto_alerts::{self, Which};
use super::body::{self, ItemChange};
use super::desk::Desk;
use super::{After, ItemView, no_such_item};
use crate::identity::account::{must_be_awake, present};
use crate::watchlist::Watchlists;
use crate::{AccountId, Actor, ServiceError};

impl Watchlists {
    /// Takes over what an update request names. An item that is not followed any more has its paper trade closed and the analyst's
    /// alerts deleted; one that is followed again begins anew at the present price.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`], [`ServiceError::Invalid`], [`ServiceError::NotFound`]
    pub async fn update_watchlist_item(
        &self,
        actor: &Actor,
        id: WatchlistItemId,
        body: &Value,
    ) -> Result<ItemView, ServiceError> {
        let change = body::read_change(body)?;
        let found = self.ports.store.watchlist_item(actor.account, id).await?;
        let symbol = found.ok_or_else(no_such_item)?.item.symbol;
        let desk = match change.is_active {
            Some(_) => self.desk(symbol).await,
            None => self.desk_at(symbol, self.prices.current_price(symbol)),
        };
        let work = Update {
            watchlists: self.clone(),
            account: actor.account,
            id,
            change,
            desk,
        };
        self.ports.store.write(work).await?;
        self.watchlist_item(actor.account, id).await
    }
}

struct Update {
    watchlists: Watchlists,
    account: AccountId,
    id: WatchlistItemId,
    change: ItemChange,
    desk: Desk,
}

impl Update {
    /// The item as it is to be.
    fn changed(&self, before: &WatchlistItem) -> WatchlistItem {
        let change = &self.change;
        let mut item = before.clone();
        if let Some(target) = change.target_price {
            item.target_price = target.map(|price| TimedPrice {
                price,
                at: self.desk.now,
            });
        }
        if let Some(notes) = &change.notes {
            item.notes.clone_from(notes);
        }
        item.has_auto_alerts = change.has_auto_alerts.unwrap_or(before.has_auto_alerts);
        item.is_active = change.is_active.unwrap_or(before.is_active);
        if item.is_active && !before.is_active {
            item.initial_price = self.desk.priced();
        }
        if item != *before {
            item.updated_at = self.desk.now;
        }
        item
    }
}

impl Transaction for Update {
    type Output = After;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<After, Abort<ServiceError>>> {
        Box::pin(async move {
            let account = present(unit, self.account).await?;
            let before = unit.watchlist_item(self.account, self.id).await?;
            let before = before.ok_or_else(|| Abort::Refused(no_such_item()))?;
            let item = self.changed(&before);
            let (has_begun, has_ended) = (item.is_active && !before.is_active, !item.is_active && before.is_active);
            // What is put aside goes nowhere; whatever begins something needs an account that is awake.
            let wants_more = has_begun || (item.has_auto_alerts && !before.has_auto_alerts);
            if wants_more {
                must_be_awake(&account).map_err(Abort::Refused)?;
            }
            unit.update_watchlist_item(&item).await?;
            if has_begun {
                self.desk.open(unit, &before).await?;
            }
            if has_ended {
                self.desk.close(unit, &before).await?;
            }
            let mut after = After {
                awaits: has_begun && item.initial_price.is_none(),
                ..After::default()
            };
            let is_wanted = |item: &WatchlistItem| item.is_active && item.has_auto_alerts;
            if is_wanted(&before) && !is_wanted(&item) {
                unit.cancel_analysis(item.id).await?;
                after.forgotten = auto_alerts::remove(unit, item.id, Which::All, self.desk.now).await?;
            }
            // Another target asks for other alerts.
            let has_other_target =
                before.target_price.map(|target| target.price) != item.target_price.map(|target| target.price);
            let is_news = !is_wanted(&before) || has_other_target;
            if is_wanted(&item) && is_news && item.initial_price.is_some() {
                unit.request_analysis(item.id, self.account, self.desk.now).await?;
                after.asked = true;
            }
            Ok(after)
        })
    }

    fn committed(&self, after: &After) {
        self.watchlists.tell_after(after);
    }
}
