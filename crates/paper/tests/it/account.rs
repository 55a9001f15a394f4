//! A model of an account: its items and all their trades.

use std::collections::BTreeMap;

use jiff::Timestamp;
use market::{Decimal, Symbol};
use paper::{CorporateActions, Direction, PriceSnapshot, Trade, TradeChange, TradedItem};
use uuid::Uuid;

/// The items of an account and all their trades.
///
/// Deleting an item keeps its closed trades, so realised profit stays.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Book {
    items: BTreeMap<Uuid, TradedItem>,
    closed: Vec<Trade>,
}

/// The reason why a step is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BookError {
    /// The watchlist already contains the stock.
    AlreadyListed(Symbol),
    /// The id is already used.
    IdTaken,
    /// The item does not exist.
    NoSuchItem,
}

impl Book {
    /// The items by id.
    pub(crate) fn items(&self) -> impl Iterator<Item = &TradedItem> {
        self.items.values()
    }

    /// All trades: the closed ones in the order of their closing, then the open ones.
    pub(crate) fn trades(&self) -> impl Iterator<Item = &Trade> {
        self.closed
            .iter()
            .chain(self.items.values().filter_map(TradedItem::trade))
    }

    /// The total profit of the closed trades.
    pub(crate) fn realised_profit(&self) -> Decimal {
        let profits = self.closed.iter().filter_map(Trade::realised_profit);
        Decimal::from_micros(profits.fold(0, |sum, profit| sum.saturating_add(profit.micros())))
    }

    /// Adds an active item and opens its trade.
    pub(crate) fn add(
        &mut self,
        id: Uuid,
        symbol: Symbol,
        direction: Direction,
        quote: PriceSnapshot,
        trade_id: Uuid,
    ) -> Result<TradeChange, BookError> {
        if self.items.values().any(|item| item.symbol == symbol) {
            return Err(BookError::AlreadyListed(symbol));
        }
        if self.items.contains_key(&id) {
            return Err(BookError::IdTaken);
        }
        let (item, change) = TradedItem::add(id, symbol, direction, quote, trade_id);
        self.items.insert(id, item);
        Ok(change)
    }

    /// Changes an item's direction ([`TradedItem::set_direction`]).
    pub(crate) fn set_direction(
        &mut self,
        id: Uuid,
        direction: Direction,
        quote: PriceSnapshot,
        trade_id: Uuid,
    ) -> Result<TradeChange, BookError> {
        self.step(id, |item| item.set_direction(direction, quote, trade_id))
    }

    /// Activates an item ([`TradedItem::activate`]).
    pub(crate) fn activate(
        &mut self,
        id: Uuid,
        quote: PriceSnapshot,
        trade_id: Uuid,
    ) -> Result<TradeChange, BookError> {
        self.step(id, |item| item.activate(quote, trade_id))
    }

    /// Deactivates an item and closes its trade ([`TradedItem::deactivate`]).
    pub(crate) fn deactivate(&mut self, id: Uuid, quote: PriceSnapshot) -> Result<TradeChange, BookError> {
        self.step(id, |item| item.deactivate(quote))
    }

    /// Closes an item's trade and removes the item.
    pub(crate) fn delete(&mut self, id: Uuid, quote: PriceSnapshot) -> Result<TradeChange, BookError> {
        let change = self.deactivate(id, quote)?;
        self.items.remove(&id);
        Ok(change)
    }

    /// Passes on a stock's price: opens the trade that awaits it, if there is one.
    pub(crate) fn open_at_first_price(&mut self, symbol: Symbol, quote: PriceSnapshot, trade_id: Uuid) -> TradeChange {
        let mut items = self.items.values_mut();
        let item = items.find(|item| item.symbol == symbol);
        item.map(|item| item.open_at_first_price(quote, trade_id))
            .unwrap_or_default()
    }

    /// Applies the splits and dividends up to `now` to all trades.
    pub(crate) fn apply_actions(&mut self, actions: &CorporateActions, now: Timestamp) {
        self.items
            .values_mut()
            .for_each(|item| item.apply_actions(actions, now));
        self.closed
            .iter_mut()
            .for_each(|trade| trade.apply_actions(actions, now));
    }

    fn step(&mut self, id: Uuid, step: impl FnOnce(&mut TradedItem) -> TradeChange) -> Result<TradeChange, BookError> {
        let change = step(self.items.get_mut(&id).ok_or(BookError::NoSuchItem)?);
        self.closed.extend(change.closed);
        Ok(change)
    }
}
