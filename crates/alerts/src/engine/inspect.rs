//! Questions to the engine that change nothing.

use jiff::Timestamp;
use jiff::civil::Date;
use market::day::day_number;
use market::{Price, Symbol};

use super::event::{ExtendedPrice, ObservedSession, StockIndex};
use super::rules::ArmedRule;
use super::stock::Stock;
use super::{Engine, EventError, group};
use crate::alert::{AlertId, Revision};

impl Engine {
    /// Returns the number of armed alerts.
    #[must_use]
    pub fn armed_alerts(&self) -> usize {
        self.registry.armed() + self.rules.len()
    }

    /// Returns the number of armed alerts for each stock that has any. A rule counts for each stock that its expression names. It
    /// visits each alert.
    #[must_use]
    pub fn armed_per_stock(&self) -> Vec<(Symbol, usize)> {
        let mut counts = vec![0_usize; self.stocks.len()];
        for slot in self.registry.live() {
            counts[self.registry.alert(slot).stock.0 as usize] += 1;
        }
        for rule in self.rules.iter() {
            for stock in rule.stock_indices() {
                counts[stock.0 as usize] += 1;
            }
        }
        let stocks = self.symbols.iter().copied().zip(counts);
        stocks.filter(|(_, count)| *count > 0).collect()
    }

    /// Returns the revision of an armed alert.
    #[must_use]
    pub fn revision(&self, id: AlertId) -> Option<Revision> {
        match self.registry.find(id) {
            Some(slot) => Some(self.registry.identity(slot).1),
            None => self.rules.find(id).map(ArmedRule::revision),
        }
    }

    /// Returns the ids of all armed alerts.
    pub fn armed_ids(&self) -> impl Iterator<Item = AlertId> {
        let alerts = self.registry.live().map(|slot| self.registry.identity(slot).0);
        alerts.chain(self.rules.iter().map(ArmedRule::id))
    }

    /// Returns the armed alerts whose own stock is one of some. It visits each alert.
    #[must_use]
    pub fn armed_on(&self, is_wanted: impl Fn(Symbol) -> bool) -> Vec<AlertId> {
        let wanted: Vec<bool> = self.symbols.iter().map(|&symbol| is_wanted(symbol)).collect();
        let alerts = self.registry.live().filter_map(|slot| {
            let is_on_wanted = wanted[self.registry.alert(slot).stock.0 as usize];
            is_on_wanted.then(|| self.registry.identity(slot).0)
        });
        let rules = self.rules.iter().filter(|rule| is_wanted(rule.own_stock()));
        alerts.chain(rules.map(ArmedRule::id)).collect()
    }

    /// Returns the armed alerts with a state that a judgement changes, and whose own stock is one of some: rules, and those that wait for a
    /// side of an RSI. It visits each alert.
    #[must_use]
    pub fn armed_with_state(&self, is_wanted: impl Fn(Symbol) -> bool) -> Vec<AlertId> {
        let with_side = self.registry.live().filter_map(|slot| {
            let alert = self.registry.alert(slot);
            let is_found = alert.waits_for_rsi_side() && is_wanted(self.symbol(alert.stock));
            is_found.then(|| self.registry.identity(slot).0)
        });
        let rules = self.rules.iter().filter(|rule| is_wanted(rule.own_stock()));
        with_side.chain(rules.map(ArmedRule::id)).collect()
    }

    /// Returns the rules that name other stocks than their own, each with all of its stocks. It visits each rule.
    pub fn rules_of_several_stocks(&self) -> impl Iterator<Item = (AlertId, Vec<Symbol>)> {
        let several = self.rules.iter().filter(|rule| rule.names_another_stock());
        several.map(|rule| {
            let named = rule.stock_indices().map(|stock| self.symbol(stock));
            (rule.id(), named.chain([rule.own_stock()]).collect())
        })
    }

    /// Returns the last observed price of a stock, per today's share.
    #[must_use]
    pub fn last_price(&self, symbol: Symbol) -> Option<Price> {
        let stock = self.indices.get(&symbol)?;
        Stock::last_price(&self.hot.get(stock.0 as usize))
    }

    /// Returns the observed part of the stock's last session, to be stored for [`Event::Resume`](super::Event::Resume).
    #[must_use]
    pub fn observed_session(&self, symbol: Symbol) -> Option<ObservedSession> {
        let at = self.indices.get(&symbol)?.0 as usize;
        self.stocks[at].observed_session(&self.hot.get(at))
    }

