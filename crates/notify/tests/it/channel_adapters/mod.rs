//! Integration tests of the adapters of chat and push services, with a local server that responds as in their documentation.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod apprise;
mod common;
mod configuration;
mod discord;
mod every_channel;
mod ntfy;
mod pushover;
mod slack;
mod teams;
mod telegram;
mod telegram_updates;
mod web_push;
