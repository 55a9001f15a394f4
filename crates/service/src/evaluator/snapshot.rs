//! A stock as the engine knows it at one instant.

use ::alerts::engine::Engine;
use ::market::{Bar, History, ObservedPrice, Symbol};

use super::Evaluator;
use crate::market::bar_of;

/// A stock as the engine knows it at one instant: all of it in today's shares.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Snapshot {
    /// The last price, if one is known.
    pub(crate) price: Option<ObservedPrice>,
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
            price: self.last_observed_in(engine, symbol),
            history: engine.history(symbol).cloned().unwrap_or_default(),
            session_volume: engine
                .observed_session(symbol)
                .filter(|_| engine.is_session_running(symbol))
                .and_then(|so_far| so_far.volume),
        })
    }

    /// The last price of a stock: observed in a session or out of one, or the close of a later bar.
    pub(super) fn last_observed_in(&self, engine: &Engine, symbol: Symbol) -> Option<ObservedPrice> {
        let session = engine.observed_session(symbol);
        let observed = session.map(|seen| ObservedPrice {
            price: seen.last,
            at: self.quote_times.of(symbol, seen.last_at),
        });
        let closed = engine.history(symbol).and_then(|history| history.last().copied());
        // A bar that was made of the observations knows no later price than they do.
        let is_observed = |bar: &Bar| {
            session.is_some_and(|session| bar_of(&session) == *bar) && self.known_splits().is_eve(symbol, bar.date)
        };
        let closed = closed.filter(|bar| !is_observed(bar));
        let closed = closed.map(|bar| ObservedPrice {
            price: bar.close,
            at: self.close_of(bar.date),
        });
        let off = self.off_session(symbol).map(|off| ObservedPrice {
            price: off.price,
            at: off.at,
        });
        // At one instant the observation counts.
        [closed, off, observed]
            .into_iter()
            .flatten()
            .max_by_key(|observed| observed.at)
    }
}
