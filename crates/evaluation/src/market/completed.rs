//! Figures of a stock's completed sessions, for live sources.

use ::market::{ObservedPrice, Symbol};

use crate::market::MarketOverview;

/// The number of sessions of an average volume.
const AVERAGE_VOLUME_SESSIONS: u8 = 20;

impl MarketOverview {
    /// Returns the close of a stock's last completed session, in today's shares.
    #[must_use]
    pub fn last_close(&self, symbol: Symbol) -> Option<ObservedPrice> {
        let bar = self.evaluator.read(|engine| engine.history(symbol)?.last().copied())?;
        Some(ObservedPrice {
            price: bar.close,
            at: self.evaluator.close_of(bar.date),
        })
    }

    /// Returns the average daily volume of the last 20 sessions, in shares; `None` if fewer are known.
    #[must_use]
    pub fn average_volume(&self, symbol: Symbol) -> Option<i64> {
        let sum = |engine: &::alerts::engine::Engine| {
            let history = engine.history(symbol)?;
            history.sum_of_volumes(usize::from(AVERAGE_VOLUME_SESSIONS))
        };
        Some(self.evaluator.read(sum)? / i64::from(AVERAGE_VOLUME_SESSIONS))
    }
}
