//! Which trade an item of a watchlist has.
//!
//! An item is an intention, and an active one has always exactly one trade: open, or awaiting the first price of a stock
//! that has none. Every step answers with a [`Change`]: the trade that ended and the one that began, for the store to
//! write. A trade that was only awaited leaves no trace.

use jiff::Timestamp;
use market::{Price, Symbol};
use uuid::Uuid;

use crate::direction::Direction;
use crate::events::Events;
use crate::trade::{Fill, Trade};

/// A stock's last known price.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quote {
    /// The instant of the step, not that of the price.
    pub at: Timestamp,
    /// The price; `None` when there never was one.
    pub price: Option<Price>,
}

/// Where an item stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Position {
    /// The item is inactive.
    Inactive,
    /// The item is active and its stock has had no price yet; the trade opens at the first.
    Awaited,
    /// The item is active and this is its trade.
    Open(Trade),
}

/// What a step did to the trades.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[must_use = "the trades have to be written"]
pub struct Change {
    /// The trade that was closed.
    pub closed: Option<Trade>,
    /// The trade that was opened.
    pub opened: Option<Trade>,
}

/// An item of a watchlist, as far as its trades go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Item {
    /// Its id.
    pub id: Uuid,
    /// Its stock.
    pub symbol: Symbol,
    /// The direction of its trades: long for the intention to buy, short for the one to sell.
    pub direction: Direction,
    /// Its trade.
    pub position: Position,
}

impl Item {
    /// A new, active item. `trade_id` is the id of its trade, if one opens right away.
    pub fn add(id: Uuid, symbol: Symbol, direction: Direction, quote: Quote, trade_id: Uuid) -> (Self, Change) {
        let mut item = Self {
            id,
            symbol,
            direction,
            position: Position::Inactive,
        };
        let change = item.activate(quote, trade_id);
        (item, change)
    }

    /// Whether the item is active.
    #[must_use]
    pub const fn is_active(&self) -> bool {
        !matches!(self.position, Position::Inactive)
    }

    /// The open trade.
    #[must_use]
    pub const fn trade(&self) -> Option<&Trade> {
        match &self.position {
            Position::Open(trade) => Some(trade),
            Position::Inactive | Position::Awaited => None,
        }
    }

    /// Makes an inactive item active and opens its trade. An active one stays as it is.
    pub fn activate(&mut self, quote: Quote, trade_id: Uuid) -> Change {
        if self.is_active() {
            return Change::default();
        }
        self.position = Position::Awaited;
        self.first_price(quote, trade_id)
    }

    /// Opens the trade that awaits a price; does nothing when none does, or when there is still no price.
    pub fn first_price(&mut self, quote: Quote, trade_id: Uuid) -> Change {
        let (Position::Awaited, Some(price)) = (self.position, quote.price) else {
            return Change::default();
        };
        let trade = Trade::open(trade_id, self.symbol, self.direction, Fill { at: quote.at, price });
        self.position = Position::Open(trade);
        Change {
            closed: None,
            opened: Some(trade),
        }
    }

    /// Turns the item to a direction: closes its trade and opens the opposite one at the same price. An inactive item
    /// only remembers the direction, one that has it already stays as it is.
    pub fn turn_to(&mut self, direction: Direction, quote: Quote, trade_id: Uuid) -> Change {
        if self.direction == direction {
            return Change::default();
        }
        let was_active = self.is_active();
        let closed = self.deactivate(quote).closed;
        self.direction = direction;
        let opened = if was_active {
            // Who knows no price now, but did at the entry, goes on from where the old trade ended.
            let price = quote
                .price
                .or(closed.and_then(|trade| trade.exit).map(|exit| exit.price));
            self.activate(Quote { price, ..quote }, trade_id).opened
        } else {
            None
        };
        Change { closed, opened }
    }

    /// Makes the item inactive and closes its trade; to be called, too, when the item is deleted.
    pub fn deactivate(&mut self, quote: Quote) -> Change {
        let before = std::mem::replace(&mut self.position, Position::Inactive);
        let closed = match before {
            Position::Open(mut trade) => trade.close(quote.at, quote.price).is_ok().then_some(trade),
            Position::Inactive | Position::Awaited => None,
        };
        Change { closed, opened: None }
    }

    /// Takes the splits and dividends of up to `now` into the open trade.
    pub fn settle(&mut self, events: &Events, now: Timestamp) {
        if let Position::Open(trade) = &mut self.position {
            trade.settle(events, now);
        }
    }
}
