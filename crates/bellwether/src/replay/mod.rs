//! # Replay: the engine over recorded market data
//!
//! A replay drives the very engine of the service with what a data folder holds, on a virtual clock, and tells what
//! fires. The same data and alerts give the same firings, on any machine.
//!
//! ## What happens when
//!
//! * Bars before the first replayed day are observed like all others: they warm the indicators up and are the symbols'
//!   earlier observations. Nothing fires before the first replayed day.
//! * A daily bar makes four observations ([`tape`]); after the last of them the bar itself completes the session.
//! * A split, and earnings per share known from a day on, are told at that day's first instant in New York; trades
//!   filed on a day at the moment at which date conditions are judged on it; mentions at their own instant. Earnings
//!   dates and dividends are known from the beginning ([`timeline`]).
//! * An alert is armed at its `created_at`. At one instant, facts come first, then new alerts, then
//!   what waits for the clock, then observations.
//!
//! * An alert without `created_at` is created just before the first replayed day.
//! * An alert that was created before the first replayed day gets its initial price, and the side that an RSI alert waits
//!   for, as of its creation. Splits move it. It is armed when the first replayed day begins, as if it had not fired
//!   before.
//! * Without any bars, the sessions are those of the calendar. Days after the last bar are replayed if `to` names them.
//!
//! The service's evaluation once a minute is left out: an alert whose condition already holds when it is created in the
//! middle of a session fires at its stock's next observation, which is up to two hours away.

mod firing;
mod run;
mod span;
mod tape;
mod timeline;

pub use firing::Firing;
pub use run::{Replay, Summary};
pub use span::{Span, SpanError};
