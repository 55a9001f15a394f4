//! The outcome of a webhook delivery attempt. Each kind of failure has a name, which appears in history, logs and API responses.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

use crate::schedule::{AttemptReport, AttemptResult};
use clock::signed;

/// The outcome of an attempt to deliver to a webhook.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WebhookOutcome {
    /// The receiver accepted the delivery with 2xx.
    Delivered {
        /// The HTTP status.
        status: u16,
    },
    /// The receiver returned another HTTP status, except those below.
    HttpError {
        /// The HTTP status.
        status: u16,
        /// The minimum delay before a retry that the receiver requests.
        retry_after: Option<Duration>,
    },
    /// The receiver returned a redirect. Redirects are not followed, because the target address was not checked.
    Redirected {
        /// The HTTP status.
        status: u16,
    },
    /// The receiver returned 410: it does not accept deliveries any more.
    Gone,
    /// The exchange exceeded the timeout.
    TimedOut,
    /// The host name could not be resolved.
    NameNotFound,
    /// No connection could be made.
    ConnectionFailed,
    /// The connection was closed before the response was complete.
    ConnectionLost,
    /// The TLS handshake or the certificate check failed.
    TlsFailed(TlsFailure),
    /// The response is not HTTP, or has more than 64 KiB before the end of its headers.
    InvalidResponse,
    /// The URL or the IP addresses of its host are not permitted. Nothing was sent.
    AddressRefused,
    /// This service failed.
    InternalError,
}

/// The reason of a TLS failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TlsFailure {
    /// The certificate has expired or is not valid yet.
    Expired,
    /// The certificate is for another host.
    WrongName,
    /// The certificate is not from a trusted authority.
    UnknownIssuer,
    /// The certificate is invalid in another way.
    BadCertificate,
    /// The handshake failed.
    Handshake,
}

impl WebhookOutcome {
    /// Returns the outcome for an HTTP status.
    #[must_use]
    pub fn of_status(status: u16, retry_after: Option<Duration>) -> Self {
        match status {
            200..=299 => Self::Delivered { status },
            300..=399 => Self::Redirected { status },
            410 => Self::Gone,
            _ => Self::HttpError { status, retry_after },
        }
    }

    /// Returns the name for history, logs and API responses.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Delivered { .. } => "delivered",
            Self::HttpError { .. } => "http_error",
            Self::Redirected { .. } => "redirected",
            Self::Gone => "gone",
            Self::TimedOut => "timed_out",
            Self::NameNotFound => "name_not_found",
            Self::ConnectionFailed => "connection_failed",
            Self::ConnectionLost => "connection_lost",
            Self::TlsFailed(TlsFailure::Expired) => "tls_certificate_expired",
            Self::TlsFailed(TlsFailure::WrongName) => "tls_certificate_wrong_name",
            Self::TlsFailed(TlsFailure::UnknownIssuer) => "tls_certificate_unknown_issuer",
            Self::TlsFailed(TlsFailure::BadCertificate) => "tls_certificate_bad",
            Self::TlsFailed(TlsFailure::Handshake) => "tls_failed",
            Self::InvalidResponse => "bad_answer",
            Self::AddressRefused => "address_refused",
            Self::InternalError => "internal_error",
        }
    }

    /// Returns the HTTP status, if there was a response.
    #[must_use]
    pub const fn http_status(&self) -> Option<u16> {
        match self {
            Self::Delivered { status } | Self::HttpError { status, .. } | Self::Redirected { status } => Some(*status),
            Self::Gone => Some(410),
            _ => None,
        }
    }
}

impl fmt::Display for WebhookOutcome {
    /// Writes a sentence for the owner of the webhook, with the fix if there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Delivered { status } => return write!(f, "The receiver accepted the delivery ({status})."),
            Self::HttpError { status, .. } => return write!(f, "The receiver returned {status}; it must return 2xx."),
            Self::Redirected { status } => {
                return write!(f, "The receiver returned a redirect ({status}), which is not followed; set the URL to its target.");
            }
            Self::Gone => "The receiver returned 410 (gone), so the webhook was disabled.",
            Self::TimedOut => "The receiver did not respond in time; it should respond first and do its work afterwards.",
            Self::NameNotFound => "The host name could not be resolved.",
            Self::ConnectionFailed => "Could not connect to the receiver.",
            Self::ConnectionLost => "The receiver closed the connection before it responded.",
            Self::TlsFailed(TlsFailure::Expired) => "The receiver's certificate has expired or is not valid yet.",
            Self::TlsFailed(TlsFailure::WrongName) => "The receiver's certificate is for another host.",
            Self::TlsFailed(TlsFailure::UnknownIssuer) => {
                "The receiver's certificate is not from a trusted authority; its intermediate certificates may be missing."
            }
            Self::TlsFailed(TlsFailure::BadCertificate) => "The receiver's certificate is invalid.",
            Self::TlsFailed(TlsFailure::Handshake) => "The TLS handshake with the receiver failed.",
            Self::InvalidResponse => "The receiver's response is not HTTP, or has more than 64 KiB of headers.",
            Self::AddressRefused => "The webhook's address is not public.",
            Self::InternalError => "Internal error; the delivery is retried.",
        })
    }
}

/// A webhook delivery attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WebhookAttempt {
    /// The URL; `None` if an internal error occurred before it was known.
    pub url: Option<String>,
    /// When it started.
    pub at: Timestamp,
    /// Its duration in milliseconds.
    pub duration_ms: u64,
    /// Its outcome.
    pub outcome: WebhookOutcome,
    /// The beginning of the response body as text, if there is one.
    pub response: Option<String>,
}

impl AttemptReport for WebhookAttempt {
    fn internal_error(at: Timestamp) -> Self {
        Self {
            url: None,
            at,
            duration_ms: 0,
            outcome: WebhookOutcome::InternalError,
            response: None,
        }
    }

    fn result(&self) -> AttemptResult {
        match self.outcome {
            WebhookOutcome::Delivered { .. } => AttemptResult::Delivered,
            WebhookOutcome::Gone => AttemptResult::Gone,
            WebhookOutcome::HttpError { retry_after, .. } => AttemptResult::Failed {
                not_before: retry_after.map(signed),
            },
            _ => AttemptResult::Failed { not_before: None },
        }
    }
}
