//! The observations of a session, derived from its bars.
//!
//! A daily bar makes four observations: the open at the session's open; then the low and the high, the one nearer to
//! the open first (the low on a tie), after one and two thirds of the session; and the close at its close, with the
//! bar's whole volume on the last. An intraday bar does the same over its own duration. It ends at the symbol's next
//! bar, but lasts no longer than the shortest time between two of its bars that day, and ends at the session's close
//! at the latest. Volumes of intraday bars add up over the session, and give its volume-weighted average price. If a day has intraday bars, only they are
//! observed, and the daily bar only completes the session.

use std::collections::BTreeMap;

use alerts::engine::{Quote, QuoteDetails, StockIndex};
use jiff::Timestamp;
use jiff::civil::Date;
use market::calendar::new_york_date;
use market::{Bar, IntradayBar, Price, Session, Symbol};
use sources::folder::{SymbolBars, VwapSums};

/// The observations of one session in time order. A batch has the observations of different stocks at one instant.
pub(super) type ObservationBatches = BTreeMap<(Timestamp, u32), Observations>;

/// Observations of one instant.
#[derive(Default, Debug)]
pub(super) struct Observations {
    pub(super) quotes: Vec<Quote>,
    pub(super) details: Vec<QuoteDetails>,
}

/// One stock's bars, read day by day.
pub(super) struct BarCursor<'a> {
    pub(super) symbol: Symbol,
    stock: StockIndex,
    daily: &'a [Bar],
    intraday: &'a [IntradayBar],
}

impl<'a> BarCursor<'a> {
    pub(super) fn new(symbol: Symbol, stock: StockIndex, bars: &'a SymbolBars) -> Self {
        Self {
            symbol,
            stock,
            daily: &bars.daily,
            intraday: &bars.intraday,
        }
    }

    /// Returns the next day with bars.
    pub(super) fn next_date(&self) -> Option<Date> {
        let daily = self.daily.first().map(|bar| bar.date);
        let intraday = self.intraday.first().map(|bar| new_york_date(bar.time));
        [daily, intraday].into_iter().flatten().min()
    }

    /// Skips the bars up to `date`.
    pub(super) fn skip_through(&mut self, date: Date) {
        take_while(&mut self.daily, |bar| bar.date <= date);
        take_while(&mut self.intraday, |bar| new_york_date(bar.time) <= date);
    }

    /// Takes the bars of `session`: adds the observations to `batches` and returns the session's bar.
    pub(super) fn take(&mut self, session: &Session, batches: &mut ObservationBatches) -> Option<Bar> {
        let daily = take_while(&mut self.daily, |bar| bar.date <= session.date)
            .last()
            .copied();
        let daily = daily.filter(|bar| bar.date == session.date);
        let intraday = take_while(&mut self.intraday, |bar| new_york_date(bar.time) <= session.date);
        let in_session: Vec<_> = intraday
            .iter()
            .filter(|bar| session.open <= bar.time && bar.time < session.close)
            .collect();
        if in_session.is_empty() {
            daily.iter().for_each(|bar| self.observe_day(bar, session, batches));
        } else {
            self.observe_intraday(&in_session, session, batches);
        }
        daily.or_else(|| session_bar(session.date, &in_session))
    }

    fn observe_day(&self, bar: &Bar, session: &Session, batches: &mut ObservationBatches) {
        let prices = four_prices(bar.open, bar.high, bar.low, bar.close);
        let after = (bar.volume, None);
        self.observe(prices, (session.open, session.close), (None, after), 0, batches);
    }

    fn observe_intraday(&self, bars: &[&IntradayBar], session: &Session, batches: &mut ObservationBatches) {
        let spans = bars.windows(2).map(|pair| pair[0].time.duration_until(pair[1].time));
        let shortest = spans
            .min()
            .unwrap_or_else(|| bars[0].time.duration_until(session.close));
        let mut volume = 0_i64;
        let mut sums = VwapSums::default();
        for (bar, bar_index) in bars.iter().zip(1..) {
            let end = bar
                .time
                .saturating_add(shortest)
                .unwrap_or(session.close)
                .min(session.close);
            let before = volume;
            volume = before.saturating_add(bar.volume);
            sums.add(bar);
            let after = (volume, sums.vwap());
            let prices = four_prices(bar.open, bar.high, bar.low, bar.close);
            self.observe(prices, (bar.time, end), (Some(before), after), bar_index, batches);
        }
    }

