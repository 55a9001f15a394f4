//! Figures of a stock's completed sessions, for live sources.

use ::market::calendar::new_york;
use ::market::{Price, Symbol};
use jiff::Timestamp;

use crate::market::MarketOverview;

/// The number of sessions of an average volume.
const AVERAGE_VOLUME_SESSIONS: u8 = 20;

impl MarketOverview {
    /// Returns the close of a stock's last completed session, in today's shares, and the end of that session.
    #[must_use]
    pub fn last_close(&self, symbol: Symbol) -> Option<(Price, Timestamp)> {
        let bar = self.evaluator.read(|engine| engine.history(symbol)?.last().copied())?;
        let session = self.settings.calendar.session(bar.date);
        let ended = session.map_or_else(|| new_york(bar.date, 16, 0), |session| session.close);
        Some((bar.close, ended))
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
