//! The text message channel: one attempt to send a message through Twilio, and its outcome.
//!
//! It uses the Messages resource of Twilio: a form post with basic authentication, which other providers support, too. Twilio reports
//! the later delivery status through a [`callback`].
//!
//! The Twilio API has no idempotency key. So an accepted message is never sent again, even if the response cannot be read. Without a
//! response, the message is retried: two messages are better than none.

pub mod callback;
mod twilio;

use std::fmt;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
pub use twilio::Twilio;
use uuid::Uuid;

use crate::client::TlsSetupError;
use crate::dispatcher::Transport;
use crate::message_attempt::MessageAttempt;

/// A text message to one number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sms {
    /// The number in E.164: `+15551234567`.
    pub to: String,
    /// The text, sent unchanged; see [`render`](crate::templates::render).
    pub text: String,
}

/// The sender of text messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SmsSender {
    /// A number, a short code or an alphanumeric sender ID of the Twilio account.
    From(String),
    /// A Twilio messaging service.
    MessagingService(String),
}

/// The configuration of Twilio.
#[derive(Clone)]
pub struct TwilioConfig {
    /// The account SID: `AC` and 32 hexadecimal digits.
    pub account_sid: String,
    /// The secret of the account.
    pub auth_token: String,
    /// The sender of the messages.
    pub sender: SmsSender,
    /// The URL of the API: `https://api.twilio.com`, except for tests and for compatible providers.
    pub base_url: String,
    /// The URL for status callbacks.
    pub status_callback: Option<String>,
    /// Additional trusted certificate authorities, beside the public ones.
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// Timeout of an attempt.
    pub timeout: Duration,
}

impl fmt::Debug for TwilioConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TwilioConfig")
            .field("account_sid", &self.account_sid)
            .field("sender", &self.sender)
            .field("base_url", &self.base_url)
            .field("status_callback", &self.status_callback)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// An error in the configuration of [`Twilio`].
#[derive(Debug, thiserror::Error)]
pub enum SmsError {
    /// The account SID is invalid.
    #[error("the account SID must have letters and digits only, like AC and 32 hexadecimal digits")]
    BadAccountSid,
    /// The base URL is invalid.
    #[error("the provider's base URL must be https, or http to this machine, without a query")]
    BadBaseUrl,
    /// An additional certificate authority is invalid.
    #[error(transparent)]
    Tls(#[from] TlsSetupError),
    /// The HTTP library cannot be set up.
    #[error("the HTTP client cannot be set up: {0}")]
    Client(#[from] reqwest::Error),
}

impl Transport for Twilio {
    type Job = Sms;
    type Report = MessageAttempt;

    async fn attempt(&self, _: Uuid, job: &Sms) -> MessageAttempt {
        self.send(job).await
    }
}