    /// Returns the completed sessions of a stock.
    #[must_use]
    pub fn history(&self, symbol: Symbol) -> Option<&market::History> {
        self.indices
            .get(&symbol)
            .map(|stock| &self.stocks[stock.0 as usize].history)
    }

    /// Returns whether an alert uses the bid, the ask or the volume-weighted average price, so that the engine needs
    /// [`Event::QuoteDetails`](super::Event::QuoteDetails).
    #[must_use]
    pub const fn uses_quote_details(&self) -> bool {
        self.rules.use_quote_details()
    }

    /// Returns whether the engine needs the observations of a stock in extended hours, as
    /// [`Event::ExtendedSnapshot`](super::Event::ExtendedSnapshot).
    #[must_use]
    pub fn follows_extended_hours(&self, symbol: Symbol) -> bool {
        let stock = self.indices.get(&symbol).map(|stock| &self.stocks[stock.0 as usize]);
        stock.is_some_and(Stock::follows_extended_hours)
    }

    /// Returns whether a stock has alerts that are judged in extended hours, too.
    #[must_use]
    pub fn is_judged_in_extended_hours(&self, symbol: Symbol) -> bool {
        let stock = self.indices.get(&symbol).map(|stock| &self.stocks[stock.0 as usize]);
        stock.is_some_and(|stock| stock.rules.has_extended())
    }

    /// Returns the newest price of a stock in extended hours, to be stored for
    /// [`Event::ResumeExtended`](super::Event::ResumeExtended); `None` once its session was observed.
    #[must_use]
    pub fn extended_price(&self, symbol: Symbol) -> Option<ExtendedPrice> {
        self.stocks[self.indices.get(&symbol)?.0 as usize].extended
    }

    /// Returns whether a bar of the session of `date`, or of a later one, was delivered. The engine itself makes a bar of the
    /// observations of a session once it is over.
    #[must_use]
    pub fn has_delivered_bar(&self, symbol: Symbol, date: Date) -> bool {
        let stock = self.indices.get(&symbol).map(|stock| &self.stocks[stock.0 as usize]);
        stock.is_some_and(|stock| {
            let last = stock.history.last().map(|bar| bar.date);
            last > Some(date) || last == Some(date) && stock.observed_bar != last
        })
    }

    /// Returns whether a stock has alerts that are evaluated at its observations.
    #[must_use]
    pub fn has_price_alerts(&self, symbol: Symbol) -> bool {
        let stock = self.indices.get(&symbol).map(|stock| &self.stocks[stock.0 as usize]);
        stock.is_some_and(|stock| !stock.groups.is_empty() || !stock.rules.is_empty())
    }

    /// Checks that an observation of a stock at `now` would be evaluated.
    ///
    /// # Errors
    /// [`EventError`] if the market is closed, or if a bar or an observation of a later session has completed the session.
    pub fn check_observation(&self, stock: StockIndex, now: Timestamp) -> Result<(), EventError> {
        let session = self.calendar.session_at(now).ok_or(EventError::MarketClosed)?;
        let at = stock.0 as usize;
        let is_over = self.hot.find(at).is_some_and(|hot| hot.day > day_number(session.date))
            || (self.stocks.get(at)).is_some_and(|stock| stock.is_completed(session.date));
        if is_over {
            Err(EventError::SessionCompleted { count: 1 })
        } else {
            Ok(())
        }
    }

    /// Returns the next instant at which [`Event::Clock`](super::Event::Clock) is due.
    #[must_use]
    pub fn next_moment(&self) -> Option<Timestamp> {
        let first = self.moments.first().map(|&(at, _)| at);
        first.into_iter().chain(self.rules.next_moment()).min()
    }

    /// Returns the memory of the ordered indexes and hot lines of all stocks, in bytes.
    #[must_use]
    pub fn index_bytes(&self) -> usize {
        let groups = self.stocks.iter().flat_map(|stock| &stock.groups);
        let indexes: usize = groups
            .map(|group| size_of::<group::Group>() + group.index.bytes())
            .sum();
        let rules: usize = self.stocks.iter().map(|stock| stock.rules.bytes()).sum();
        indexes + rules + self.hot.bytes()
    }
}
