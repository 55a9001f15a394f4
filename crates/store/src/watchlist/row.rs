//! Rows of items and paper trades.

use alerts::Intention;
use jiff::Timestamp;
use market::Decimal;
use uuid::Uuid;

use crate::StoreError;
use crate::columns::Table;
use crate::model::{
    AccountId, AnalystAdvice, ListedWatchlistItem, PaperTrade, PaperTradeId, TimedPrice, WatchlistItem, WatchlistItemId,
};
use crate::sqlite::row;

pub(super) const ITEMS: Table = Table("watchlist_items");
pub(super) const TRADES: Table = Table("paper_trades");

macro_rules! items {
    ($more:expr, $rest:expr) => {
        concat!(
            "SELECT w.id, w.account_id, w.symbol, w.intention, w.target_price, w.target_at, w.initial_price, \
             w.initial_at, w.notes, w.has_auto_alerts, w.is_active, w.created_at, w.updated_at, w.analysed_at, \
             w.analysed_price, w.analysed_by, w.summary",
            $more,
            " FROM watchlist_items w ",
            $rest
        )
    };
}
pub(super) use items;

macro_rules! trades {
    ($rest:expr) => {
        concat!(
            "SELECT id, account_id, item_id, symbol, intention, notional, entry_at, entry_price, exit_at, exit_price \
             FROM paper_trades ",
            $rest
        )
    };
}
pub(super) use trades;

row! {
    pub(super) struct ItemRow {
        id: Uuid,
        account_id: Uuid,
        symbol: String,
        intention: String,
        target_price: Option<i64>,
        target_at: Option<i64>,
        initial_price: Option<i64>,
        initial_at: Option<i64>,
        notes: Option<String>,
        has_auto_alerts: bool,
        is_active: bool,
        created_at: i64,
        updated_at: i64,
        analysed_at: Option<i64>,
        analysed_price: Option<i64>,
        analysed_by: Option<String>,
        summary: Option<String>,
    }
}

/// A price and its instant as columns.
pub(super) fn price_columns(priced: Option<TimedPrice>) -> (Option<i64>, Option<i64>) {
    let priced = priced.map(|TimedPrice { price, at }| (price.micros(), at.as_microsecond()));
    priced.unzip()
}

fn price_at(table: Table, price: Option<i64>, at: Option<i64>) -> Result<Option<TimedPrice>, StoreError> {
    let priced = price.zip(at).map(|(price, at)| {
        Ok(TimedPrice {
            price: table.price(price)?,
            at: table.instant(at)?,
        })
    });
    priced.transpose()
}

impl TryFrom<ItemRow> for WatchlistItem {
    type Error = StoreError;

    fn try_from(row: ItemRow) -> Result<Self, StoreError> {
        let priced = price_at(ITEMS, row.analysed_price, row.analysed_at)?;
        let advised = priced.zip(row.analysed_by).map(|(priced, by)| AnalystAdvice {
            priced,
            by,
            summary: row.summary.unwrap_or_default(),
        });
        Ok(Self {
            id: WatchlistItemId(row.id),
            account: AccountId(row.account_id),
            symbol: ITEMS.symbol(&row.symbol)?,
            intention: ITEMS.parse("intention", &row.intention, Intention::from_name)?,
            target_price: price_at(ITEMS, row.target_price, row.target_at)?,
            initial_price: price_at(ITEMS, row.initial_price, row.initial_at)?,
            notes: row.notes,
            has_auto_alerts: row.has_auto_alerts,
            is_active: row.is_active,
            created_at: ITEMS.instant(row.created_at)?,
            updated_at: ITEMS.instant(row.updated_at)?,
            advised,
        })
    }
}

row! {
    pub(super) struct ListedRow {
        active_alerts: i64,
        paused_alerts: i64,
        ..item: ItemRow,
    }
}

impl TryFrom<ListedRow> for ListedWatchlistItem {
    type Error = StoreError;

    fn try_from(row: ListedRow) -> Result<Self, StoreError> {
        Ok(Self {
            item: row.item.try_into()?,
            active_alerts: ITEMS.narrow("active_alerts", row.active_alerts)?,
            paused_alerts: ITEMS.narrow("paused_alerts", row.paused_alerts)?,
        })
    }
}

row! {
    /// An item with the number of its active automatic alerts.
    pub(super) struct WatchedRow {
        auto_alerts: i64,
        ..item: ItemRow,
    }
}

impl WatchedRow {
    pub(super) fn into_item_with_count(self) -> Result<(WatchlistItem, u64), StoreError> {
        Ok((self.item.try_into()?, ITEMS.narrow("auto_alerts", self.auto_alerts)?))
    }
}

row! {
    pub(super) struct TradeRow {
        id: Uuid,
        account_id: Uuid,
        item_id: Uuid,
        symbol: String,
        intention: String,
        notional: i64,
        entry_at: i64,
        entry_price: i64,
        exit_at: Option<i64>,
        exit_price: Option<i64>,
    }
}

impl TryFrom<TradeRow> for PaperTrade {
    type Error = StoreError;

    fn try_from(row: TradeRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: PaperTradeId(row.id),
            account: AccountId(row.account_id),
            item: WatchlistItemId(row.item_id),
            symbol: TRADES.symbol(&row.symbol)?,
            intention: TRADES.parse("intention", &row.intention, Intention::from_name)?,
            notional: Decimal::from_micros(row.notional),
            entry: TimedPrice {
                price: TRADES.price(row.entry_price)?,
                at: TRADES.instant(row.entry_at)?,
            },
            exit: price_at(TRADES, row.exit_price, row.exit_at)?,
        })
    }
}

/// An instant as a column.
pub(super) fn micros(at: Timestamp) -> i64 {
    at.as_microsecond()
}
