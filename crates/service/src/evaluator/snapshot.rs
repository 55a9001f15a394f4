//! A stock as the engine knows it at one instant.

use ::alerts::engine::Engine;
use ::market::{History, Price, Symbol};
use jiff::Timestamp;

use super::Evaluator;

/// A stock as the engine knows it at one instant: all of it in today's shares.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Snapshot {
    /// The last price, if one is known.
    pub(crate) price: Option<Price>,
    /// The completed sessions.
    pub(crate) history: History,
    /// The volume so far of the session that is going on, if there is one and its quotes have volumes.
    pub(crate) session_volume: Option<i64>,
}

impl Evaluator {
    /// A stock as it is known now. Judging waits while its history is copied, which is at most
    /// [`KEPT_SESSIONS`](market::history::KEPT_SESSIONS) bars of one stock: some microseconds.
    pub(crate) fn snapshot(&self, symbol: Symbol) -> Snapshot {
        self.read(|engine| Snapshot {
            price: self.last_price_in(engine, symbol),
            history: engine.history(symbol).cloned().unwrap_or_default(),
            session_volume: engine
                .session_so_far(symbol)
                .filter(|_| engine.is_session_running(symbol))
                .and_then(|so_far| so_far.volume),
        })
    }

    /// The last price of a stock: observed in a session or out of one, or the close of a later bar.
    pub(super) fn last_price_in(&self, engine: &Engine, symbol: Symbol) -> Option<Price> {
        let observed = engine.session_so_far(symbol).map(|seen| (seen.last_at, seen.last));
        let closed = engine.history(symbol).and_then(|history| history.last().copied());
        let closed: Option<(Timestamp, Price)> = closed.map(|bar| (self.close_of(bar.date), bar.close));
        let off = self.off_session(symbol).map(|off| (off.at, off.price));
        // At one instant the observation counts.
        [closed, off, observed]
            .into_iter()
            .flatten()
            .max_by_key(|&(at, _)| at)
            .map(|(_, price)| price)
    }
}
