//! Telling people what happened: where to, in which words, signed how, and until it arrived.
//!
//! * [`address`]: which URLs a user may give, and which addresses are dialled for them.
//! * [`signature`]: how a receiver knows that a delivery is ours.
//! * [`message`]: what is told, in the form of each channel.
//! * [`time`]: the time, as a parameter.
//!
//! This room knows no HTTP server and no database.

pub mod address;
pub mod message;
pub mod signature;
pub mod time;
