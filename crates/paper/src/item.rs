//! The trade of a watchlist item.
//!
//! An active item always has exactly one trade: open, or awaiting the first price of a stock that has none. Every
//! step returns a [`TradeChange`] with the closed and the opened trade, for the store to write. A trade that never
//! got a price leaves no trace.

use jiff::Timestamp;
use market::{Price, Symbol};
use uuid::Uuid;

use crate::corporate_actions::CorporateActions;
use crate::direction::Direction;
use crate::trade::{Fill, Trade};

/// A stock's last known price at the instant of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PriceSnapshot {
    /// The instant of the step, not of the price.
    pub at: Timestamp,
    /// The price; `None` if there never was one.
    pub price: Option<Price>,
}

/// The state of an item's trade.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Position {
    /// The item is inactive.
    Inactive,
    /// The item is active but its stock has had no price yet; the trade opens at the first price.
    AwaitingPrice,
    /// The item is active with this trade.
    Open(Trade),
}

/// The effect of a step on the trades.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[must_use = "the trades have to be written"]
pub struct TradeChange {
    /// The closed trade.
    pub closed: Option<Trade>,
    /// The opened trade.
    pub opened: Option<Trade>,
}

/// A watchlist item with its trade.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TradedItem {
    /// The item's id.
    pub id: Uuid,
    /// The item's stock.
    pub symbol: Symbol,
    /// The direction of its trades: long for the intention to buy, short for the intention to sell.
    pub direction: Direction,
    /// The state of its trade.
    pub position: Position,
}

impl TradedItem {
    /// Creates an active item. `trade_id` is the id of its trade, if it opens right away.
    pub fn add(
        id: Uuid,
        symbol: Symbol,
        direction: Direction,
        quote: PriceSnapshot,
        trade_id: Uuid,
    ) -> (Self, TradeChange) {
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
            Position::Inactive | Position::AwaitingPrice => None,
        }
    }

    /// Activates an inactive item and opens its trade. Does nothing if the item is active.
    pub fn activate(&mut self, quote: PriceSnapshot, trade_id: Uuid) -> TradeChange {
        if self.is_active() {
            return TradeChange::default();
        }
        self.position = Position::AwaitingPrice;
        self.open_at_first_price(quote, trade_id)
    }

    /// Opens the trade that awaits a price. Does nothing if no trade awaits one or there is still no price.
    pub fn open_at_first_price(&mut self, quote: PriceSnapshot, trade_id: Uuid) -> TradeChange {
        let (Position::AwaitingPrice, Some(price)) = (self.position, quote.price) else {
            return TradeChange::default();
        };
        let trade = Trade::open(trade_id, self.symbol, self.direction, Fill { at: quote.at, price });
        self.position = Position::Open(trade);
        TradeChange {
            closed: None,
            opened: Some(trade),
        }
    }

    /// Changes the item's direction: closes its trade and opens the opposite one at the same price. An inactive item
    /// only stores the direction. Does nothing if the item already has it.
    pub fn set_direction(&mut self, direction: Direction, quote: PriceSnapshot, trade_id: Uuid) -> TradeChange {
        if self.direction == direction {
            return TradeChange::default();
        }
        let was_active = self.is_active();
        let closed = self.deactivate(quote).closed;
        self.direction = direction;
        let opened = if was_active {
            // If there is no price now but there was one at the entry, the new trade starts at the old trade's exit
            // price.
            let price = quote
                .price
                .or(closed.and_then(|trade| trade.exit).map(|exit| exit.price));
            self.activate(PriceSnapshot { price, ..quote }, trade_id).opened
        } else {
            None
        };
        TradeChange { closed, opened }
    }

    /// Deactivates the item and closes its trade. Callers use it before they delete an item, too.
    pub fn deactivate(&mut self, quote: PriceSnapshot) -> TradeChange {
        let before = std::mem::replace(&mut self.position, Position::Inactive);
        let closed = match before {
            Position::Open(mut trade) => trade.close(quote.at, quote.price).is_ok().then_some(trade),
            Position::Inactive | Position::AwaitingPrice => None,
        };
        TradeChange { closed, opened: None }
    }

    /// Applies the splits and dividends up to `now` to the open trade.
    pub fn apply_actions(&mut self, actions: &CorporateActions, now: Timestamp) {
        if let Position::Open(trade) = &mut self.position {
            trade.apply_actions(actions, now);
        }
    }
}
