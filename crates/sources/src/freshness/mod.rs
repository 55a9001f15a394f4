//! # Freshness: whether a quote may be judged
//!
//! An alert that fires on a wrong price has told its owner something false, and one that waits for a price that no longer comes
//! has told nothing. So each quote passes a gate before it is judged, and who waits in vain can be found out.
//!
//! The [`Gate`] knows of each stock what it let through last, and answers a [`Verdict`]:
//!
//! | reason | what it means | verdict |
//! |---|---|---|
//! | [`Ahead`](Reason::Ahead) | its time lies ahead of the provider's clock | dropped |
//! | [`Stale`](Reason::Stale) | so old that it says nothing of now | dropped |
//! | [`OutOfOrder`](Reason::OutOfOrder) | older than what is known | dropped |
//! | [`Duplicate`](Reason::Duplicate) | the same time, price and volume as what is known, or as what is held | dropped |
//! | [`Crossed`](Reason::Crossed) | buyers offer more than sellers ask | dropped |
//! | [`NoPrice`](Reason::NoPrice) | NaN, zero, negative: no price at all. Parsers find these; [`Gate::note_unreadable`] counts them | dropped |
//! | [`Jump`](Reason::Jump) | further from the last price than the bound, without an event that explains it | held |
//! | [`Late`](Reason::Late) | true, but told later than is usual | held |
//!
//! What is *held* is not judged now. A jump is let through once a later quote confirms it; the first one is not judged then. If
//! another source agrees with it ([`Gate::confirm`]), the first one itself is let through. A late
//! quote counts for order and jumps, and is for those who judge what was missed (and mark it late).
//!
//! A stretch of which nothing was heard is fetched as minutes; [`observations`] makes of them what would have been seen.
//!
//! Nothing here reads a clock: `now` is a parameter, and it is the provider's clock that counts, so whoever knows by how much
//! that is ahead ([`Provider::clock_skew`](crate::provider::Provider::clock_skew)) adds it.

mod counts;
mod gate;
mod missed;

pub use counts::Counts;
pub use gate::{Gate, Limits, Reason, Verdict};
pub use missed::observations;
