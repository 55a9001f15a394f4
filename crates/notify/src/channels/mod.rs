//! Messages to chat and push services: one attempt to send a message, and its outcome.
//!
//! Each service is an adapter in a directory: `models.rs` has the bodies of the documented requests and responses, `render.rs` creates
//! the request body of a message within the length limits of the service, `error.rs` classifies responses, and `client.rs` makes one
//! attempt. A text that is cut for its length is no failure.
//!
//! Users choose the URLs of Slack, Discord, Teams, ntfy and Apprise, and browsers those of push services. Requests to these follow the rules for webhooks: the same
//! [`WebhookClient`](crate::client::WebhookClient) resolves the host, checks its addresses on each connection, follows no redirects,
//! limits the response and has one timeout. The operator chooses the base URLs of Telegram and Pushover; requests to these follow the
//! rules of [`provider`](crate::provider).
//!
//! A failure is for good ([`Refused`] or [`Unsendable`]) only if a retry of the same message cannot succeed: the address or its
//! secret URL was revoked, the chat does not exist, the service rejects the message itself, or it forbids repeating the request, as
//! Pushover does. Rejected credentials that the owner or the operator can replace ([`NotAuthenticated`]), limits and outages are
//! retried.
//!
//! URLs, tokens and keys appear in no `Debug` output, error or attempt.
//!
//! [`Refused`]: crate::message_attempt::MessageOutcome::Refused
//! [`Unsendable`]: crate::message_attempt::MessageOutcome::Unsendable
//! [`NotAuthenticated`]: crate::message_attempt::MessageOutcome::NotAuthenticated

pub mod apprise;
mod attempt;
mod client;
mod config;
pub mod discord;
mod exchange;
mod message;
pub mod ntfy;
mod outcome;
pub mod pushover;
mod secret;
pub mod slack;
mod target;
pub mod teams;
pub mod telegram;
mod text;
pub mod web_push;

pub use attempt::ChannelAttempt;
pub use client::{ChannelClient, ChannelClientConfig, ChannelJob, ChannelSetupError, WebPushSettings};
pub use config::{ChannelConfigError, ChannelConfigProblem};
pub use message::{AlertButton, ChannelAction, ChannelActionKind, ChannelMessage};
pub use secret::ChannelSecret;
pub use target::ChannelTarget;
pub(crate) use text::plain_lines;
pub use text::{LengthUnit, TextLimit};

/// Returns random numbers, which must be cryptographically secure outside of tests.
pub type RandomBytes = Box<dyn Fn() -> [u8; 32] + Send + Sync>;
