//! # The store: persistence on SQLite or PostgreSQL
//!
//! One [`Store`] works on both databases. Reads are asynchronous methods on it, in files named after their subject.
//! Writes are closures that read, decide and write through a [`UnitOfWork`] ([`Store::transaction`]). They go through
//! one queue: transactions that wait at the same time are committed together and share one `fsync` ([`write_queue`]).
//! When `transaction` returns, the data is on disk.
//!
//! Firings have their own entry point, [`Store::commit_evaluation`]. They come by the thousand and are committed by
//! compare-and-set on status and revision, each with its history entry and its event in the same transaction.
//!
//! The store handles alerts as values. It does not depend on the engine, on HTTP or on a clock: callers pass
//! instants. Instants are stored to the microsecond.
//!
//! Every method that returns a [`StoreError`] fails if the database fails or a row cannot be read. Methods document
//! further errors only.

mod accounts;
mod alerts;
mod api_keys;
mod approvals;
mod availability;
mod blindness;
mod bulk;
mod cluster;
mod codes;
mod columns;
mod database;
mod deliveries;
mod erase;
pub mod error;
mod escalations;
mod events;
mod export;
mod feed;
mod feedback;
mod firings;
mod future_rows;
mod guest_codes;
mod history;
mod idempotency;
mod job_leases;
mod market;
mod merged;
mod messages;
mod migrations;
pub mod model;
mod notification_channels;
mod oauth;
mod open;
mod parameters;
mod purge;
mod queue;
mod routes;
mod sealed;
mod seen_firings;
mod sessions;
mod shared_limits;
mod sqlite;
mod store;
mod threads;
mod timeouts;
mod unit_of_work;
mod usage;
mod watchlist;
mod webhooks;
mod write_queue;

pub use cluster::ClusterTables;
pub use deliveries::DisabledNotice;
pub use error::StoreError;
pub use export::MessageCursor;
pub use open::StoreOptions;
pub use queue::Wakes;
pub use sealed::{KeyRotation, KeyRotationError, ResealOutcome, SealedLocation, SealedValue};
pub use shared_limits::{LimitChunk, SharedLimits};
pub use store::Store;
pub use threads::StatementThreads;
pub use unit_of_work::UnitOfWork;
pub use write_queue::{Abort, BoxFuture, WriteStats};
