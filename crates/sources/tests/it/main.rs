//! The integration tests of this crate, one program.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod file;
mod folder;
mod folder_recorded;
mod folder_refused;
mod folder_robust;
mod folders;
mod form4_recorded;
mod ingest;
mod live;
mod providers;
mod simulated;
mod stream_recorded;
