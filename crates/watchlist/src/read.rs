//! Reads the watchlist.

use market::{Price, Symbol};
use store::model::{ListedWatchlistItem, StoredAlert, WatchlistItemId};

use super::no_such_item;
use crate::Watchlists;
use foundation::{Actor, ServiceError};
use store::model::AccountId;

/// A short description of a stock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BriefStock {
    /// Its symbol.
    pub symbol: Symbol,
    /// Its name.
    pub name: String,
    /// Its last price, if one is known.
    pub last_price: Option<Price>,
}

/// An item with its stock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ItemView {
    /// The item, and the number of alerts on its stock.
    pub listed: ListedWatchlistItem,
    /// Its stock.
    pub stock: BriefStock,
}

/// How many alerts of the analyst are read at most.
const MAX_MADE_ALERTS: u32 = 2_000;

impl Watchlists {
    /// Returns the actor's watchlist, newest first.
    pub async fn watchlist(&self, actor: &Actor) -> Result<Vec<ItemView>, ServiceError> {
        let listed = self.ports.store.watchlist(actor.account).await?;
        Ok(listed.into_iter().map(|listed| self.item_view(listed)).collect())
    }

    /// Returns the alerts that the analyst created for the actor's items, newest first, at most 2,000.
    pub async fn made_alerts(&self, actor: &Actor) -> Result<Vec<StoredAlert>, ServiceError> {
        Ok(self.ports.store.alerts_of_items(actor.account, MAX_MADE_ALERTS).await?)
    }

    /// Returns an item of an account.
    pub async fn watchlist_item(&self, account: AccountId, id: WatchlistItemId) -> Result<ItemView, ServiceError> {
        let found = self.ports.store.watchlist_item(account, id).await?;
        found.map(|listed| self.item_view(listed)).ok_or_else(no_such_item)
    }

    fn item_view(&self, listed: ListedWatchlistItem) -> ItemView {
        let symbol = listed.item.symbol;
        let entry = self.catalog.get(symbol);
        ItemView {
            listed,
            stock: BriefStock {
                symbol,
                name: entry.map_or_else(|| symbol.as_str().to_owned(), |entry| entry.row.name.clone()),
                last_price: self.evaluator.last_observed(symbol).map(|observed| observed.price),
            },
        }
    }
}
