//! # Sources: where market data comes from
//!
//! A live source is a task that sends a [`Delivery`] whenever something became known: over a bounded channel, so that
//! a source that is faster than those who listen has to wait for them; in the order of the instants; and with the
//! time taken from a [`Clock`], so that a test can run a week in a moment. It ends when nobody listens any more. What
//! kinds of data it has at all it says with a [`FeedSet`].
//!
//! * [`folder`]: recorded data as CSV files, read whole.
//! * [`file`](mod@file): such a folder, followed as it grows.
//! * [`simulated`]: a market that needs no data.
//! * [`ingest`]: the body of a request that pushes data. There the feed is the request itself, so there is no task.
//! * [`provider`]: those who sell market data or give it away, asked over HTTP or listened to.
//! * [`combine`]: several of them as one, what their plans are enough for, and a check of everything.
//! * [`freshness`]: whether a quote may be judged.
//!
//! This room knows no alert: it turns what others write into the nouns of [`market`].

mod clock;
pub mod combine;
mod feed;
pub mod file;
pub mod folder;
pub mod freshness;
pub mod ingest;
pub mod live;
pub mod provider;
pub mod simulated;

pub use clock::{Clock, ClockReading, ManualClock, Sleep};
pub use feed::{Delivery, FeedKind, FeedSet, Missed, Offer};
