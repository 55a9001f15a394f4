//! Deliveries of events to webhooks, in a [queue](crate::queue).
//!
//! A claim loads the webhook and its secrets ([`claim`]). A settlement records the attempt and updates the webhook's
//! health ([`settle`]); those to a webhook that was disabled or deleted are given up ([`give_up`]). Owners list deliveries ([`list`], [`of_alert`]) and queue them again ([`requeue`]).

mod claim;
mod give_up;
mod list;
mod of_alert;
mod requeue;
mod settle;

pub use settle::DisabledNotice;

use crate::queue::DELIVERIES;

const TABLE: crate::columns::Table = DELIVERIES.table;
