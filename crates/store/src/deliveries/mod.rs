//! # Deliveries: events on their way to webhooks
//!
//! A delivery is a row, written in the transaction of the firing that it tells of ([`make`]). So there is one for each
//! firing and active webhook, and none without a firing, whatever crashes when.
//!
//! Whoever delivers looks which webhooks have something due ([`Store::lanes`](crate::Store::lanes)), claims a few
//! deliveries of each ([`claim`]) and settles what came of them ([`settle`]), many at once. A claim is a lease: a number
//! and an end. Until the end nobody else tries the delivery, after it anybody may, so what a process had claimed when it
//! died is tried again. A settlement counts if the lease still stands; but a receiver that has taken a delivery has taken
//! it, whoever brought it.
//!
//! Firings are recorded exactly once, deliveries are made at least once, each under one id.
//!
//! What was delivered or given up long ago is forgotten ([`forget`]).
//!
//! Lanes are what keeps one endpoint out of the way of others: the index of what is due is by webhook first, so finding
//! all lanes costs a look for each of them, however many deliveries wait in one.

mod claim;
mod forget;
mod list;
pub(crate) mod make;
mod requeue;
mod settle;

pub(crate) use claim::never;
pub use settle::SwitchOffLetters;

use crate::columns::Table;

pub(crate) const TABLE: Table = Table("deliveries");
