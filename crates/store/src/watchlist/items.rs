//! Lists, creates, changes and deletes watchlist items.

use alerts::{AlertId, Intention};
use market::Symbol;
use uuid::Uuid;

use super::row::{ITEMS, ItemRow, ListedRow, WatchedRow, items, micros, price_columns};
use crate::alerts::{AlertRow, select};
use crate::columns::{self, values};
use crate::database::query;
use crate::model::{AccountId, AnalystAdvice, ListedWatchlistItem, StoredAlert, WatchlistItem, WatchlistItemId};
use crate::unit_of_work::{fetch, select_locked, write_rows};
use crate::{Store, StoreError, UnitOfWork};

macro_rules! listed {
    ($rest:expr) => {
        items!(
            ", (SELECT COUNT(*) FROM alerts a WHERE a.account_id = w.account_id AND a.symbol = w.symbol \
             AND a.status = 'active' AND a.deleted_at IS NULL AND a.scope IS NULL) AS active_alerts, \
             (SELECT COUNT(*) FROM alerts a WHERE a.account_id = w.account_id AND a.symbol = w.symbol \
             AND a.status = 'paused' AND a.deleted_at IS NULL AND a.scope IS NULL) AS paused_alerts",
            $rest
        )
    };
}

macro_rules! watched {
    ($rest:expr) => {
        items!(
            ", (SELECT COUNT(*) FROM alerts a WHERE a.watchlist_item_id = w.id AND a.status = 'active' \
             AND a.deleted_at IS NULL) AS auto_alerts",
            $rest
        )
    };
}

const WATCHED_SYMBOLS_SQL: &str = "SELECT symbol FROM watchlist_items
    WHERE account_id = $1 AND is_active AND intention = COALESCE($2, intention) ORDER BY seq";

impl Store {
    /// Returns the alerts that the analyst created for the items of an account, newest first, at most `limit`. Deleted ones are missing.
    pub async fn alerts_of_items(&self, account: AccountId, limit: u32) -> Result<Vec<StoredAlert>, StoreError> {
        let sql = select!(
            "WHERE watchlist_item_id IN (SELECT id FROM watchlist_items WHERE account_id = $1) AND deleted_at IS NULL \
             ORDER BY alerts.seq DESC LIMIT $2"
        );
        values(query!(fetch_all AlertRow, &self.pools, sql, account.0, i64::from(limit))?)
    }

    /// Returns an account's watchlist, newest first.
    pub async fn watchlist(&self, account: AccountId) -> Result<Vec<ListedWatchlistItem>, StoreError> {
        let sql = listed!("WHERE w.account_id = $1 ORDER BY w.seq DESC");
        values(query!(fetch_all ListedRow, &self.pools, sql, account.0)?)
    }

    /// Returns all watched stocks, each with the number of watchlists it is on.
    pub async fn watched_symbols(&self) -> Result<Vec<(Symbol, u64)>, StoreError> {
        let sql = "SELECT symbol, COUNT(*) FROM watchlist_items GROUP BY symbol";
        let rows = query!(fetch_all(String, i64), &self.pools, sql)?;
        let rows = rows.into_iter();
        rows.map(|(symbol, count)| Ok((ITEMS.symbol(&symbol)?, u64::try_from(count).unwrap_or_default())))
            .collect()
    }

    /// Returns an item of an account, as listed.
    pub async fn watchlist_item(
        &self,
        account: AccountId,
        id: WatchlistItemId,
    ) -> Result<Option<ListedWatchlistItem>, StoreError> {
        let sql = listed!("WHERE w.account_id = $1 AND w.id = $2");
        let row = query!(fetch_optional ListedRow, &self.pools, sql, account.0, id.0)?;
        row.map(ListedWatchlistItem::try_from).transpose()
    }

