//! Integration tests of emails and text messages, with a real SMTP server, misbehaving servers, and a fake Twilio server.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod account_emails;
mod callbacks;
mod common;
mod custom_texts;
mod fired;
mod fired_notes;
mod injection;
mod injection_other_channels;
mod smtp;
mod smtp_failures;
mod twilio;
