//! Text messages: one attempt to hand one to Twilio, and what came of it.
//!
//! It is Twilio's Messages resource, a form that is posted with basic authentication, which other providers offer, too. What
//! becomes of a message afterwards Twilio tells on its own, by [`callback`].
//!
//! There is no way to tell Twilio that a message is a repeated one. So what Twilio took is never sent again, even where its
//! answer cannot be read; and where no answer came, it is tried again: two messages are better than none.

pub mod callback;
mod twilio;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
pub use twilio::Twilio;
use uuid::Uuid;

use crate::client::TlsError;
use crate::dispatcher::Transport;
use crate::message_attempt::MessageAttempt;

/// A text message to one number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sms {
    /// The number in E.164: `+15551234567`.
    pub to: String,
    /// The text, which is sent as it is; see [`render`](crate::letter::render) for how to make one.
    pub text: String,
}

/// Whom a text message comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sender {
    /// A number, a short code or a name that Twilio lets the account use.
    From(String),
    /// One of a messaging service's numbers.
    MessagingService(String),
}

/// How to send by Twilio.
#[derive(Clone)]
pub struct TwilioSettings {
    /// The account: `AC` and 32 hexadecimal digits.
    pub account_sid: String,
    /// Its secret.
    pub auth_token: String,
    /// Whom messages come from.
    pub sender: Sender,
    /// Where Twilio's API is; [`TWILIO`] but for tests and for those who speak as Twilio does.
    pub base_url: String,
    /// Where Twilio tells what became of a message.
    pub status_callback: Option<String>,
    /// Authorities that are trusted beside those of the web.
    pub own_roots: Vec<CertificateDer<'static>>,
    /// How long an attempt may take in all.
    pub timeout: Duration,
}

/// Twilio's API.
pub const TWILIO: &str = "https://api.twilio.com";

impl fmt::Debug for TwilioSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TwilioSettings")
            .field("account_sid", &self.account_sid)
            .field("sender", &self.sender)
            .field("base_url", &self.base_url)
            .field("status_callback", &self.status_callback)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// What cannot be worked with.
#[derive(Debug, thiserror::Error)]
pub enum SmsError {
    /// The account is none.
    #[error("the account SID must be letters and digits only, like AC and 32 hexadecimal digits")]
    BadAccountSid,
    /// The base URL is none.
    #[error("the provider's base URL must be https, or http to this machine, without a query")]
    BadBaseUrl,
    /// An authority is none.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The library does not work.
    #[error("the HTTP client cannot be set up: {0}")]
    Client(#[from] reqwest::Error),
}

/// Text messages as a channel of the dispatcher.
#[derive(Clone, Debug)]
pub struct SmsTransport(Arc<Twilio>);

impl SmsTransport {
    /// Text messages by Twilio.
    #[must_use]
    pub const fn new(twilio: Arc<Twilio>) -> Self {
        Self(twilio)
    }
}

impl Transport for SmsTransport {
    type Job = Sms;
    type Report = MessageAttempt;

    async fn attempt(&self, _: Uuid, job: &Sms) -> MessageAttempt {
        self.0.send(job).await
    }
}
