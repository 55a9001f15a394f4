//! The newest prices in extended hours: stored with the decisions about them, and loaded at the start.

use ::alerts::Alert;
use ::alerts::engine::{Engine, Event, ExtendedPrice};
use ::market::{Price, Symbol};
use jiff::Timestamp;
use store::StoreError;
use store::model::LatestExtendedPrice;

use super::Evaluator;
use super::load::EngineLoader;

/// Returns the rows of the newest prices that the engine has.
pub(super) fn latest_extended_prices(engine: &Engine, symbols: Vec<Symbol>) -> Vec<LatestExtendedPrice> {
    let prices = symbols.into_iter().filter_map(|symbol| {
        let newest = engine.extended_price(symbol)?;
        Some(LatestExtendedPrice {
            symbol,
            session: newest.session,
            price: newest.price,
            at: newest.at,
            bid: newest.bid,
            ask: newest.ask,
        })
    });
    prices.collect()
}

impl EngineLoader<'_> {
    /// Loads the newest price of each stock in extended hours, after its last session. Prices that are dated after the present are
    /// left out; the next ones replace them.
    pub(super) async fn load_extended_prices(&self) -> Result<(), StoreError> {
        for row in self.evaluator.store.latest_extended_prices().await? {
            if row.at <= self.now {
                self.process(self.evaluator.resumed_extended(&row), self.now);
            }
        }
        Ok(())
    }
}

impl Evaluator {
    /// Lets stocks continue from their stored prices in extended hours.
    pub(super) async fn resume_extended_prices(&self, is_wanted: impl Fn(Symbol) -> bool) -> Result<(), StoreError> {
        let now = self.engine_now();
        for row in self.store.latest_extended_prices().await? {
            if row.at <= now && is_wanted(row.symbol) {
                // A stored price is always accepted.
                let _ = self.engine().process(self.resumed_extended(&row), now, &mut Vec::new());
            }
        }
        Ok(())
    }

    fn resumed_extended(&self, row: &LatestExtendedPrice) -> Event<'static> {
        let newest = ExtendedPrice {
            session: row.session,
            price: row.price,
            at: row.at,
            bid: row.bid,
            ask: row.ask,
        };
        Event::ResumeExtended {
            symbol: row.symbol,
            newest: self.known_splits().extended_price_in_todays_shares(row.symbol, newest),
        }
    }

    /// Returns the close before the session to which the price of a firing belongs. In extended hours, that of an alert which is judged
    /// in them belongs to the session that opens next.
    pub(super) fn close_before_price(&self, alert: &Alert, fired_at: Timestamp) -> Option<Price> {
        let hours = self.settings.calendar.extended_hours_at(fired_at);
        match hours.filter(|_| alert.options.judges_extended_hours()) {
            Some(hours) => self.close_before(alert.symbol, hours.session.date),
            None => self.previous_close(alert.symbol),
        }
    }
}
