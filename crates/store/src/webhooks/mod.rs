//! Webhooks.
//!
//! A deleted webhook keeps its row, without its secrets, because deliveries refer to it. When a webhook is disabled
//! or deleted, its pending deliveries fail in the same transaction.

mod change;
mod former_secrets;
mod read;
mod row;
