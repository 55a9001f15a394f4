//! Webhook delivery from a firing alert to the receiver, including receivers that fail.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

mod addresses;
mod bad_receivers;
mod delivery;
mod listen_command;
mod secrets;
mod support;
mod test_route;