    /// Counts the items of an account's watchlist.
    pub async fn count_watchlist_items(&self, account: AccountId) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM watchlist_items WHERE account_id = $1";
        let (count,) = query!(fetch_one(i64,), &self.pools, sql, account.0)?;
        ITEMS.narrow("COUNT(*)", count)
    }

    /// Returns the stocks of an account's active items, oldest first; with an intention only those.
    pub async fn watchlist_symbols(
        &self,
        account: AccountId,
        intention: Option<Intention>,
    ) -> Result<Vec<Symbol>, StoreError> {
        let intention = intention.map(Intention::name);
        let rows = query!(
            fetch_all(String,),
            &self.pools,
            WATCHED_SYMBOLS_SQL,
            account.0,
            intention
        )?;
        rows.into_iter().map(|(symbol,)| ITEMS.symbol(&symbol)).collect()
    }

    /// Returns the active items that wait for the stock's first price.
    pub async fn items_without_initial_price(&self) -> Result<Vec<WatchlistItem>, StoreError> {
        // This text matches the partial index of items without a price.
        let sql = items!("", "WHERE w.initial_price IS NULL ORDER BY w.seq");
        let rows = query!(fetch_all ItemRow, &self.pools, sql)?;
        let items = rows.into_iter().map(WatchlistItem::try_from);
        items
            .filter(|item| item.as_ref().map_or(true, |item| item.is_active))
            .collect()
    }

    /// Returns the active items with automatic alerts that are not queued for analysis, each with the number of its
    /// active automatic alerts. At most `limit` items after `after`, by id.
    pub async fn items_with_auto_alerts(
        &self,
        after: Option<WatchlistItemId>,
        limit: u32,
    ) -> Result<Vec<(WatchlistItem, u64)>, StoreError> {
        let sql = watched!(
            "WHERE w.has_auto_alerts = $1 AND w.is_active = $1 AND w.id > $2
             AND NOT EXISTS (SELECT 1 FROM analyst_queue q WHERE q.item_id = w.id)
             ORDER BY w.id LIMIT $3"
        );
        let after = after.map_or(Uuid::nil(), |id| id.0);
        let rows = query!(fetch_all WatchedRow, &self.pools, sql, true, after, i64::from(limit))?;
        rows.into_iter().map(WatchedRow::into_item_with_count).collect()
    }

    /// Returns an item and the number of its active automatic alerts.
    pub async fn item_with_auto_alerts(&self, id: WatchlistItemId) -> Result<Option<(WatchlistItem, u64)>, StoreError> {
        let row = query!(fetch_optional WatchedRow, &self.pools, watched!("WHERE w.id = $1"), id.0)?;
        row.map(WatchedRow::into_item_with_count).transpose()
    }
}

impl UnitOfWork {
    /// Returns an item of an account. The account must be locked.
    pub async fn watchlist_item(
        &mut self,
        account: AccountId,
        id: WatchlistItemId,
    ) -> Result<Option<WatchlistItem>, StoreError> {
        let sql = items!("", "WHERE w.account_id = $1 AND w.id = $2");
        let row = fetch!(self, fetch_optional ItemRow, sql, account.0, id.0);
        row.map(WatchlistItem::try_from).transpose()
    }

    /// Returns the stocks of an account's active items, oldest first; with an intention only those. The account must be locked.
    pub async fn watchlist_symbols(
        &mut self,
        account: AccountId,
        intention: Option<Intention>,
    ) -> Result<Vec<Symbol>, StoreError> {
        let intention = intention.map(Intention::name);
        let rows = fetch!(self, fetch_all(String,), WATCHED_SYMBOLS_SQL, account.0, intention);
        rows.into_iter().map(|(symbol,)| ITEMS.symbol(&symbol)).collect()
    }

    /// Returns an account's item for a stock. The account must be locked.
    pub async fn watchlist_item_for(
        &mut self,
        account: AccountId,
        symbol: Symbol,
    ) -> Result<Option<WatchlistItem>, StoreError> {
        let sql = items!("", "WHERE w.account_id = $1 AND w.symbol = $2");
        let row = fetch!(self, fetch_optional ItemRow, sql, account.0, symbol.as_str());
        row.map(WatchlistItem::try_from).transpose()
    }

    /// Returns all items for a stock and locks them until the end of the transaction.
    pub async fn lock_items_of_symbol(&mut self, symbol: Symbol) -> Result<Vec<WatchlistItem>, StoreError> {
        let sql = select_locked!(self, items!("", "WHERE w.symbol = $1 ORDER BY w.seq"));
        values(fetch!(self, fetch_all ItemRow, sql, symbol.as_str()))
    }

