//! The integration tests of this crate, one program.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

#[macro_use]
mod support;
mod administering;
mod alert_test;
mod architecture;
mod bad_input;
mod cluster;
mod demo;
mod full_disk;
mod keys;
mod live;
mod password_memory;
mod readme;
mod recipes;
mod recorded;
mod replay;
mod replay_days;
mod serving;
mod sources_check;
