//! # Market data sources
//!
//! A live source is a task that sends a [`MarketUpdate`] whenever new data becomes known. It sends over a bounded channel,
//! so a fast source waits for a slow consumer. Updates are ordered by time. The time comes from a [`clock::Clock`], so a test can
//! run a simulated week at once. The task ends when the receiver is dropped. A [`FeedSet`] lists the kinds of data that a
//! source offers.
//!
//! * [`folder`]: reads recorded data from CSV files.
//! * [`file`](mod@file): follows such a folder as it grows.
//! * [`simulated`]: a simulated market that needs no data.
//! * [`ingest`]: parses the body of a request that pushes data. There is no task: the request itself is the feed.
//! * [`provider`]: adapters for the HTTP and streaming APIs of market data providers.
//! * [`history`]: reads recorded data from providers.
//! * [`routing`]: combines several providers, estimates the capacity of their plans and checks them.
//! * [`freshness`]: decides whether alerts may be evaluated against a quote.
//!
//! This crate does not depend on alerts. It converts external formats to the types of [`market`].

mod feed;
pub mod file;
pub mod folder;
pub mod freshness;
pub mod history;
pub mod ingest;
pub mod live;
pub mod provider;
pub mod routing;
pub mod simulated;
mod unadjust;

pub use feed::{FeedKind, FeedSet, MarketUpdate, MissedQuotes, OfferedFeeds};
