//! Notifications of users by email and SMS, from sign-up to unsubscribing.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

mod channels;
mod mail;
mod sms;
mod support;
mod user_journey;
