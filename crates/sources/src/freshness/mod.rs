//! # Freshness: which quotes alerts are evaluated against
//!
//! A wrong price makes an alert fire wrongly. A price feed that stops makes an alert silent without notice. So each quote
//! passes a filter.
//!
//! The [`QuoteFilter`] keeps the last accepted quote of each stock and returns a [`QuoteDecision`]:
//!
//! | reason | meaning | decision |
//! |---|---|---|
//! | [`Ahead`](FilterReason::Ahead) | its time lies ahead of the provider's clock | dropped |
//! | [`Stale`](FilterReason::Stale) | too old to say anything about the present | dropped |
//! | [`OutOfOrder`](FilterReason::OutOfOrder) | older than the last quote | dropped |
//! | [`Duplicate`](FilterReason::Duplicate) | the same time, price and volume as the last quote, or the same as the held one | dropped |
//! | [`Crossed`](FilterReason::Crossed) | the bid is above the ask | dropped |
//! | [`NoPrice`](FilterReason::NoPrice) | the price is NaN, zero or negative. Parsers find these; [`QuoteFilter::count_unreadable`] counts them | dropped |
//! | [`Jump`](FilterReason::Jump) | further from the last price than the limit, such as a misprint | held |
//! | [`Late`](FilterReason::Late) | correct, but received later than usual | held |
//!
//! Alerts are not evaluated against a *held* quote now. A later quote can confirm a jump and then passes itself; the held
//! quote does not. If another source agrees with the held quote ([`QuoteFilter::confirm`]), the held quote itself passes. A
//! late quote counts for order and for jumps. It is evaluated with the missed quotes, as of its own time, and marked as
//! late.
//!
//! A gap without quotes is fetched as minute bars; [`quotes_from_minutes`] converts them to quotes.
//!
//! This module reads no clock: `now` is a parameter. It is the time of the provider's clock, so the caller adds the
//! [skew](crate::provider::Provider::clock_skew) of that clock.

mod counts;
mod filter;
mod missed;

pub use counts::QuoteCounts;
pub use filter::{FilterReason, QuoteDecision, QuoteFilter, QuoteLimits};
pub use missed::quotes_from_minutes;
