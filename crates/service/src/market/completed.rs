//! Figures of a stock's completed sessions, for the sources that ask providers.

use ::market::calendar::new_york;
use ::market::{Price, Symbol};
use jiff::Timestamp;

use crate::market::MarketOverview;

/// The number of sessions that an average volume is taken over.
const AVERAGE_VOLUME_SESSIONS: u8 = 20;

impl MarketOverview {
    /// The close of the last completed session of a stock, in today's shares, and when that session ended.
    #[must_use]
    pub fn last_close(&self, symbol: Symbol) -> Option<(Price, Timestamp)> {
        let bar = self.evaluator.read(|engine| engine.history(symbol)?.last().copied())?;
        let session = self.settings.calendar.session(bar.date);
        let ended = session.map_or_else(|| new_york(bar.date, 16, 0), |session| session.close);
        Some((bar.close, ended))
    }

    /// The shares that were traded a day, on average over the last 20 sessions; `None` if fewer are known.
    #[must_use]
    pub fn average_volume(&self, symbol: Symbol) -> Option<i64> {
        let sum = |engine: &::alerts::engine::Engine| {
            let history = engine.history(symbol)?;
            history.sum_of_volumes(usize::from(AVERAGE_VOLUME_SESSIONS))
        };
        Some(self.evaluator.read(sum)? / i64::from(AVERAGE_VOLUME_SESSIONS))
    }
}
