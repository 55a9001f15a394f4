//! The engine's view of a stock at one instant.

use ::alerts::engine::Engine;
use ::market::{Bar, History, ObservedPrice, Symbol};
use store::model::LatestQuote;

use super::Evaluator;
use super::load::observed_session;
use crate::market::sessions::bar_of;

/// The engine's view of a stock at one instant, in today's shares.
#[derive(Clone, PartialEq, Debug)]
pub struct Snapshot {
    /// The last price, if one is known.
    pub price: Option<ObservedPrice>,
    /// The completed sessions.
    pub history: History,
    /// The volume so far of the running session, if there is one and its quotes have volumes.
    pub session_volume: Option<i64>,
}

impl Evaluator {
    /// Returns the present state of a stock. Evaluation waits while its history is copied: at most
    /// [`KEPT_SESSIONS`](market::history::KEPT_SESSIONS) bars of one stock, which takes some microseconds.
    pub fn snapshot(&self, symbol: Symbol) -> Snapshot {
        self.read(|engine| Snapshot {
            price: self.last_observed_in(engine, symbol),
            history: engine.history(symbol).cloned().unwrap_or_default(),
            session_volume: engine
                .observed_session(symbol)
                .filter(|_| engine.is_session_running(symbol))
                .and_then(|so_far| so_far.volume),
        })
    }

    /// Returns the price of a stored quote in today's shares.
    pub(crate) fn stored_price(&self, quote: &LatestQuote) -> ObservedPrice {
        let session = self
            .known_splits()
            .session_in_todays_shares(quote.symbol, observed_session(quote));
        ObservedPrice {
            price: session.last,
            at: quote.made_at.unwrap_or(quote.at),
        }
    }

    /// Returns the last price of a stock: observed in or out of a session, or the close of a later bar.
    pub fn last_observed_in(&self, engine: &Engine, symbol: Symbol) -> Option<ObservedPrice> {
        let session = engine.observed_session(symbol);
        let observed = session.map(|seen| ObservedPrice {
            price: seen.last,
            at: self.quote_times.of(symbol, seen.last_at),
        });
        let closed = engine.history(symbol).and_then(|history| history.last().copied());
        // A bar that was made from the observations has no later price than they have.
        let is_observed = |bar: &Bar| {
            session.is_some_and(|session| bar_of(&session) == *bar)
                && self.known_splits().is_session_before_split(symbol, bar.date)
        };
        let closed = closed.filter(|bar| !is_observed(bar));
        let closed = closed.map(|bar| ObservedPrice {
            price: bar.close,
            at: self.close_of(bar.date),
        });
        // At the same instant the observation has priority.
        [closed, self.off_session_price(symbol), observed]
            .into_iter()
            .flatten()
            .max_by_key(|observed| observed.at)
    }
}
