//! The recorded market data: rows, bars, and the observations of a daily bar.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use market::{Bar, Price, Session, Symbol};

use crate::oracle::{OwnedEvent, TestQuote};

/// Returns the rows below the header whose first field is one of `symbols`. No field is quoted.
pub(crate) fn rows<'a>(text: &'a str, symbols: &BTreeSet<Symbol>) -> impl Iterator<Item = (Symbol, Vec<&'a str>)> {
    let symbols: BTreeMap<_, _> = symbols
        .iter()
        .map(|symbol| (symbol.as_str().to_owned(), *symbol))
        .collect();
    text.lines().skip(1).filter_map(move |line| {
        let (name, rest) = line.split_once(',')?;
        Some((*symbols.get(name)?, rest.split(',').collect()))
    })
}

/// Returns the daily bars of some symbols, in order.
pub(crate) fn bars(text: &str, symbols: &BTreeSet<Symbol>) -> BTreeMap<Symbol, Vec<Bar>> {
    let mut bars: BTreeMap<Symbol, Vec<Bar>> = BTreeMap::new();
    for (symbol, fields) in rows(text, symbols) {
        let price = |at: usize| fields[at].parse().expect("a price");
        bars.entry(symbol).or_default().push(Bar {
            date: fields[0].parse().expect("a date"),
            open: price(1),
            high: price(2),
            low: price(3),
            close: price(4),
            volume: fields[5].parse().expect("a volume"),
        });
    }
    bars.values_mut().for_each(|bars| bars.sort_by_key(|bar| bar.date));
    bars
}

pub(crate) fn symbols(names: &[&str]) -> BTreeSet<Symbol> {
    names.iter().map(|name| name.parse().expect("a symbol")).collect()
}

/// Returns the four observations of a daily bar: the open, then low and high (the one nearer to the open first, low on a tie)
/// after one and two thirds of the session, then the close with the volume.
pub(crate) fn observations(symbol: Symbol, bar: &Bar, session: &Session) -> [(Timestamp, OwnedEvent); 4] {
    let away = |price: Price| (price.micros() - bar.open.micros()).abs();
    let (first, second) = if away(bar.low) <= away(bar.high) {
        (bar.low, bar.high)
    } else {
        (bar.high, bar.low)
    };
    let third = session.open.duration_until(session.close) / 3;
    let seen = |price, volume| OwnedEvent::Snapshot(vec![TestQuote { symbol, price, volume }]);
    [
        (session.open, seen(bar.open, None)),
        (session.open + third, seen(first, None)),
        (session.open + third + third, seen(second, None)),
        (session.close, seen(bar.close, Some(bar.volume))),
    ]
}
