//! The times at which the last quotes were made.
//!
//! The engine evaluates a quote at the instant of its arrival. A quote of a delayed plan, or one that was pushed
//! late, is older than that, and a price is as old as its quote.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use ::market::Symbol;
use jiff::Timestamp;

/// The time at which a quote was made, and the time at which it was evaluated.
#[derive(Clone, Copy, Debug)]
struct QuoteTime {
    evaluated_at: Timestamp,
    made_at: Timestamp,
}

/// The times of the last quotes.
#[derive(Debug, Default)]
pub(crate) struct QuoteTimes(RwLock<HashMap<Symbol, QuoteTime>>);

impl QuoteTimes {
    /// Records that a quote made at `made_at` is evaluated at `evaluated_at`.
    pub(crate) fn note(&self, symbol: Symbol, made_at: Timestamp, evaluated_at: Timestamp) {
        let mut times = self.0.write().unwrap_or_else(PoisonError::into_inner);
        times.insert(symbol, QuoteTime { evaluated_at, made_at });
    }

    /// Returns the time at which the quote that was evaluated at `evaluated_at` was made; without one, `evaluated_at`.
    pub(super) fn of(&self, symbol: Symbol, evaluated_at: Timestamp) -> Timestamp {
        self.known(symbol, evaluated_at).unwrap_or(evaluated_at)
    }

    /// Returns the time at which the quote that was evaluated at `evaluated_at` was made, if it is known.
    pub(super) fn known(&self, symbol: Symbol, evaluated_at: Timestamp) -> Option<Timestamp> {
        let times = self.0.read().unwrap_or_else(PoisonError::into_inner);
        // The engine keeps whole seconds.
        let known = times
            .get(&symbol)
            .filter(|known| known.evaluated_at.as_second() == evaluated_at.as_second());
        known.map(|known| known.made_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observation_has_the_time_of_its_quote_or_else_of_its_evaluation() {
        let at = |text: &str| -> Timestamp { text.parse().unwrap() };
        let symbol = "AAPL".parse().unwrap();
        let times = QuoteTimes::default();
        let evaluated_at = at("2024-03-08T15:20:00.5Z");
        assert_eq!(times.of(symbol, evaluated_at), evaluated_at);
        times.note(symbol, at("2024-03-08T15:05:00Z"), evaluated_at);
        assert_eq!(times.of(symbol, at("2024-03-08T15:20:00Z")), at("2024-03-08T15:05:00Z"));
        let later = at("2024-03-08T15:20:01Z");
        assert_eq!(times.of(symbol, later), later);
    }
}
