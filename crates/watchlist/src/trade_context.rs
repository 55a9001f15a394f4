//! Opens and closes the paper trades of items within the transaction of the change that requires it.

use std::sync::Arc;

use alerts::Intention;
use alerts::transition::PriceAvailability;
use foundation::scope_members::{MemberChanges, follow_watchlist};
use foundation::{Random, ServiceError};
use jiff::Timestamp;
use market::calendar::new_york_date;
use market::{CurrentPrice, ObservedPrice, Symbol};
use paper::{CorporateActions, Direction, Fill, Position, PriceSnapshot, Trade, TradeChange, TradedItem};
use store::model::{Account, PaperTrade, PaperTradeId, TimedPrice, WatchlistItem};
use store::{Abort, StoreError, UnitOfWork};
use uuid::Uuid;

use crate::Watchlists;

/// The input of a change of an item's paper trades.
#[derive(Clone, Debug)]
pub(super) struct TradeContext {
    /// The instant of the change.
    pub(super) now: Timestamp,
    /// The stock's current price. Trades open at no other price.
    pub(super) price: Option<CurrentPrice>,
    /// The stock's last price, of any age. A trade that has to close without a current price closes at it.
    last_price: Option<ObservedPrice>,
    /// The id of a new trade.
    trade: Uuid,
    /// The stock's splits and dividends.
    events: CorporateActions,
    /// The source of the ids of new members of alerts that follow the watchlist.
    random: Arc<Random>,
}

impl TradeContext {
    /// Brings the alerts that follow the account's watchlist in line with it.
    pub(super) async fn follow_watchlist(
        &self,
        unit: &mut UnitOfWork,
        account: &Account,
    ) -> Result<MemberChanges, Abort<ServiceError>> {
        follow_watchlist(unit, account, &self.random, self.now).await
    }
}

impl Watchlists {
    /// Returns the context of a change of an item. It asks the source if the known price is not current.
    pub(super) async fn trade_context(&self, symbol: Symbol) -> TradeContext {
        let price = match self.prices.start_price(symbol).await {
            PriceAvailability::Current(price) => Some(price),
            PriceAvailability::Awaited | PriceAvailability::Outdated | PriceAvailability::Unknown => None,
        };
        self.trade_context_at(symbol, price)
    }

    /// Returns the context with a current price, or without one.
    pub(super) fn trade_context_at(&self, symbol: Symbol, price: Option<CurrentPrice>) -> TradeContext {
        TradeContext {
            now: self.ports.clock.now(),
            price,
            last_price: self.evaluator.last_observed(symbol),
            trade: self.ports.random.uuid(),
            events: self.paper_events([symbol]),
            random: Arc::clone(&self.ports.random),
        }
    }

    /// Returns the splits and dividends of some stocks.
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

/// Returns the direction of the trade of an intention.
pub(super) const fn direction(intention: Intention) -> Direction {
    match intention {
        Intention::Buy => Direction::Long,
        Intention::Sell => Direction::Short,
    }
}

/// Converts a stored entry or exit.
const fn fill(TimedPrice { price, at }: TimedPrice) -> Fill {
    Fill { at, price }
}

/// Converts an entry or exit for storage.
const fn stored(Fill { at, price }: Fill) -> TimedPrice {
    TimedPrice { price, at }
}

/// Converts a stored trade, before any split or dividend.
pub(super) fn trade_of(stored: &PaperTrade) -> Option<Trade> {
    let (direction, entry) = (direction(stored.intention), fill(stored.entry));
    // Only a notional of zero is refused, and none is ever stored.
    let mut trade = Trade::with_notional(stored.notional, stored.id.0, stored.symbol, direction, entry).ok()?;
    trade.exit = stored.exit.map(fill);
    Some(trade)
}

impl TradeContext {
    /// Returns the stock's current price for storage, with the time at which it was made, so that a late split adjusts
    /// it.
    pub(super) fn timed_price(&self) -> Option<TimedPrice> {
        self.price.map(|price| TimedPrice {
            price: price.price(),
            at: price.observed_at().min(self.now),
        })
    }

    /// Returns the price at which a trade opens or closes now.
    fn trade_price(&self) -> Option<ObservedPrice> {
        let current = self.price.map(|price| ObservedPrice {
            price: price.price(),
            at: price.observed_at(),
        });
        current.or(self.last_price)
    }

    /// Returns the time of that price if it is of an earlier day.
    fn price_of_another_day(&self) -> Option<Timestamp> {
        let made_at = self.trade_price()?.at;
        (new_york_date(made_at) < new_york_date(self.now)).then_some(made_at)
    }

    /// Opens the trade of an item that has none. Without a price, the item awaits it.
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
        self.apply_step(unit, item, open).await
    }

    /// Closes the trade of an item, if it has one.
    pub(super) async fn close(&self, unit: &mut UnitOfWork, item: &WatchlistItem) -> Result<(), StoreError> {
        self.apply_step(unit, item, TradedItem::deactivate).await
    }

    /// Closes the trade of an item and opens the opposite one. Without a current price, the item awaits it. `item`
    /// still has the former intention.
    pub(super) async fn reverse(
        &self,
        unit: &mut UnitOfWork,
        item: &WatchlistItem,
        to: Intention,
    ) -> Result<(), StoreError> {
        if self.price.is_none() && item.intention != to {
            return self.close(unit, item).await;
        }
        let to = direction(to);
        self.apply_step(unit, item, |paper, quote| paper.set_direction(to, quote, self.trade))
            .await
    }

    async fn apply_step(
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
