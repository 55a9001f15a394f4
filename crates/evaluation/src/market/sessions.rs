//! Ended sessions: their dates, their bars, and how these are stored.

use ::alerts::engine::{Engine, ObservedSession};
use ::market::calendar::new_york_date;
use ::market::records::BarRow;
use ::market::{Bar, Calendar, Symbol};
use jiff::Timestamp;
use jiff::civil::Date;

/// Returns the session of an instant: the running one or, between two sessions, the previous one.
pub(super) fn session_of(calendar: &Calendar, at: Timestamp) -> Option<Date> {
    let today = new_york_date(at);
    let begun = || calendar.session(today).filter(|session| session.open <= at);
    let session = calendar.session_at(at).or_else(begun);
    let session = session.or_else(|| calendar.previous_session_before(today));
    session.map(|session| session.date)
}

/// Returns the last session that is over.
pub fn completed_session(calendar: &Calendar, now: Timestamp) -> Option<Date> {
    let last = session_of(calendar, now)?;
    let is_running = calendar.session_at(now).is_some();
    if is_running {
        calendar.previous_session_before(last).map(|session| session.date)
    } else {
        Some(last)
    }
}

/// Returns the stock's last session as a bar, if it is over and no bar was delivered.
pub fn ended_session(engine: &Engine, symbol: Symbol, today: jiff::civil::Date) -> Option<BarRow> {
    let session = engine.observed_session(symbol).filter(|session| session.date < today)?;
    let bar = bar_of(&session);
    (!engine.has_delivered_bar(symbol, session.date)).then_some(BarRow { symbol, bar })
}

/// Converts the observations of a session to a bar.
pub(crate) fn bar_of(session: &ObservedSession) -> Bar {
    Bar {
        date: session.date,
        open: session.open,
        high: session.high,
        low: session.low,
        close: session.last,
        volume: session.volume.unwrap_or_default(),
    }
}
