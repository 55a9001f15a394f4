//! Opens, closes and lists paper trades.

use jiff::Timestamp;
use market::records::SplitRow;
use uuid::Uuid;

use super::row::{TRADES, TradeRow, micros, trades};
use crate::columns::values;
use crate::database::query;
use crate::model::{AccountId, ListError, ListRequest, Page, PaperTrade, PaperTradeId, TimedPrice, WatchlistItemId};
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

impl Store {
    /// Returns a page of an account's paper trades, last opened first.
    pub async fn paper_trades(
        &self,
        account: AccountId,
        request: impl Into<ListRequest<PaperTradeId>>,
    ) -> Result<Page<PaperTrade>, ListError> {
        let request = request.into();
        let mut end = i64::MAX;
        if let Some(after) = request.after {
            let sql = "SELECT seq FROM paper_trades WHERE id = $2 AND account_id = $1";
            let found = query!(fetch_optional(i64,), &self.pools, sql, account.0, after.0)?;
            (end,) = found.ok_or(ListError::UnknownItem)?;
        }
        let sql = "SELECT COUNT(*) FROM paper_trades WHERE account_id = $1";
        let (total,) = query!(fetch_one(i64,), &self.pools, sql, account.0)?;
        let sql = trades!("WHERE account_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3 OFFSET $4");
        let (limit, offset) = request.limit_and_offset();
        let rows = query!(fetch_all TradeRow, &self.pools, sql, account.0, end, limit, offset)?;
        Ok(Page {
            items: values(rows)?,
            total: TRADES.narrow("COUNT(*)", total)?,
        })
    }

    /// Returns all paper trades of an account, first opened first.
    pub async fn all_paper_trades(&self, account: AccountId) -> Result<Vec<PaperTrade>, StoreError> {
        let sql = trades!("WHERE account_id = $1 ORDER BY seq");
        values(query!(fetch_all TradeRow, &self.pools, sql, account.0)?)
    }
}

impl UnitOfWork {
    /// Returns the open trade of an item. The account must be locked.
    pub async fn open_paper_trade(&mut self, item: WatchlistItemId) -> Result<Option<PaperTrade>, StoreError> {
        let sql = trades!("WHERE item_id = $1 AND exit_at IS NULL");
        let row = fetch!(self, fetch_optional TradeRow, sql, item.0);
        row.map(PaperTrade::try_from).transpose()
    }

    /// Inserts an open trade.
    pub async fn insert_paper_trade(&mut self, trade: &PaperTrade) -> Result<(), StoreError> {
        write_rows!(
            self,
            "INSERT INTO paper_trades (id, account_id, item_id, symbol, intention, notional, entry_at, entry_price)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            trade.id.0,
            trade.account.0,
            trade.item.0,
            trade.symbol.as_str(),
            trade.intention.name(),
            trade.notional.micros(),
            micros(trade.entry.at),
            trade.entry.price.micros(),
        );
        let sql = "INSERT INTO paper_progress (account_id, version) VALUES ($1, 0) ON CONFLICT (account_id) DO NOTHING";
        write_rows!(self, sql, trade.account.0);
        Ok(())
    }

    /// Records when the price of a trade's entry was made, if that was on another day.
    pub async fn record_entry_price_time(&mut self, id: PaperTradeId, made_at: Timestamp) -> Result<(), StoreError> {
        let sql = "UPDATE paper_trades SET entry_priced_at = $2 WHERE id = $1";
        write_rows!(self, sql, id.0, micros(made_at));
        Ok(())
    }

    /// Records when the price of a trade's exit was made, if that was on another day.
    pub async fn record_exit_price_time(&mut self, id: PaperTradeId, made_at: Timestamp) -> Result<(), StoreError> {
        let sql = "UPDATE paper_trades SET exit_priced_at = $2 WHERE id = $1";
        write_rows!(self, sql, id.0, micros(made_at));
        Ok(())
    }

    /// Adjusts entry and exit prices for a split that becomes known late. Applies to prices made before the split
    /// took effect at `begins`, if the entry or exit came after that.
    pub async fn adjust_paper_prices(&mut self, split: &SplitRow, begins: Timestamp) -> Result<(), StoreError> {
        let mut written = 0;
        for (old, adjust) in [
            (
                "SELECT id, entry_price FROM paper_trades WHERE symbol = $1 AND entry_priced_at < $2 AND entry_at >= $2",
                "UPDATE paper_trades SET entry_price = $2, entry_priced_at = $3 WHERE id = $1",
            ),
            (
                "SELECT id, exit_price FROM paper_trades WHERE symbol = $1 AND exit_priced_at < $2 AND exit_at >= $2",
                "UPDATE paper_trades SET exit_price = $2, exit_priced_at = $3 WHERE id = $1",
            ),
        ] {
            let rows = fetch!(self, fetch_all(Uuid, i64), old, split.symbol.as_str(), micros(begins));
            for (id, price) in rows {
                let price = TRADES.price(price)?.after_split(split.ratio);
                written += write_rows!(self, adjust, id, price.micros(), micros(begins));
            }
        }
        if written > 0 {
            self.invalidate_progress(&[(split.symbol, split.date)]).await?;
        }
        Ok(())
    }

    /// Closes a trade. Returns `false`, and writes nothing, if it is already closed.
    pub async fn close_paper_trade(&mut self, id: PaperTradeId, exit: TimedPrice) -> Result<bool, StoreError> {
        let sql = "UPDATE paper_trades SET exit_at = $2, exit_price = $3 WHERE id = $1 AND exit_at IS NULL";
        Ok(write_rows!(self, sql, id.0, micros(exit.at), exit.price.micros()) == 1)
    }
}
