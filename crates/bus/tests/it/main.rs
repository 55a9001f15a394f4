//! The tests of the bus, in process and over a real NATS server.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

#[macro_use]
mod support;
mod both_transports;
mod cluster;
mod connection;
mod credentials;
mod slow_subscriber;
mod stub_server;
