//! Observations in extended hours, for invented markets.

use alerts::engine::{Engine, ExtendedQuote};
use jiff::{SignedDuration, Timestamp};
use market::Price;
use market::calendar::{Session, new_york};

use super::world::{Observed, symbols};

pub(crate) const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// Returns the steps before the open.
pub(crate) fn before_open<T>(session: &Session, steps: Vec<(i64, T)>) -> Vec<(Timestamp, T)> {
    between(new_york(session.date, 4, 0), session.open - SECOND, steps)
}

/// Returns the steps after the close.
pub(crate) fn after_close<T>(session: &Session, steps: Vec<(i64, T)>) -> Vec<(Timestamp, T)> {
    between(session.close + SECOND, new_york(session.date, 20, 0), steps)
}

/// Returns the steps between two instants. The first and the last one are at these instants.
fn between<T>(from: Timestamp, to: Timestamp, steps: Vec<(i64, T)>) -> Vec<(Timestamp, T)> {
    let mut next = from;
    let dated = steps.into_iter().map(|(minutes, moves)| {
        let at = next;
        next += SignedDuration::from_mins(minutes);
        (at, moves)
    });
    let mut dated: Vec<_> = dated.filter(|(at, _)| *at <= to).collect();
    if let [_, .., last] = &mut dated[..] {
        last.0 = to;
    }
    dated
}

/// Returns observations as quotes in extended hours.
pub(crate) fn extended_quotes(engine: &mut Engine, seen: &[Observed]) -> Vec<ExtendedQuote> {
    let price = |micros: i64| Price::from_micros(micros).unwrap();
    let quotes = seen.iter().map(|observed| ExtendedQuote {
        stock: engine.stock(symbols()[observed.stock]),
        price: price(observed.price),
        bid: observed.book.map(|(bid, _)| price(bid)),
        ask: observed.book.map(|(_, ask)| price(ask)),
    });
    quotes.collect()
}