    /// Counts the items of an account's watchlist. The account must be locked.
    pub async fn count_watchlist_items(&mut self, account: AccountId) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM watchlist_items WHERE account_id = $1";
        let (count,) = fetch!(self, fetch_one(i64,), sql, account.0);
        ITEMS.narrow("COUNT(*)", count)
    }

    /// Inserts an item.
    pub async fn insert_watchlist_item(&mut self, item: &WatchlistItem) -> Result<(), StoreError> {
        let (target_price, target_at) = price_columns(item.target_price);
        let (initial_price, initial_at) = price_columns(item.initial_price);
        write_rows!(
            self,
            "INSERT INTO watchlist_items (id, account_id, symbol, intention, target_price, target_at, initial_price,
             initial_at, notes, has_auto_alerts, is_active, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
            item.id.0,
            item.account.0,
            item.symbol.as_str(),
            item.intention.name(),
            target_price,
            target_at,
            initial_price,
            initial_at,
            item.notes.as_deref().map(columns::text),
            item.has_auto_alerts,
            item.is_active,
            micros(item.created_at),
            micros(item.updated_at),
        );
        Ok(())
    }

    /// Overwrites an item, except the analyst's advice.
    pub async fn update_watchlist_item(&mut self, item: &WatchlistItem) -> Result<(), StoreError> {
        let (target_price, target_at) = price_columns(item.target_price);
        let (initial_price, initial_at) = price_columns(item.initial_price);
        write_rows!(
            self,
            "UPDATE watchlist_items SET intention = $2, target_price = $3, target_at = $4, initial_price = $5,
             initial_at = $6, notes = $7, has_auto_alerts = $8, is_active = $9, updated_at = $10 WHERE id = $1",
            item.id.0,
            item.intention.name(),
            target_price,
            target_at,
            initial_price,
            initial_at,
            item.notes.as_deref().map(columns::text),
            item.has_auto_alerts,
            item.is_active,
            micros(item.updated_at),
        );
        Ok(())
    }

    /// Records the analyst's advice on an item.
    pub async fn record_advice(&mut self, id: WatchlistItemId, advised: &AnalystAdvice) -> Result<(), StoreError> {
        write_rows!(
            self,
            "UPDATE watchlist_items SET analysed_at = $2, analysed_price = $3, analysed_by = $4, summary = $5
             WHERE id = $1",
            id.0,
            micros(advised.priced.at),
            advised.priced.price.micros(),
            columns::text(&advised.by),
            columns::text(&advised.summary),
        );
        Ok(())
    }

    /// Deletes an item and cancels its analysis.
    pub async fn delete_watchlist_item(&mut self, id: WatchlistItemId) -> Result<(), StoreError> {
        self.cancel_analysis(id).await?;
        write_rows!(self, "DELETE FROM watchlist_items WHERE id = $1", id.0);
        Ok(())
    }

    /// Returns the alerts that the analyst created for an item and locks them until the end of the transaction.
    /// Deleted alerts are missing.
    pub async fn lock_alerts_of_item(&mut self, id: WatchlistItemId) -> Result<Vec<StoredAlert>, StoreError> {
        let sql = select_locked!(
            self,
            select!("WHERE watchlist_item_id = $1 AND deleted_at IS NULL ORDER BY seq")
        );
        values(fetch!(self, fetch_all AlertRow, sql, id.0))
    }

    /// Records that the analyst created an alert for an item.
    pub async fn assign_alert_to_item(&mut self, alert: AlertId, item: WatchlistItemId) -> Result<(), StoreError> {
        let sql = "UPDATE alerts SET watchlist_item_id = $2 WHERE id = $1";
        write_rows!(self, sql, alert.0, item.0);
        Ok(())
    }

    /// Inserts a stock of which only the name is known, unless the stock exists.
    pub async fn insert_named_stock(&mut self, symbol: Symbol, name: &str) -> Result<bool, StoreError> {
        let name = columns::text(name);
        let sql = "INSERT INTO stocks (symbol, name, name_lower, is_active) VALUES ($1, $2, $3, $4)
                   ON CONFLICT (symbol) DO NOTHING";
        Ok(write_rows!(self, sql, symbol.as_str(), &name, name.to_lowercase(), true) == 1)
    }
}
