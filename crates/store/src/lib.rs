//! # The store: what must survive, on SQLite or PostgreSQL
//!
//! One [`Store`] over two databases. Reads are plain asynchronous functions on it, each in a file named after what it
//! reads. Writes are *units of work* ([`Work`]): values that read, decide and write within one transaction, through a
//! [`Unit`]. They come in through one door, [`Store::write`], behind which those that wait at the same time share a
//! transaction and so one `fsync` ([`writer`]). What `write` has returned is on disk.
//!
//! Firings have a door of their own, [`Store::commit_evaluation`]: they come by the thousand and are committed by
//! compare-and-set on status and revision, each with its history row and its event in the same transaction.
//!
//! The store knows alerts as values. It knows no engine, no HTTP and no clock: instants are given to it. It keeps them to
//! the microsecond.

mod accounts;
mod alerts;
mod api_keys;
mod approvals;
mod availability;
mod blindness;
mod bulk;
mod codes;
mod columns;
mod database;
mod deliveries;
mod erase;
pub mod error;
mod events;
mod export;
mod feed;
mod feedback;
mod firings;
mod forget;
mod future;
mod guest_codes;
mod history;
mod market;
mod messages;
mod migrations;
pub mod model;
mod oauth;
mod open;
mod repeatable;
mod sealed;
mod sessions;
mod store;
mod unit;
mod usage;
mod watchlist;
mod webhooks;
mod writer;

pub use deliveries::SwitchOffLetters;
pub use error::StoreError;
pub use export::MessagePlace;
pub use open::Options;
pub use sealed::{Rekeying, RekeyingError, Resealed, SealedPlace, SealedValue};
pub use store::Store;
pub use unit::Unit;
pub use writer::{Abort, BoxFuture, Work, Written};
