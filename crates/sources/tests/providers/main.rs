//! Every adapter against a local server that replays its provider's documented shapes: what `table` and `calls` list holds for
//! each of them, by the same code.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unreachable_pub, reason = "the rooms of a test are nobody else's")]

mod calls;
mod combination;
mod price_requests;
mod subjects;
mod support;
mod table;
