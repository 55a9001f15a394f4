//! What is observed during a session, made of its bars.
//!
//! A daily bar makes four observations: the open at the session's open, then the low and the high, the one nearer to
//! the open first (the low on a tie), one and two thirds through the session, and the close at its close, with the
//! bar's whole volume on the last. An intraday bar does the same over its own span, which reaches to the symbol's
//! next bar, but no further than the shortest span between two of its bars that day, nor beyond the session's close;
//! its volumes add up over the session. Where a day has intraday bars, they are what is observed, and the daily bar
//! only completes the session.

use std::collections::BTreeMap;

use alerts::engine::{Quote, StockIx};
use jiff::Timestamp;
use jiff::civil::Date;
use market::calendar::new_york_date;
use market::{Bar, Price, Session, Symbol};
use sources::folder::{IntradayBar, SymbolBars};

/// The observations of one session in time order; those of one round are of one instant and of different stocks.
pub(super) type Rounds = BTreeMap<(Timestamp, u32), Vec<Quote>>;

/// One stock's bars, read day by day.
pub(super) struct Reel<'a> {
    pub(super) symbol: Symbol,
    stock: StockIx,
    daily: &'a [Bar],
    intraday: &'a [IntradayBar],
}

impl<'a> Reel<'a> {
    pub(super) fn new(symbol: Symbol, stock: StockIx, bars: &'a SymbolBars) -> Self {
        Self {
            symbol,
            stock,
            daily: &bars.daily,
            intraday: &bars.intraday,
        }
    }

    /// The next day for which there are bars.
    pub(super) fn next_date(&self) -> Option<Date> {
        let daily = self.daily.first().map(|bar| bar.date);
        let intraday = self.intraday.first().map(|bar| new_york_date(bar.time));
        [daily, intraday].into_iter().flatten().min()
    }

    /// Takes the bars up to `date` off the reel, unseen.
    pub(super) fn skip_through(&mut self, date: Date) {
        take_while(&mut self.daily, |bar| bar.date <= date);
        take_while(&mut self.intraday, |bar| new_york_date(bar.time) <= date);
    }

    /// Takes the bars of `session`: adds what is observed to `rounds` and returns the session's bar.
    pub(super) fn take(&mut self, session: &Session, rounds: &mut Rounds) -> Option<Bar> {
        let daily = take_while(&mut self.daily, |bar| bar.date <= session.date)
            .last()
            .copied();
        let daily = daily.filter(|bar| bar.date == session.date);
        let intraday = take_while(&mut self.intraday, |bar| new_york_date(bar.time) <= session.date);
        let during: Vec<_> = intraday
            .iter()
            .filter(|bar| session.open <= bar.time && bar.time < session.close)
            .collect();
        if during.is_empty() {
            daily.iter().for_each(|bar| self.observe_day(bar, session, rounds));
        } else {
            self.observe_intraday(&during, session, rounds);
        }
        daily.or_else(|| whole_session(session.date, &during))
    }

    fn observe_day(&self, bar: &Bar, session: &Session, rounds: &mut Rounds) {
        let prices = four_prices(bar.open, bar.high, bar.low, bar.close);
        self.observe(prices, (session.open, session.close), (None, bar.volume), 0, rounds);
    }

    fn observe_intraday(&self, bars: &[&IntradayBar], session: &Session, rounds: &mut Rounds) {
        let spans = bars.windows(2).map(|pair| pair[0].time.duration_until(pair[1].time));
        let shortest = spans
            .min()
            .unwrap_or_else(|| bars[0].time.duration_until(session.close));
        let mut volume = 0_i64;
        for (bar, place) in bars.iter().zip(1..) {
            let end = bar
                .time
                .saturating_add(shortest)
                .unwrap_or(session.close)
                .min(session.close);
            let before = volume;
            volume = before.saturating_add(bar.volume);
            let prices = four_prices(bar.open, bar.high, bar.low, bar.close);
            self.observe(prices, (bar.time, end), (Some(before), volume), place, rounds);
        }
    }

    /// Four prices over a span of time, the volume `before` on the first three, if it is known, and the one `after`
    /// on the last.
    fn observe(
        &self,
        prices: [Price; 4],
        (start, end): (Timestamp, Timestamp),
        (before, after): (Option<i64>, i64),
        place: u32,
        rounds: &mut Rounds,
    ) {
        let third = start.duration_until(end) / 3;
        let instants = [start, start + third, start + third * 2, end];
        for (nth, (price, at)) in prices.into_iter().zip(instants).enumerate() {
            let volume = if nth == 3 { Some(after) } else { before };
            let quote = Quote::new(self.stock, price).with_volume(volume.unwrap_or(-1));
            rounds.entry((at, place)).or_default().push(quote);
        }
    }
}

/// Open, then the extreme nearer to it (the low on a tie), then the other, then close.
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

/// The daily bar that intraday bars make together.
fn whole_session(date: Date, bars: &[&IntradayBar]) -> Option<Bar> {
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
    use alerts::engine::{Engine, Settings};
    use jiff::civil::date;
    use market::Calendar;

    fn price(text: &str) -> Price {
        text.parse().unwrap()
    }

    #[test]
    fn the_extreme_nearer_to_the_open_comes_first_and_the_low_on_a_tie() {
        let order =
            |open, high, low| four_prices(price(open), price(high), price(low), price("10")).map(|p| p.to_string());
        assert_eq!(order("11", "12", "9"), ["11", "12", "9", "10"]);
        assert_eq!(order("10", "12", "9"), ["10", "9", "12", "10"]);
        assert_eq!(order("10", "11", "9"), ["10", "9", "11", "10"]);
    }

    fn observed(bars: &SymbolBars, on: Date) -> Vec<String> {
        let mut engine = Engine::new(Calendar::nyse(), Settings::default());
        let symbol = "AAPL".parse().unwrap();
        let mut reel = Reel::new(symbol, engine.stock(symbol), bars);
        let mut rounds = Rounds::new();
        reel.take(&Calendar::nyse().session(on).unwrap(), &mut rounds);
        rounds
            .into_iter()
            .map(|((at, _), quotes)| format!("{at} {quotes:?}"))
            .collect()
    }

    #[test]
    fn an_early_close_shortens_the_day_of_a_bar() {
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
    fn intraday_volumes_add_up_and_a_bar_ends_where_the_next_begins() {
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
        assert!(
            lines[7].starts_with("2024-07-05T13:36:00Z") && lines[7].contains("volume: 30,"),
            "{}",
            lines[7]
        );
    }
}
