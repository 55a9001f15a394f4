//! The outcome of an attempt to send an email or a text message. Each kind of failure has a name, which appears in history and logs.
//!
//! Three failures are final: the provider rejects the recipient or the message for good ([`Refused`]), the recipient no longer exists
//! ([`Gone`]), or the message cannot be sent at all ([`Unsendable`]). A wrong password, an expired certificate or an unreachable provider is for the operator to fix, and
//! the message is retried.
//!
//! [`Refused`]: MessageOutcome::Refused
//! [`Gone`]: MessageOutcome::Gone
//! [`Unsendable`]: MessageOutcome::Unsendable

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

use crate::client::TlsFailure;
use crate::schedule::{AttemptReport, AttemptResult};
use clock::signed;

/// Maximum length of the detail text, in characters.
const MAX_DETAIL_LENGTH: usize = 300;

/// The outcome of an attempt to send a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MessageOutcome {
    /// The provider accepted the message.
    Delivered,
    /// The provider rejected the message for good: the mailbox or number does not exist, or its owner has unsubscribed.
    Refused {
        /// The SMTP reply code, or the Twilio error code.
        code: u32,
    },
    /// The recipient no longer exists: the browser has ended its subscription.
    Gone {
        /// The HTTP status.
        code: u32,
    },
    /// The provider does not accept the message now.
    Deferred {
        /// The SMTP reply code, the Twilio error code, or else the HTTP status.
        code: u32,
        /// The minimum delay before a retry that the provider requests.
        retry_after: Option<Duration>,
    },
    /// The message cannot be sent, for example because the address is invalid. No attempt was made.
    Unsendable,
    /// The exchange exceeded the timeout.
    TimedOut,
    /// The host name of the provider could not be resolved.
    NameNotFound,
    /// No connection to the provider could be made.
    ConnectionFailed,
    /// The connection was closed before the response.
    ConnectionLost,
    /// The TLS handshake or the certificate check failed.
    TlsFailed(TlsFailure),
    /// The server does not offer STARTTLS, and nothing is sent unencrypted.
    TlsNotOffered,
    /// The provider rejected the credentials.
    NotAuthenticated,
    /// The response of the provider is invalid.
    InvalidResponse,
    /// This service failed.
    InternalError,
}

impl MessageOutcome {
    /// Returns the name for history, logs and metrics.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Refused { .. } => "refused",
            Self::Gone { .. } => "gone",
            Self::Deferred { .. } => "deferred",
            Self::Unsendable => "unsendable",
            Self::TimedOut => "timed_out",
            Self::NameNotFound => "name_not_found",
            Self::ConnectionFailed => "connection_failed",
            Self::ConnectionLost => "connection_lost",
            Self::TlsFailed(TlsFailure::Expired) => "tls_certificate_expired",
            Self::TlsFailed(TlsFailure::WrongName) => "tls_certificate_wrong_name",
            Self::TlsFailed(TlsFailure::UnknownIssuer) => "tls_certificate_unknown_issuer",
            Self::TlsFailed(TlsFailure::BadCertificate) => "tls_certificate_bad",
            Self::TlsFailed(TlsFailure::Handshake) => "tls_failed",
            Self::TlsNotOffered => "tls_not_offered",
            Self::NotAuthenticated => "authentication_failed",
            Self::InvalidResponse => "bad_answer",
            Self::InternalError => "internal_error",
        }
    }

    /// Returns the code of the provider, if there is one.
    #[must_use]
    pub const fn code(&self) -> Option<u32> {
        match self {
            Self::Refused { code } | Self::Gone { code } | Self::Deferred { code, .. } => Some(*code),
            _ => None,
        }
    }
}

impl fmt::Display for MessageOutcome {
    /// Writes a sentence for the operator, with the fix if there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Delivered => "The provider accepted the message.",
            Self::Refused { code } => return write!(f, "The provider rejected the message for good ({code})."),
            Self::Gone { code } => {
                return write!(f, "The browser has ended its subscription ({code}), so its channel is deleted; subscribe it again.");
            }
            Self::Deferred { code, .. } => return write!(f, "The provider does not accept the message now ({code})."),
            Self::Unsendable => "The message cannot be sent to this recipient; no attempt was made.",
            Self::TimedOut => "The provider did not respond in time.",
            Self::NameNotFound => "The provider's name could not be resolved; check the configured host.",
            Self::ConnectionFailed => "Could not connect to the provider; check host, port and firewall.",
            Self::ConnectionLost => "The provider closed the connection before it responded.",
            Self::TlsFailed(TlsFailure::Expired) => "The provider's certificate has expired or is not valid yet.",
            Self::TlsFailed(TlsFailure::WrongName) => "The provider's certificate is for another host.",
            Self::TlsFailed(TlsFailure::UnknownIssuer) => {
                "The provider's certificate is not from a trusted authority; if the authority is your own, configure its certificate."
            }
            Self::TlsFailed(TlsFailure::BadCertificate) => "The provider's certificate is invalid.",
            Self::TlsFailed(TlsFailure::Handshake) => "The TLS handshake with the provider failed.",
            Self::TlsNotOffered => "The server does not offer STARTTLS; use smtps://, or ?tls=none if it is on your own network.",
            Self::NotAuthenticated => "The provider rejected the credentials; check them.",
            Self::InvalidResponse => "The response of the provider is invalid.",
            Self::InternalError => "Internal error; the message is retried.",
        })
    }
}

/// An attempt to send a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageAttempt {
    /// When it started.
    pub at: Timestamp,
    /// Its duration in milliseconds.
    pub duration_ms: u64,
    /// Its outcome.
    pub outcome: MessageOutcome,
    /// The response text of the provider without control characters, if there is one; or the problem of an unsendable message. It
    /// may contain the address of the recipient.
    pub detail: Option<String>,
    /// The provider's id of an accepted message. Status reports refer to it.
    pub provider_id: Option<String>,
}

impl MessageAttempt {
    /// Returns an attempt that ended at `ended_at`.
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

impl AttemptReport for MessageAttempt {
    fn internal_error(at: Timestamp) -> Self {
        Self::ended(at, at, MessageOutcome::InternalError, None)
    }

    fn result(&self) -> AttemptResult {
        match self.outcome {
            MessageOutcome::Delivered => AttemptResult::Delivered,
            MessageOutcome::Refused { .. } | MessageOutcome::Gone { .. } | MessageOutcome::Unsendable => {
                AttemptResult::Refused
            }
            MessageOutcome::Deferred { retry_after, .. } => AttemptResult::Failed {
                not_before: retry_after.map(signed),
            },
            _ => AttemptResult::Failed { not_before: None },
        }
    }
}

/// Returns a response text as one line without control characters.
fn clean(text: &str) -> Option<String> {
    let line = crate::templates::plain(text, MAX_DETAIL_LENGTH);
    (!line.is_empty()).then_some(line)
}
