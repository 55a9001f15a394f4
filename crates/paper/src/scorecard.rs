//! What a stock did after an alert fired, next to a benchmark.
//!
//! Both are measured from the same moment, the close of the session in which the alert fired, because the benchmark's price
//! at the instant itself is not kept. (Fired while the market was closed: from the last close before.) What the stock did
//! since the very price that fired the alert stands beside it. Only prices count, moved by splits, without dividends: an
//! alert is about a price. What has not happened yet is `None`.

use jiff::Timestamp;
use jiff::civil::Date;
use market::calendar::new_york_date;
use market::{Calendar, Price, Symbol};

use crate::closes::Closes;
use crate::events::{Event, Events};

/// After how many sessions is looked.
pub const HORIZONS: [u16; 3] = [1, 5, 20];

/// A firing of an alert.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Firing {
    /// When.
    pub at: Timestamp,
    /// At what price, in the shares of that day; alerts that go by dates have none.
    pub price: Option<Price>,
}

/// A stock's past, as far as its closes tell it.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The stock.
    pub symbol: Symbol,
    /// Its closes, as traded.
    pub closes: &'a Closes,
    /// Its splits; dividends are passed over.
    pub events: &'a Events,
}

/// How a firing turned out.
#[derive(Clone, PartialEq, Debug)]
pub struct Scorecard {
    /// The session from whose close is counted; `None` at the end of all calendars.
    pub base_date: Option<Date>,
    /// The stock's close of that session, in the shares of that day; `None` before it.
    pub base_close: Option<Price>,
    /// For each of [`HORIZONS`].
    pub horizons: [Horizon; 3],
}

/// What happened up to so many sessions after a firing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Horizon {
    /// How many sessions after.
    pub sessions: u16,
    /// The session that this is.
    pub date: Option<Date>,
    /// What happened; `None` while it has not, or when the stock had no close to tell it by.
    pub reached: Option<Move>,
}

/// How far prices moved, in percent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Move {
    /// The stock's close, in the shares of its day; the last there was when it had none on the day itself.
    pub close: Price,
    /// The stock from the close of the session of the firing.
    pub move_pct: f64,
    /// The stock from the price that fired the alert.
    pub since_firing_pct: Option<f64>,
    /// The benchmark from the close of the session of the firing.
    pub benchmark_pct: Option<f64>,
    /// By how many percentage points the stock moved more than the benchmark.
    pub excess_pct: Option<f64>,
}

impl Record<'_> {
    /// A price of one day in the shares of another, later one.
    fn in_shares_of(&self, price: Price, of: Date, later: Date) -> f64 {
        let events = self.events.between_closes(self.symbol, of, later);
        events.fold(price.as_f64(), |price, event| match event {
            Event::Split(ratio) => price / ratio.as_f64(),
            Event::Dividend(_) => price,
        })
    }

    /// From a price of one day to another of a later one, in percent.
    fn move_pct(&self, (of, from): (Date, Price), (later, to): (Date, Price)) -> f64 {
        (to.as_f64() / self.in_shares_of(from, of, later) - 1.0) * 100.0
    }

    /// The last close at `date` and its day, and the move to it from the last one at `base`; `None` if there is none
    /// after the one.
    fn since(&self, base: Date, date: Date) -> Option<((Date, Price), f64)> {
        let from = self.closes.at_or_before(base)?;
        let to = self.closes.at_or_before(date).filter(|(day, _)| base < *day)?;
        Some((to, self.move_pct(from, to)))
    }
}

/// How a firing turned out, as of the session `through`, the last one that is completed.
#[must_use]
pub fn scorecard(
    calendar: &Calendar,
    firing: Firing,
    stock: Record<'_>,
    benchmark: Record<'_>,
    through: Date,
) -> Scorecard {
    let fired_on = new_york_date(firing.at);
    let base = base_session(calendar, firing.at, fired_on);
    let mut at = base;
    let mut passed = 0;
    let horizons = HORIZONS.map(|sessions| {
        while passed < sessions {
            at = at
                .and_then(|date| calendar.next_session_after(date))
                .map(|next| next.date);
            passed += 1;
        }
        let reached = at.filter(|date| *date <= through).zip(base).and_then(|(date, base)| {
            let (to, move_pct) = stock.since(base, date)?;
            let benchmark_pct = benchmark.since(base, date).map(|(_, moved)| moved);
            Some(Move {
                close: to.1,
                move_pct,
                since_firing_pct: firing.price.map(|price| stock.move_pct((fired_on, price), to)),
                benchmark_pct,
                excess_pct: benchmark_pct.map(|theirs| move_pct - theirs),
            })
        });
        Horizon {
            sessions,
            date: at,
            reached,
        }
    });
    let closed = base.filter(|base| *base <= through);
    Scorecard {
        base_date: base,
        base_close: closed
            .and_then(|base| stock.closes.at_or_before(base))
            .map(|(_, close)| close),
        horizons,
    }
}

/// The session of a firing: the one it fell into or, between two, the one before.
fn base_session(calendar: &Calendar, at: Timestamp, fired_on: Date) -> Option<Date> {
    let today = calendar.session(fired_on).filter(|session| session.open <= at);
    let session = today.or_else(|| calendar.previous_session_before(fired_on));
    session.map(|session| session.date)
}
