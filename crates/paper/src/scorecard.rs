//! The moves of a stock after an alert fired, compared with a benchmark.
//!
//! Both are measured from the close of the session in which the alert fired, because the benchmark's price at the
//! instant itself is not stored. (If the alert fired while the market was closed, the previous close is used.) The
//! move since the price that fired the alert is given as well. Prices are adjusted for splits but exclude dividends,
//! because an alert is about a price. Future values are `None`.

use jiff::Timestamp;
use jiff::civil::Date;
use market::calendar::new_york_date;
use market::{Calendar, Price};

use crate::corporate_actions::CorporateAction;
use crate::daily_closes::PriceHistory;

/// The numbers of sessions after which moves are measured.
pub const HORIZON_SESSIONS: [u16; 3] = [1, 5, 20];

/// A firing of an alert.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FiredAlertRecord {
    /// The instant.
    pub at: Timestamp,
    /// The price, per share of that day; alerts on dates have none.
    pub price: Option<Price>,
}

/// The moves after a firing.
#[derive(Clone, PartialEq, Debug)]
pub struct Scorecard {
    /// The session from whose close moves are measured; `None` at the end of representable time.
    pub base_date: Option<Date>,
    /// The stock's close of that session, per share of that day; `None` before it.
    pub base_close: Option<Price>,
    /// The moves for each of [`HORIZON_SESSIONS`].
    pub horizons: [Horizon; 3],
}

/// The move up to a number of sessions after a firing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Horizon {
    /// The number of sessions after the firing.
    pub sessions: u16,
    /// The date of that session.
    pub date: Option<Date>,
    /// The move; `None` if the session is in the future or the stock has no close since.
    pub reached: Option<PriceMove>,
}

/// Price moves in percent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PriceMove {
    /// The stock's close, per share of its day; the last one before, if that day has none.
    pub close: Price,
    /// The stock's move since the close of the session of the firing.
    pub move_pct: f64,
    /// The stock's move since the price that fired the alert.
    pub since_firing_pct: Option<f64>,
    /// The benchmark's move since the close of the session of the firing.
    pub benchmark_pct: Option<f64>,
    /// The excess of the stock's move over the benchmark's, in percentage points.
    pub excess_pct: Option<f64>,
}

impl PriceHistory<'_> {
    /// Converts a price of one day to the shares of a later day.
    fn in_shares_of(&self, price: Price, of: Date, later: Date) -> f64 {
        let actions = self.actions.between_closes(self.symbol, of, later);
        actions.fold(price.as_f64(), |price, action| match action {
            CorporateAction::Split(ratio) => price / ratio.as_f64(),
            CorporateAction::Dividend(_) => price,
        })
    }

    /// The move from a price of one day to a price of a later day, in percent.
    fn move_pct(&self, (of, from): (Date, Price), (later, to): (Date, Price)) -> f64 {
        (to.as_f64() / self.in_shares_of(from, of, later) - 1.0) * 100.0
    }

    /// Returns the last close at `date` with its day, and the move to it from the last close at `base`; `None` if
    /// there is no close after `base`.
    fn since(&self, base: Date, date: Date) -> Option<((Date, Price), f64)> {
        let from = self.closes.at_or_before(base)?;
        let to = self.closes.at_or_before(date).filter(|(day, _)| base < *day)?;
        Some((to, self.move_pct(from, to)))
    }
}

/// Computes the moves after a firing as of the session `through`, the last completed one.
#[must_use]
pub fn scorecard(
    calendar: &Calendar,
    firing: FiredAlertRecord,
    stock: PriceHistory<'_>,
    benchmark: PriceHistory<'_>,
    through: Date,
) -> Scorecard {
    let fired_on = new_york_date(firing.at);
    let base = base_session(calendar, firing.at, fired_on);
    let mut at = base;
    let mut passed = 0;
    let horizons = HORIZON_SESSIONS.map(|sessions| {
        while passed < sessions {
            at = at
                .and_then(|date| calendar.next_session_after(date))
                .map(|next| next.date);
            passed += 1;
        }
        let reached = at.filter(|date| *date <= through).zip(base).and_then(|(date, base)| {
            let (to, move_pct) = stock.since(base, date)?;
            let benchmark_pct = benchmark.since(base, date).map(|(_, moved)| moved);
            Some(PriceMove {
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

/// Returns the session of a firing: the one at that instant or, between sessions, the one before.
fn base_session(calendar: &Calendar, at: Timestamp, fired_on: Date) -> Option<Date> {
    let today = calendar.session(fired_on).filter(|session| session.open <= at);
    let session = today.or_else(|| calendar.previous_session_before(fired_on));
    session.map(|session| session.date)
}
