//! What came of an attempt to send a mail or a text message. Each way to fail has a name of its own, which goes into history
//! and logs.
//!
//! Only two of them are final: the provider said that this recipient or this message will never do ([`Refused`]), or there is
//! nothing that could be sent at all ([`Unsendable`]). A wrong password, an expired certificate or a provider that is not there
//! is the operator's to mend, and no reason to lose what people wait for.
//!
//! [`Refused`]: MessageOutcome::Refused
//! [`Unsendable`]: MessageOutcome::Unsendable

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

use crate::client::TlsFault;
use crate::schedule::{Report, Verdict};
use crate::time::signed;

/// So much of what a provider says is kept.
const KEPT: usize = 300;

/// What came of an attempt to send a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MessageOutcome {
    /// The provider took it.
    Delivered,
    /// The provider will never take it: there is no such mailbox or number, or its owner wants nothing.
    Refused {
        /// Its code: SMTP's reply, or Twilio's error.
        code: u32,
    },
    /// The provider does not take it now.
    Deferred {
        /// Its code: SMTP's reply, Twilio's error, or else the HTTP status.
        code: u32,
        /// After how long it asks to be tried again.
        retry_after: Option<Duration>,
    },
    /// It cannot be sent by anybody: the address is none. Nothing was tried.
    Unsendable,
    /// The exchange was not over in time.
    TimedOut,
    /// The provider's name could not be looked up.
    NameNotFound,
    /// No connection to the provider came about.
    ConnectionFailed,
    /// The connection was closed before the answer.
    ConnectionLost,
    /// The provider could not be trusted, or spoke no TLS.
    TlsFailed(TlsFault),
    /// The provider offers no STARTTLS, and nothing goes there unencrypted.
    TlsNotOffered,
    /// The provider does not take the credentials.
    NotAuthenticated,
    /// What the provider answered makes no sense.
    BadAnswer,
    /// This service failed.
    Broken,
}

impl MessageOutcome {
    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Refused { .. } => "refused",
            Self::Deferred { .. } => "deferred",
            Self::Unsendable => "unsendable",
            Self::TimedOut => "timed_out",
            Self::NameNotFound => "name_not_found",
            Self::ConnectionFailed => "connection_failed",
            Self::ConnectionLost => "connection_lost",
            Self::TlsFailed(TlsFault::Expired) => "tls_certificate_expired",
            Self::TlsFailed(TlsFault::WrongName) => "tls_certificate_wrong_name",
            Self::TlsFailed(TlsFault::UnknownIssuer) => "tls_certificate_unknown_issuer",
            Self::TlsFailed(TlsFault::BadCertificate) => "tls_certificate_bad",
            Self::TlsFailed(TlsFault::Handshake) => "tls_failed",
            Self::TlsNotOffered => "tls_not_offered",
            Self::NotAuthenticated => "authentication_failed",
            Self::BadAnswer => "bad_answer",
            Self::Broken => "internal_error",
        }
    }

    /// The provider's code, if it gave one.
    #[must_use]
    pub const fn code(&self) -> Option<u32> {
        match self {
            Self::Refused { code } | Self::Deferred { code, .. } => Some(*code),
            _ => None,
        }
    }
}

impl fmt::Display for MessageOutcome {
    /// A sentence for the operator, with the mend if there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Delivered => "The provider took it.",
            Self::Refused { code } => return write!(f, "The provider refused it for good ({code})."),
            Self::Deferred { code, .. } => return write!(f, "The provider did not take it for now ({code})."),
            Self::Unsendable => "There is no sending to this recipient; nothing was tried.",
            Self::TimedOut => "The provider did not answer in time.",
            Self::NameNotFound => "The provider's name could not be resolved; check the configured host.",
            Self::ConnectionFailed => "No connection to the provider came about; check host, port and firewall.",
            Self::ConnectionLost => "The provider closed the connection before it had answered.",
            Self::TlsFailed(TlsFault::Expired) => "The provider's certificate has expired or is not good yet.",
            Self::TlsFailed(TlsFault::WrongName) => "The provider's certificate is for another host.",
            Self::TlsFailed(TlsFault::UnknownIssuer) => {
                "The provider's certificate is not from a trusted authority; configure its authority, if it is your own."
            }
            Self::TlsFailed(TlsFault::BadCertificate) => "The provider's certificate is bad.",
            Self::TlsFailed(TlsFault::Handshake) => "No secure connection to the provider came about.",
            Self::TlsNotOffered => "The provider offers no STARTTLS; use smtps://, or ?tls=none if it is on a network of yours.",
            Self::NotAuthenticated => "The provider does not take the credentials; check them.",
            Self::BadAnswer => "What the provider answered makes no sense.",
            Self::Broken => "This service failed; it tries again.",
        })
    }
}

/// One attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageAttempt {
    /// When it began.
    pub at: Timestamp,
    /// How long it took.
    pub duration_ms: u64,
    /// What came of it.
    pub outcome: MessageOutcome,
    /// What the provider said to it, if anything, as clean text; or what is wrong with an unsendable message. It may name
    /// the recipient.
    pub detail: Option<String>,
    /// What the provider calls the message it took. Its reports refer to that.
    pub provider_id: Option<String>,
}

impl MessageAttempt {
    /// An attempt that ended at `ended_at`.
    pub(crate) fn ended(at: Timestamp, ended_at: Timestamp, outcome: MessageOutcome, detail: Option<&str>) -> Self {
        Self {
            at,
            duration_ms: u64::try_from(ended_at.duration_since(at).as_millis()).unwrap_or_default(),
            outcome,
            detail: detail.and_then(clean),
            provider_id: None,
        }
    }
}

impl Report for MessageAttempt {
    fn broken(at: Timestamp) -> Self {
        Self::ended(at, at, MessageOutcome::Broken, None)
    }

    fn verdict(&self) -> Verdict {
        match self.outcome {
            MessageOutcome::Delivered => Verdict::Delivered,
            MessageOutcome::Refused { .. } | MessageOutcome::Unsendable => Verdict::Refused,
            MessageOutcome::Deferred { retry_after, .. } => Verdict::Failed {
                not_before: retry_after.map(signed),
            },
            _ => Verdict::Failed { not_before: None },
        }
    }
}

/// What a provider said, as a line without controls.
fn clean(text: &str) -> Option<String> {
    let line = crate::letter::plain(text, KEPT);
    (!line.is_empty()).then_some(line)
}
