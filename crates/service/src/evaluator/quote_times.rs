//! When the last observations were made, by the times of the quotes themselves.
//!
//! The engine judges a quote at the instant it comes in. A quote of a delayed plan, or one that was pushed late, is older than that,
//! and a price is as old as its quote.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use ::market::Symbol;
use jiff::Timestamp;

/// The own time of an observation, and when it was judged.
#[derive(Clone, Copy, Debug)]
struct QuoteTime {
    judged_at: Timestamp,
    made_at: Timestamp,
}

/// The times of the last quotes.
#[derive(Debug, Default)]
pub(crate) struct QuoteTimes(RwLock<HashMap<Symbol, QuoteTime>>);

impl QuoteTimes {
    /// Notes that a quote that was made at `made_at` is judged at `judged_at`.
    pub(crate) fn note(&self, symbol: Symbol, made_at: Timestamp, judged_at: Timestamp) {
        let mut times = self.0.write().unwrap_or_else(PoisonError::into_inner);
        times.insert(symbol, QuoteTime { judged_at, made_at });
    }

    /// When the observation was made that the engine judged at `judged_at`.
    pub(super) fn of(&self, symbol: Symbol, judged_at: Timestamp) -> Timestamp {
        let times = self.0.read().unwrap_or_else(PoisonError::into_inner);
        // The engine keeps whole seconds.
        let known = times
            .get(&symbol)
            .filter(|known| known.judged_at.as_second() == judged_at.as_second());
        known.map_or(judged_at, |known| known.made_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observation_has_the_time_of_its_quote_and_any_other_the_time_it_was_judged() {
        let at = |text: &str| -> Timestamp { text.parse().unwrap() };
        let symbol = "AAPL".parse().unwrap();
        let times = QuoteTimes::default();
        let judged_at = at("2024-03-08T15:20:00.5Z");
        assert_eq!(times.of(symbol, judged_at), judged_at);
        times.note(symbol, at("2024-03-08T15:05:00Z"), judged_at);
        assert_eq!(times.of(symbol, at("2024-03-08T15:20:00Z")), at("2024-03-08T15:05:00Z"));
        let later = at("2024-03-08T15:20:01Z");
        assert_eq!(times.of(symbol, later), later);
    }
}
