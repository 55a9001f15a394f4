//! Simulations as tests.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

mod disk;
mod mutants;
mod seeds;
