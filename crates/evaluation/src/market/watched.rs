//! The stocks that a live source has to request, their known state, and requests for an immediate refresh.

use std::collections::{BTreeMap, BTreeSet};

use ::alerts::expression::shape::symbols;
use ::alerts::{Condition, EvaluatedAlert};
use ::market::{ObservedPrice, Symbol};
use jiff::civil::Date;
use sources::live::RefreshKind;
use tokio::sync::broadcast;

use crate::market::MarketIntake;
use foundation::ServiceError;

impl MarketIntake {
    /// Returns the watched stocks: those of active alerts and watchlists, and the benchmark, the most watched first,
    /// then by symbol. The stocks of temporary interest are last (`Prices::stocks_of_interest`).
    pub async fn watched_stocks(&self) -> Result<Vec<Symbol>, ServiceError> {
        let mut watchers: BTreeMap<Symbol, u64> = BTreeMap::new();
        watchers.insert(self.settings.benchmark, 0);
        for (symbol, count) in self.ports.store.watched_symbols().await? {
            *watchers.entry(symbol).or_default() += count;
        }
        for (symbol, count) in self.alerts_per_stock().await? {
            *watchers.entry(symbol).or_default() += count;
        }
        let mut watched: Vec<(Symbol, u64)> = watchers.into_iter().collect();
        // Stable: equally watched stocks stay ordered by symbol.
        watched.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let mut watched: Vec<Symbol> = watched.into_iter().map(|(symbol, _)| symbol).collect();
        self.add_stocks_of_interest(&mut watched);
        Ok(watched)
    }

    /// Returns the number of active alerts on each stock that has any. An expression counts for each stock that it names.
    async fn alerts_per_stock(&self) -> Result<Vec<(Symbol, u64)>, ServiceError> {
        if self.evaluator.is_single() {
            let armed = self.evaluator.read(::alerts::engine::Engine::armed_per_stock);
            let counts = armed.into_iter();
            return Ok(counts
                .map(|(symbol, count)| (symbol, u64::try_from(count).unwrap_or(u64::MAX)))
                .collect());
        }
        // This node may evaluate none of them.
        let store = &self.ports.store;
        let mut counts = store.active_alerts_per_stock().await?;
        let count_named = &mut |alerts: Vec<EvaluatedAlert>| {
            for alert in alerts {
                if let Condition::Expression(rule) = &alert.condition {
                    counts.extend(symbols(&rule.expression).into_iter().flatten().map(|named| (named, 1)));
                }
            }
        };
        store.active_expressions(count_named).await?;
        Ok(counts)
    }

    /// Appends the stocks of interest that are not among `watched`.
    pub fn add_stocks_of_interest(&self, watched: &mut Vec<Symbol>) {
        let mut more = self.interest.symbols(self.ports.clock.now());
        more.retain(|symbol| !watched.contains(symbol));
        watched.append(&mut more);
    }

    /// Returns the stocks of alerts that are paused, triggered or not verified yet: a split changes their thresholds,
    /// too. It reads every alert, so do not call it every few seconds.
    pub async fn stocks_of_inactive_alerts(&self) -> Result<BTreeSet<Symbol>, ServiceError> {
        let symbols = self.ports.store.symbols_of_inactive_alerts().await?;
        Ok(symbols.into_iter().collect())
    }

    /// Subscribes to requests for an immediate refresh. A live source listens to them.
    #[must_use]
    pub fn refresh_requests(&self) -> broadcast::Receiver<RefreshKind> {
        self.wanted.subscribe()
    }

    /// Returns the price of a stock that was last observed in a session, in today's shares.
    #[must_use]
    pub fn last_observation(&self, symbol: Symbol) -> Option<ObservedPrice> {
        let session = self.evaluator.read(|engine| engine.observed_session(symbol))?;
        Some(ObservedPrice {
            price: session.last,
            at: session.last_at,
        })
    }

    /// Returns whether alerts on a stock are judged by its prices in extended hours, too.
    #[must_use]
    pub fn is_judged_in_extended_hours(&self, symbol: Symbol) -> bool {
        self.evaluator.read(|engine| engine.is_judged_in_extended_hours(symbol))
    }

    /// Returns the last completed session of a stock with a known bar.
    #[must_use]
    pub fn last_bar(&self, symbol: Symbol) -> Option<Date> {
        let last = |engine: &::alerts::engine::Engine| Some(engine.history(symbol)?.last()?.date);
        self.evaluator.read(last)
    }
}
