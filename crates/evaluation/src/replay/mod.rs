//! # Replay: the engine over recorded market data
//!
//! A replay runs the service's engine over a data folder on a virtual clock, and reports what fires. The same data
//! and alerts give the same firings on any machine.
//!
//! ## The order of events
//!
//! * Bars before the first replayed day are observed like all others: they warm up the indicators and count as the
//!   symbols' earlier observations. Nothing fires before the first replayed day.
//! * A daily bar makes four observations ([`observations`]); after the last one the bar itself completes the session.
//! * A split and earnings per share become known at midnight (New York) of their day, insider trades at the time on
//!   their filing day when date conditions are evaluated, and mentions at their own time. Earnings dates and
//!   dividends are known from the beginning ([`timeline`]).
//! * An alert is armed at its `created_at`. At the same instant, facts come first, then new alerts, then time-based
//!   conditions, then observations.
//!
//! * An alert without `created_at` is created just before the first replayed day.
//! * An alert that was created before the first replayed day gets its initial price, and the side that an RSI alert
//!   waits for, as of its creation. Splits adjust it. It is armed when the first replayed day begins, as if it had
//!   not fired before.
//! * Without any bars, the sessions are those of the calendar. Days after the last bar are replayed if `to` includes
//!   them.
//!
//! The service's evaluation once a minute is not replayed: an alert whose condition already holds when it is created
//! during a session fires at its stock's next observation, which is up to two hours later.
//!
//! `bellwether replay` runs it over a data folder, previews of alerts over the stored bars.

mod alert;
mod firing;
mod observations;
mod period;
mod run;
mod timeline;

use ::market::Calendar;

pub use alert::ReplayAlert;
pub use firing::ReplayFiring;
pub use period::{PeriodError, ReplayPeriod};
pub use run::{Replay, ReplaySummary};

/// Returns the calendar of stored bars: that of the exchange, even if the service evaluates a market that never closes.
#[must_use]
pub fn bar_calendar(calendar: &Calendar) -> Calendar {
    if calendar.is_always_open() {
        Calendar::nyse()
    } else {
        calendar.clone()
    }
}
