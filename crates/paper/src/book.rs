//! An account's items and the trades they have had.

use std::collections::BTreeMap;

use jiff::Timestamp;
use market::{Decimal, Symbol};
use uuid::Uuid;

use crate::direction::Direction;
use crate::events::Events;
use crate::item::{Change, Item, Quote};
use crate::trade::Trade;

/// The items of an account and all their trades.
///
/// A deleted item is gone, its closed trades stay: what was earned was earned.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Book {
    items: BTreeMap<Uuid, Item>,
    closed: Vec<Trade>,
}

/// Why a step is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BookError {
    /// There is an item with that stock.
    #[error("{0} is on the watchlist already; change that item instead")]
    AlreadyListed(Symbol),
    /// There is an item with that id.
    #[error("there is an item with this id already; give the new one another")]
    IdTaken,
    /// There is no such item.
    #[error("there is no item with this id on the watchlist; list it to see the ids")]
    NoSuchItem,
}

impl Book {
    /// The items by id.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.items.values()
    }

    /// An item.
    #[must_use]
    pub fn item(&self, id: Uuid) -> Option<&Item> {
        self.items.get(&id)
    }

    /// All trades: those that were closed in the order of their closing, then the open ones.
    pub fn trades(&self) -> impl Iterator<Item = &Trade> {
        self.closed.iter().chain(self.items.values().filter_map(Item::trade))
    }

    /// What the closed trades have earned together.
    #[must_use]
    pub fn realised_profit(&self) -> Decimal {
        let profits = self.closed.iter().filter_map(Trade::realised_profit);
        Decimal::from_micros(profits.fold(0, |sum, profit| sum.saturating_add(profit.micros())))
    }

    /// Adds an item, active, with its trade.
    ///
    /// # Errors
    /// [`BookError::AlreadyListed`], [`BookError::IdTaken`]
    pub fn add(
        &mut self,
        id: Uuid,
        symbol: Symbol,
        direction: Direction,
        quote: Quote,
        trade_id: Uuid,
    ) -> Result<Change, BookError> {
        if self.items.values().any(|item| item.symbol == symbol) {
            return Err(BookError::AlreadyListed(symbol));
        }
        if self.items.contains_key(&id) {
            return Err(BookError::IdTaken);
        }
        let (item, change) = Item::add(id, symbol, direction, quote, trade_id);
        self.items.insert(id, item);
        Ok(change)
    }

    /// Turns an item to a direction ([`Item::turn_to`]).
    ///
    /// # Errors
    /// [`BookError::NoSuchItem`]
    pub fn turn_to(
        &mut self,
        id: Uuid,
        direction: Direction,
        quote: Quote,
        trade_id: Uuid,
    ) -> Result<Change, BookError> {
        self.step(id, |item| item.turn_to(direction, quote, trade_id))
    }

    /// Makes an item active ([`Item::activate`]).
    ///
    /// # Errors
    /// [`BookError::NoSuchItem`]
    pub fn activate(&mut self, id: Uuid, quote: Quote, trade_id: Uuid) -> Result<Change, BookError> {
        self.step(id, |item| item.activate(quote, trade_id))
    }

    /// Makes an item inactive and closes its trade ([`Item::deactivate`]).
    ///
    /// # Errors
    /// [`BookError::NoSuchItem`]
    pub fn deactivate(&mut self, id: Uuid, quote: Quote) -> Result<Change, BookError> {
        self.step(id, |item| item.deactivate(quote))
    }

    /// Closes an item's trade and forgets the item.
    ///
    /// # Errors
    /// [`BookError::NoSuchItem`]
    pub fn delete(&mut self, id: Uuid, quote: Quote) -> Result<Change, BookError> {
        let change = self.deactivate(id, quote)?;
        self.items.remove(&id);
        Ok(change)
    }

    /// Tells of a stock's price: opens the trade that awaits it, if one does.
    pub fn first_price(&mut self, symbol: Symbol, quote: Quote, trade_id: Uuid) -> Change {
        let mut items = self.items.values_mut();
        let item = items.find(|item| item.symbol == symbol);
        item.map(|item| item.first_price(quote, trade_id)).unwrap_or_default()
    }

    /// Takes the splits and dividends of up to `now` into all trades.
    pub fn settle(&mut self, events: &Events, now: Timestamp) {
        self.items.values_mut().for_each(|item| item.settle(events, now));
        self.closed.iter_mut().for_each(|trade| trade.settle(events, now));
    }

    fn step(&mut self, id: Uuid, step: impl FnOnce(&mut Item) -> Change) -> Result<Change, BookError> {
        let change = step(self.items.get_mut(&id).ok_or(BookError::NoSuchItem)?);
        self.closed.extend(change.closed);
        Ok(change)
    }
}
