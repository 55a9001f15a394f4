//! What a source has to know to ask for what is needed, and no more: which stocks somebody watches, what is known of them, and
//! what somebody wants now.

use std::collections::{BTreeMap, BTreeSet};

use ::market::{Price, Symbol};
use jiff::Timestamp;
use jiff::civil::Date;
use sources::live::RefreshKind;
use tokio::sync::broadcast;

use crate::ServiceError;
use crate::market::MarketIntake;

impl MarketIntake {
    /// The stocks that somebody watches, by an alert that is judged or on a watchlist, and the benchmark: the most watched first,
    /// then by symbol; and last those that are of interest for a while ([`Service::stocks_of_interest`]).
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails.
    pub async fn watched_stocks(&self) -> Result<Vec<Symbol>, ServiceError> {
        let mut watchers: BTreeMap<Symbol, u64> = BTreeMap::new();
        watchers.insert(self.settings.benchmark, 0);
        for (symbol, count) in self.ports.store.watched_symbols().await? {
            *watchers.entry(symbol).or_default() += count;
        }
        for (symbol, count) in self.evaluator.read(::alerts::engine::Engine::armed_per_stock) {
            *watchers.entry(symbol).or_default() += u64::try_from(count).unwrap_or(u64::MAX);
        }
        let mut watched: Vec<(Symbol, u64)> = watchers.into_iter().collect();
        // Stable: of those that are watched as often the order of symbols stays.
        watched.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let mut watched: Vec<Symbol> = watched.into_iter().map(|(symbol, _)| symbol).collect();
        self.add_stocks_of_interest(&mut watched);
        Ok(watched)
    }

    /// Adds the stocks of interest that are not among `watched` to its end.
    pub fn add_stocks_of_interest(&self, watched: &mut Vec<Symbol>) {
        let mut more = self.interest.symbols(self.ports.clock.now());
        more.retain(|symbol| !watched.contains(symbol));
        watched.append(&mut more);
    }

    /// The stocks of alerts that are paused, triggered or not verified yet: a split moves their thresholds, too. Reads every alert,
    /// so it is not for every few seconds.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails.
    pub async fn stocks_of_inactive_alerts(&self) -> Result<BTreeSet<Symbol>, ServiceError> {
        let symbols = self.ports.store.symbols_of_inactive_alerts().await?;
        Ok(symbols.into_iter().collect())
    }

    /// What is wanted now, whatever time it is. A source that asks somebody listens to this.
    #[must_use]
    pub fn wanted(&self) -> broadcast::Receiver<RefreshKind> {
        self.wanted.subscribe()
    }

    /// The price of a stock that was observed last in a session, in today's shares, and when it was made.
    #[must_use]
    pub fn last_observation(&self, symbol: Symbol) -> Option<(Price, Timestamp)> {
        let session = self.evaluator.read(|engine| engine.observed_session(symbol))?;
        Some((session.last, session.last_at))
    }

    /// The last completed session of a stock of which a bar is known.
    #[must_use]
    pub fn last_bar(&self, symbol: Symbol) -> Option<Date> {
        let last = |engine: &::alerts::engine::Engine| Some(engine.history(symbol)?.last()?.date);
        self.evaluator.read(last)
    }
}