    /// Adds four prices over a time range. The first three have the volume `before`, if it is known, and the last one
    /// has the volume and the volume-weighted average price `after`.
    fn observe(
        &self,
        prices: [Price; 4],
        (start, end): (Timestamp, Timestamp),
        (before, (after, vwap)): (Option<i64>, (i64, Option<Price>)),
        bar_index: u32,
        batches: &mut ObservationBatches,
    ) {
        let third = start.duration_until(end) / 3;
        let instants = [start, start + third, start + third * 2, end];
        for (nth, (price, at)) in prices.into_iter().zip(instants).enumerate() {
            let volume = if nth == 3 { Some(after) } else { before };
            let batch = batches.entry((at, bar_index)).or_default();
            batch
                .quotes
                .push(Quote::new(self.stock, price).with_volume(volume.unwrap_or(-1)));
            if nth == 3 && vwap.is_some() {
                batch.details.push(QuoteDetails {
                    stock: self.stock,
                    bid: None,
                    ask: None,
                    vwap,
                });
            }
        }
    }
}

/// Returns the open, the extreme nearer to it (the low on a tie), the other extreme and the close.
fn four_prices(open: Price, high: Price, low: Price, close: Price) -> [Price; 4] {
    if open.micros() - low.micros() <= high.micros() - open.micros() {
        [open, low, high, close]
    } else {
        [open, high, low, close]
    }
}

fn take_while<'a, T>(slice: &mut &'a [T], belongs: impl Fn(&T) -> bool) -> &'a [T] {
    let at = slice.iter().position(|item| !belongs(item)).unwrap_or(slice.len());
    let (taken, rest) = slice.split_at(at);
    *slice = rest;
    taken
}

/// Returns the daily bar that the intraday bars add up to.
fn session_bar(date: Date, bars: &[&IntradayBar]) -> Option<Bar> {
    let (first, last) = (bars.first()?, bars.last()?);
    Some(Bar {
        date,
        open: first.open,
        high: bars.iter().map(|bar| bar.high).max()?,
        low: bars.iter().map(|bar| bar.low).min()?,
        close: last.close,
        volume: bars
            .iter()
            .fold(0_i64, |sum, bar| sum.saturating_add(bar.volume))
            .min(market::price::MAX_VOLUME),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alerts::engine::{Engine, EngineConfig};
    use jiff::civil::date;
    use market::Calendar;

    fn price(text: &str) -> Price {
        text.parse().unwrap()
    }

    #[test]
    fn nearer_extreme_comes_first_and_low_on_a_tie() {
        let order =
            |open, high, low| four_prices(price(open), price(high), price(low), price("10")).map(|p| p.to_string());
        assert_eq!(order("11", "12", "9"), ["11", "12", "9", "10"]);
        assert_eq!(order("10", "12", "9"), ["10", "9", "12", "10"]);
        assert_eq!(order("10", "11", "9"), ["10", "9", "11", "10"]);
    }

    fn observed(bars: &SymbolBars, on: Date) -> Vec<String> {
        let mut engine = Engine::new(Calendar::nyse(), EngineConfig::default());
        let symbol = "AAPL".parse().unwrap();
        let mut cursor = BarCursor::new(symbol, engine.stock(symbol), bars);
        let mut batches = ObservationBatches::new();
        cursor.take(&Calendar::nyse().session(on).unwrap(), &mut batches);
        batches
            .into_iter()
            .map(|((at, _), observations)| format!("{at} {observations:?}"))
            .collect()
    }

    #[test]
    fn early_close_shortens_the_observation_times() {
        let on = date(2024, 7, 3);
        let (open, high, low, close) = (price("5"), price("7"), price("4"), price("6"));
        let bars = SymbolBars {
            daily: vec![Bar {
                date: on,
                open,
                high,
                low,
                close,
                volume: 9,
            }],
            ..SymbolBars::default()
        };
        let instants: Vec<_> = observed(&bars, on)
            .iter()
            .map(|line| line[11..19].to_string())
            .collect();
        assert_eq!(instants, ["13:30:00", "14:40:00", "15:50:00", "17:00:00"]);
    }

    #[test]
    fn intraday_volumes_add_up_and_bars_end_at_the_next() {
        let bar = |time: &str, volume| IntradayBar {
            time: time.parse().unwrap(),
            open: price("5"),
            high: price("5"),
            low: price("5"),
            close: price("5"),
            volume,
        };
        let intraday = vec![bar("2024-07-05T13:30:00Z", 10), bar("2024-07-05T13:33:00Z", 20)];
        let lines = observed(
            &SymbolBars {
                intraday,
                ..SymbolBars::default()
            },
            date(2024, 7, 5),
        );
        assert_eq!(lines.len(), 8);
        assert!(
            lines[3].starts_with("2024-07-05T13:33:00Z") && lines[3].contains("volume: 10,"),
            "{}",
            lines[3]
        );
        assert!(
            lines[4].starts_with("2024-07-05T13:33:00Z") && lines[4].contains("volume: 10,"),
            "{}",
            lines[4]
        );
        assert!(!lines[2].contains("vwap"), "{}", lines[2]);
        assert!(lines[3].contains("vwap: Some(Price(5))"), "{}", lines[3]);
        assert!(
            lines[7].starts_with("2024-07-05T13:36:00Z") && lines[7].contains("volume: 30,"),
            "{}",
            lines[7]
        );
    }
}
