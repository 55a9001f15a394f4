//! Mail: one attempt to hand a message to an SMTP server, and what came of it.
//!
//! An attempt is an exchange: connect, agree on TLS, authenticate, name sender and recipient, send the message, hear that it was
//! taken. *One* deadline spans all of it. The message is put together by `compose.rs` from a [`Email`], in which every text may
//! be anything: what would be a header of its own, a second recipient or an encoded word is none when it arrives.
//!
//! A message has the same `Message-ID`, `Date` and boundary on every try, so that a server which took it without being heard
//! to say so can tell that it has it.
//!
//! lettre speaks SMTP; the connections that are kept are this module's own (`pool.rs`), because one that the deadline cuts off
//! in the middle of a message must never be used for another one.

mod address;
mod compose;
mod dial;
mod mailer;
mod pool;
mod server;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use address::AddressFault;
use jiff::Timestamp;
pub use mailer::Mailer;
use rustls::pki_types::CertificateDer;
pub use server::UrlFault;
use uuid::Uuid;

use crate::dispatcher::Transport;
use crate::letter::render::Mail;
use crate::message_attempt::MessageAttempt;

/// A mail to one recipient. Texts may be anything; what does not belong in a header does not get into one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Email {
    /// The recipient's address, and nothing else.
    pub to: String,
    /// The recipient's name.
    pub to_name: Option<String>,
    /// The subject.
    pub subject: String,
    /// The message as plain text.
    pub text: String,
    /// The message as HTML.
    pub html: String,
    /// The message's id, the same on each try.
    pub message_id: Uuid,
    /// When it was written, the same on each try.
    pub date: Timestamp,
    /// Where one click ends mail of this kind, an `https` URL (an `http` one is given as a link that is opened).
    pub list_unsubscribe: Option<String>,
}

impl Email {
    /// A letter in an envelope.
    #[must_use]
    pub fn new(to: String, to_name: Option<String>, message_id: Uuid, date: Timestamp, mail: Mail) -> Self {
        Self {
            to,
            to_name,
            subject: mail.subject,
            text: mail.text,
            html: mail.html,
            message_id,
            date,
            list_unsubscribe: mail.list_unsubscribe,
        }
    }
}

/// Which server takes our mail, and as whose.
///
/// The URL's forms:
///
/// * `smtp://user:password@mail.example.com:587`: the connection becomes secure by STARTTLS, or nothing is sent (port 587, if
///   none is given);
/// * `smtps://user:password@mail.example.com:465`: secure from the start (port 465);
/// * `smtp://localhost:25`, or another loopback address: plain, unless `?tls=starttls` is added (port 25);
/// * `smtp://relay.internal:25?tls=none`: plain, on a network of one's own.
///
/// User and password are percent-encoded where they contain one of `:/?#[]@%`.
#[derive(Clone)]
pub struct SmtpSettings {
    /// Where the server is. It holds a password.
    pub url: String,
    /// Whom mail comes from: `alerts@example.com`, or `Bellwether <alerts@example.com>`.
    pub from: String,
    /// What this machine calls itself to the server. `None`: its own name.
    pub hello_name: Option<String>,
    /// Authorities that are trusted beside those of the web.
    pub own_roots: Vec<CertificateDer<'static>>,
    /// How long an attempt may take in all.
    pub timeout: Duration,
}

impl fmt::Debug for SmtpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmtpSettings")
            .field("from", &self.from)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Says whether a URL names a mail server, in one of the forms of [`SmtpSettings`].
///
/// # Errors
/// [`UrlFault`], saying what is wrong with it.
pub fn check_url(url: &str) -> Result<(), UrlFault> {
    server::Server::of(url).map(drop)
}

/// Whether mail can come from there: one address, with a name or without.
#[must_use]
pub fn is_sender(text: &str) -> bool {
    compose::sender(text).is_some()
}

/// What a mailer cannot work with. No text here repeats the URL, which holds a password.
#[derive(Debug, thiserror::Error)]
pub enum EmailError {
    /// The URL is not of one of the forms.
    #[error("the SMTP URL {0}")]
    BadUrl(#[from] UrlFault),
    /// The sender is not of one of the forms.
    #[error("the sender must read like `alerts@example.com` or `Bellwether <alerts@example.com>`")]
    BadFrom,
    /// The name to introduce this machine by is none.
    #[error("the name to introduce this machine by must be a host's name, like `alerts.example.com`")]
    BadHelloName,
    /// A certificate of the operator's own is none, or the library does not offer what is asked of it.
    #[error("TLS for mail cannot be set up: {0}")]
    Tls(#[from] lettre::transport::smtp::Error),
}

/// Mail as a channel of the dispatcher.
#[derive(Clone, Debug)]
pub struct EmailTransport(Arc<Mailer>);

impl EmailTransport {
    /// Mail by a mailer.
    #[must_use]
    pub const fn new(mailer: Arc<Mailer>) -> Self {
        Self(mailer)
    }
}

impl Transport for EmailTransport {
    type Job = Email;
    type Report = MessageAttempt;

    async fn attempt(&self, _: Uuid, job: &Email) -> MessageAttempt {
        self.0.send(job).await
    }
}
