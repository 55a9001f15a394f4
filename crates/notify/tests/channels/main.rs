//! Mail and text messages from outside: a real SMTP server, servers that misbehave, and one that answers as Twilio does.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod callbacks;
mod common;
mod fired;
mod injection;
mod injection_elsewhere;
mod letters;
mod smtp;
mod smtp_faults;
mod twilio;
