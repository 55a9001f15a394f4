//! Opens and closes the paper trades of items, within the transaction of whatever makes that necessary.

use alerts::Intention;
use alerts::transition::PriceAvailability;
use jiff::Timestamp;
use market::calendar::new_york_date;
use market::{CurrentPrice, ObservedPrice, Symbol};
use paper::{CorporateActions, Direction, Fill, Position, PriceSnapshot, Trade, TradeChange, TradedItem};
use store::model::{PaperTrade, PaperTradeId, TimedPrice, WatchlistItem};
use store::{StoreError, UnitOfWork};
use uuid::Uuid;

use crate::watchlist::Watchlists;

/// What a change of an item's trades needs to know.
#[derive(Clone, Debug)]
pub(super) struct Desk {
    /// The instant.
    pub(super) now: Timestamp,
    /// The stock's current price: trades open at nothing else.
    pub(super) price: Option<CurrentPrice>,
    /// The stock's last price, however old. A trade that has to close without a current price closes at it.
    last_price: Option<ObservedPrice>,
    /// The id of the trade that may be opened.
    trade: Uuid,
    /// The stock's splits and dividends.
    events: CorporateActions,
}

impl Watchlists {
    /// The context of a change of an item. The source is asked if the known price is not current.
    pub(super) async fn desk(&self, symbol: Symbol) -> Desk {
        let price = match self.prices.start_price(symbol).await {
            PriceAvailability::Current(price) => Some(price),
            PriceAvailability::Awaited | PriceAvailability::Outdated | PriceAvailability::Unknown => None,
        };
        self.desk_at(symbol, price)
    }

    /// The same at a current price, or without one.
    pub(super) fn desk_at(&self, symbol: Symbol, price: Option<CurrentPrice>) -> Desk {
        Desk {
            now: self.ports.clock.now(),
            price,
            last_price: self.evaluator.last_observed(symbol),
            trade: self.ports.chance.uuid(),
            events: self.paper_events([symbol]),
        }
    }

    /// The splits and dividends of some stocks.
    pub(super) fn paper_events(&self, symbols: impl IntoIterator<Item = Symbol> + Clone) -> CorporateActions {
        let splits: Vec<_> = symbols
            .clone()
            .into_iter()
            .flat_map(|symbol| self.evaluator.splits_of(symbol))
            .collect();
        let entries: Vec<_> = symbols
            .into_iter()
            .filter_map(|symbol| self.catalog.get(symbol))
            .collect();
        let dividends = entries.iter().flat_map(|entry| &entry.facts.dividends);
        CorporateActions::new(&self.settings.calendar, &splits, dividends)
    }
}

/// Which way the trade of an intention bets.
pub(super) const fn direction(intention: Intention) -> Direction {
    match intention {
        Intention::Buy => Direction::Long,
        Intention::Sell => Direction::Short,
    }
}

/// A stored beginning or end as it is reckoned with.
const fn fill(TimedPrice { price, at }: TimedPrice) -> Fill {
    Fill { at, price }
}

/// A beginning or an end as it is stored.
const fn stored(Fill { at, price }: Fill) -> TimedPrice {
    TimedPrice { price, at }
}

/// A stored trade as it is reckoned with, before any split or dividend.
pub(super) fn trade_of(stored: &PaperTrade) -> Option<Trade> {
    let (direction, entry) = (direction(stored.intention), fill(stored.entry));
    // Nothing but a notional of zero is refused, and none is ever written.
    let mut trade = Trade::with_notional(stored.notional, stored.id.0, stored.symbol, direction, entry).ok()?;
    trade.exit = stored.exit.map(fill);
    Some(trade)
}

impl Desk {
    /// The stock's current price, as it is kept: with the time at which it was made, so that a split that becomes known late
    /// moves it.
    pub(super) fn priced(&self) -> Option<TimedPrice> {
        self.price.map(|price| TimedPrice {
            price: price.price(),
            at: price.observed_at().min(self.now),
        })
    }

    /// The price at which a trade opens or closes at this instant.
    fn trade_price(&self) -> Option<ObservedPrice> {
        let current = self.price.map(|price| ObservedPrice {
            price: price.price(),
            at: price.observed_at(),
        });
        current.or(self.last_price)
    }

    /// When the price of a trade was made, if that was on another day than this.
    fn price_of_another_day(&self) -> Option<Timestamp> {
        let made_at = self.trade_price()?.at;
        (new_york_date(made_at) < new_york_date(self.now)).then_some(made_at)
    }

    /// Opens the trade of an item that has none; without a price it is awaited.
    pub(super) async fn open(&self, unit: &mut UnitOfWork, item: &WatchlistItem) -> Result<(), StoreError> {
        if self.price.is_none() {
            return Ok(());
        }
        let open = |paper: &mut TradedItem, quote| {
            if paper.is_active() {
                paper.open_at_first_price(quote, self.trade)
            } else {
                paper.activate(quote, self.trade)
            }
        };
        self.step(unit, item, open).await
    }

    /// Closes the trade of an item, if it has one.
    pub(super) async fn close(&self, unit: &mut UnitOfWork, item: &WatchlistItem) -> Result<(), StoreError> {
        self.step(unit, item, TradedItem::deactivate).await
    }

    /// Closes the trade of an item and opens the opposite one; without a current price that one is awaited. `item` still has the
    /// intention it had.
    pub(super) async fn turn(
        &self,
        unit: &mut UnitOfWork,
        item: &WatchlistItem,
        to: Intention,
    ) -> Result<(), StoreError> {
        if self.price.is_none() && item.intention != to {
            return self.close(unit, item).await;
        }
        let to = direction(to);
        self.step(unit, item, |paper, quote| paper.set_direction(to, quote, self.trade))
            .await
    }

    async fn step(
        &self,
        unit: &mut UnitOfWork,
        item: &WatchlistItem,
        step: impl FnOnce(&mut TradedItem, PriceSnapshot) -> TradeChange,
    ) -> Result<(), StoreError> {
        let open = unit.open_paper_trade(item.id).await?;
        let position = match open.as_ref().and_then(trade_of) {
            Some(trade) => Position::Open(trade),
            None if item.is_active && item.initial_price.is_none() => Position::AwaitingPrice,
            None => Position::Inactive,
        };
        let mut paper = TradedItem {
            id: item.id.0,
            symbol: item.symbol,
            direction: direction(item.intention),
            position,
        };
        paper.apply_actions(&self.events, self.now);
        let quote = PriceSnapshot {
            at: self.now,
            price: self.trade_price().map(|observed| observed.price),
        };
        let TradeChange { closed, opened } = step(&mut paper, quote);
        if let Some((id, exit)) = closed.and_then(|trade| Some((trade.id, trade.exit?))) {
            unit.close_paper_trade(PaperTradeId(id), stored(exit)).await?;
            if let Some(made_at) = self.price_of_another_day() {
                unit.record_exit_price_time(PaperTradeId(id), made_at).await?;
            }
        }
        if let Some(trade) = opened {
            let opened = PaperTrade {
                id: PaperTradeId(trade.id),
                account: item.account,
                item: item.id,
                symbol: trade.symbol,
                intention: match trade.direction {
                    Direction::Long => Intention::Buy,
                    Direction::Short => Intention::Sell,
                },
                notional: trade.notional,
                entry: stored(trade.entry),
                exit: None,
            };
            unit.insert_paper_trade(&opened).await?;
            if let Some(made_at) = self.price_of_another_day() {
                unit.record_entry_price_time(opened.id, made_at).await?;
            }
        }
        Ok(())
    }
}
