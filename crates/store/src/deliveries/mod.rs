//! # Deliveries of events to webhooks
//!
//! A delivery is a row that is written in the same transaction as its firing ([`create`]). So each firing has
//! exactly one delivery per active webhook, even after a crash.
//!
//! The dispatcher looks up webhooks with pending deliveries
//! ([`Store::pending_delivery_endpoints`](crate::Store::pending_delivery_endpoints)), claims a few deliveries of
//! each ([`claim`]) and settles many results at once ([`settle`]). A claim is a lease: a number and an end. Until
//! the end no other process tries the delivery; afterwards any process may. So a delivery that was claimed by a
//! crashed process is tried again. A settlement counts only while its lease holds, with one exception: a delivery
//! that the receiver has accepted is always recorded as delivered.
//!
//! Firings are recorded exactly once. Deliveries are made at least once, each under one id.
//!
//! Finished deliveries are purged after a while ([`purge`]).
//!
//! The index of due deliveries starts with the webhook. So finding all endpoints costs one lookup per endpoint, and
//! a long backlog of one endpoint does not slow down the others.

mod claim;
pub(crate) mod create;
mod list;
mod purge;
mod requeue;
mod settle;

pub(crate) use claim::into_store_error;
pub use settle::DisabledNotice;

use crate::columns::Table;

pub(crate) const TABLE: Table = Table("deliveries");
