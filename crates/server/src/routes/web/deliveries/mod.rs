//! Deliveries to webhooks, and messages about alerts.

pub(super) mod list;
pub(super) mod recover;
pub(super) mod resend;
pub(super) mod resend_message;
pub(super) mod show;
