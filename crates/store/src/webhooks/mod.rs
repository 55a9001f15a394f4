//! Webhooks: read, made, changed.
//!
//! A webhook that its owner deletes keeps its row, without its secrets, because deliveries refer to it. One that is
//! switched off or deleted gets nothing more: what still waits for it is given up in the same transaction.

mod change;
mod former;
mod read;
mod row;
