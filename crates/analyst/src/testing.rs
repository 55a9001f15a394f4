//! Generated histories for the unit tests.

use jiff::Span;
use jiff::civil::date;
use market::{Bar, History, Price};

use crate::tick;

/// Builds a history of (high, low, close, volume), one session per calendar day.
fn history_of(days: impl IntoIterator<Item = (f64, f64, f64, i64)>) -> History {
    let mut history = History::default();
    for (day, (high, low, close, volume)) in (0_i64..).zip(days) {
        let price = |dollars: f64| tick::nearest(dollars).unwrap();
        let bar = Bar {
            date: date(2020, 1, 1).checked_add(Span::new().days(day)).unwrap(),
            open: price(close),
            high: price(high),
            low: price(low),
            close: price(close),
            volume,
        };
        history.record(bar).unwrap();
    }
    history
}

/// Builds a history of (high, low, close) with 1000 shares each.
pub(crate) fn history_of_ranges(days: impl IntoIterator<Item = (f64, f64, f64)>) -> History {
    history_of(days.into_iter().map(|(high, low, close)| (high, low, close, 1000)))
}

/// Builds a history of sessions with one price (the close) and its volume.
pub(crate) fn history_of_volumes(days: impl IntoIterator<Item = (f64, i64)>) -> History {
    history_of(days.into_iter().map(|(close, volume)| (close, close, close, volume)))
}

/// Builds a history of sessions with one price (the close) and 1000 shares each.
pub(crate) fn history_of_closes(closes: impl IntoIterator<Item = f64>) -> History {
    history_of_volumes(closes.into_iter().map(|close| (close, 1000)))
}

pub(crate) fn price(text: &str) -> Price {
    text.parse().unwrap()
}
