//! # The Bellwether program
//!
//! This crate wires the other crates together and gives them what they do not read themselves: files, a terminal and
//! the time. The binary only calls this library, so that everything can be tested.

pub mod alerts_file;
pub mod cli;
pub mod clock;
pub mod demo;
pub mod keyfile;
mod keys;
pub mod listen;
pub mod logging;
pub mod metering;
pub mod replay;
pub mod serve;
pub mod settings;
pub mod signals;
mod terminal;
pub mod wiring;
