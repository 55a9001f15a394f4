//! Notification channels.
//!
//! A deleted channel keeps its row, without its configuration, because messages refer to it.

mod change;
mod read;
mod row;
mod templates;
mod web_push_key;

pub(crate) use row::throttle;
pub(crate) use templates::alert_payload;
