//! # The program
//!
//! Here the rooms are wired together and given what they must not take for themselves: files, a terminal, the time.
//! The binary is a thin shell around this library, so that everything in it can be tested.

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
pub mod wiring;
