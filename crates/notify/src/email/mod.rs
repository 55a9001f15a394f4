//! The email channel: one attempt to send a message through an SMTP server, and its outcome.
//!
//! An attempt is an exchange: connection, TLS, authentication, sender and recipient, message, reply. *One* timeout covers all of it.
//! `compose.rs` composes the message from an [`Email`]. The texts of an [`Email`] are untrusted: they cannot add headers, recipients
//! or encoded words.
//!
//! A message has the same `Message-ID`, `Date` and boundary on every attempt. So a server can recognise a duplicate if its reply to the
//! first attempt was lost.
//!
//! lettre implements SMTP. The connection pool is separate (`pool.rs`), because a connection that the timeout interrupts during a
//! message must not be reused.

mod address;
mod compose;
mod connect;
mod encryption;
mod mailer;
mod pool;
mod server;
mod stream;

use std::fmt;
use std::time::Duration;

pub use address::EmailAddressError;
use jiff::Timestamp;
pub use mailer::{Mailer, MailerPorts};
use rustls::pki_types::CertificateDer;
pub use server::SmtpUrlError;
use uuid::Uuid;

use crate::client::TlsSetupError;
use crate::dispatcher::Transport;
use crate::message_attempt::MessageAttempt;
use crate::templates::render::RenderedEmail;

/// An email to one recipient. The texts are untrusted; they are sanitised before they are used in headers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Email {
    /// The address of the recipient, without a name.
    pub to: String,
    /// The name of the recipient.
    pub to_name: Option<String>,
    /// The message id, the same on each attempt.
    pub message_id: Uuid,
    /// The date of the message, the same on each attempt.
    pub date: Timestamp,
    /// The subject and the texts.
    pub content: RenderedEmail,
}

/// The configuration of the SMTP server and the sender.
///
/// Forms of the URL:
///
/// * `smtp://user:password@mail.example.com:587`: STARTTLS is required (default port 587);
/// * `smtps://user:password@mail.example.com:465`: implicit TLS (default port 465);
/// * `smtp://localhost:25`, or another loopback address: no TLS, unless `?tls=starttls` is added (default port 25);
/// * `smtp://relay.internal:25?tls=none`: no TLS, for your own network.
///
/// User and password are percent-encoded where they contain one of `:/?#[]@%`.
#[derive(Clone)]
pub struct SmtpConfig {
    /// The URL of the server. It contains a password.
    pub url: String,
    /// The sender: `alerts@example.com`, or `Bellwether <alerts@example.com>`.
    pub from: String,
    /// The name of this machine in the EHLO command. `None`: its host name.
    pub hello_name: Option<String>,
    /// Additional trusted certificate authorities, beside the public ones.
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// Timeout of an attempt.
    pub timeout: Duration,
}

impl fmt::Debug for SmtpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmtpConfig")
            .field("from", &self.from)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Checks an SMTP URL. See [`SmtpConfig`] for its forms.
///
/// # Errors
/// [`SmtpUrlError`] if the URL is invalid.
pub fn check_url(url: &str) -> Result<(), SmtpUrlError> {
    server::SmtpServer::from_url(url).map(drop)
}

/// Returns whether a text is a valid sender: one address, with or without a name.
#[must_use]
pub fn is_sender(text: &str) -> bool {
    compose::sender(text).is_some()
}

/// An error in the configuration of a [`Mailer`]. The messages do not contain the URL, because it contains a password.
#[derive(Debug, thiserror::Error)]
pub enum EmailError {
    /// The URL is invalid.
    #[error("the SMTP URL {0}")]
    BadUrl(#[from] SmtpUrlError),
    /// The sender is invalid.
    #[error("the sender must be like `alerts@example.com` or `Bellwether <alerts@example.com>`")]
    BadFrom,
    /// The EHLO name is invalid.
    #[error("the EHLO name must be a host name, like `alerts.example.com`")]
    BadHelloName,
    /// An additional certificate is invalid, or the TLS library does not support the required settings.
    #[error("TLS for email cannot be set up: {0}")]
    Tls(#[from] TlsSetupError),
    /// The same, for STARTTLS.
    #[error("TLS for email cannot be set up: {0}")]
    StartTls(#[from] lettre::transport::smtp::Error),
}

impl Transport for Mailer {
    type Job = Email;
    type Report = MessageAttempt;

    async fn attempt(&self, _: Uuid, job: &Email) -> MessageAttempt {
        self.send(job).await
    }
}
