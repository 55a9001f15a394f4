//! What came of an attempt. Each way to fail has a name of its own, which goes into history, logs and answers.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

use crate::schedule::{Report, Verdict};
use crate::time::signed;

/// What came of an attempt to deliver to a webhook.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The receiver took it: it answered 2xx.
    Delivered {
        /// The status of its answer.
        status: u16,
    },
    /// The receiver answered with anything else that has no name below.
    Answered {
        /// The status of its answer.
        status: u16,
        /// After how long it asks to be tried again.
        retry_after: Option<Duration>,
    },
    /// The receiver answered with a redirect, and none is followed: an address that nobody has judged lies behind it.
    Redirected {
        /// The status of its answer.
        status: u16,
    },
    /// The receiver answered 410: it wants no more of this.
    Gone,
    /// The exchange was not over in time.
    TimedOut,
    /// The host's name could not be looked up.
    NameNotFound,
    /// No connection came about.
    ConnectionFailed,
    /// The connection was closed before the answer was complete.
    ConnectionLost,
    /// The receiver could not be trusted, or spoke no TLS.
    TlsFailed(TlsFault),
    /// The receiver's response is not HTTP, or has more than 64 KiB before the end of its headers.
    BadAnswer,
    /// The URL is none that may be called, or its host's addresses are none that may be dialled. Nothing was sent.
    AddressRefused,
    /// This service failed.
    Broken,
}

/// Why TLS failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TlsFault {
    /// The certificate is no longer good, or not yet.
    Expired,
    /// The certificate is for another host.
    WrongName,
    /// The certificate is not from an authority that is trusted.
    UnknownIssuer,
    /// The certificate is bad in another way.
    BadCertificate,
    /// No secure connection came about.
    Handshake,
}

impl Outcome {
    /// What an answer of that status comes to.
    #[must_use]
    pub fn of_status(status: u16, retry_after: Option<Duration>) -> Self {
        match status {
            200..=299 => Self::Delivered { status },
            300..=399 => Self::Redirected { status },
            410 => Self::Gone,
            _ => Self::Answered { status, retry_after },
        }
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Delivered { .. } => "delivered",
            Self::Answered { .. } => "http_error",
            Self::Redirected { .. } => "redirected",
            Self::Gone => "gone",
            Self::TimedOut => "timed_out",
            Self::NameNotFound => "name_not_found",
            Self::ConnectionFailed => "connection_failed",
            Self::ConnectionLost => "connection_lost",
            Self::TlsFailed(TlsFault::Expired) => "tls_certificate_expired",
            Self::TlsFailed(TlsFault::WrongName) => "tls_certificate_wrong_name",
            Self::TlsFailed(TlsFault::UnknownIssuer) => "tls_certificate_unknown_issuer",
            Self::TlsFailed(TlsFault::BadCertificate) => "tls_certificate_bad",
            Self::TlsFailed(TlsFault::Handshake) => "tls_failed",
            Self::BadAnswer => "bad_answer",
            Self::AddressRefused => "address_refused",
            Self::Broken => "internal_error",
        }
    }

    /// The status of the receiver's answer, if there was one.
    #[must_use]
    pub const fn http_status(&self) -> Option<u16> {
        match self {
            Self::Delivered { status } | Self::Answered { status, .. } | Self::Redirected { status } => Some(*status),
            Self::Gone => Some(410),
            _ => None,
        }
    }
}

impl fmt::Display for Outcome {
    /// A sentence for the webhook's owner, with the mend if there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Delivered { status } => return write!(f, "The receiver took it ({status})."),
            Self::Answered { status, .. } => return write!(f, "The receiver answered {status}; it should answer 2xx."),
            Self::Redirected { status } => {
                return write!(f, "The receiver redirected ({status}), which is not followed; set the URL to where it leads.");
            }
            Self::Gone => "The receiver answered 410 (gone), so the webhook was switched off.",
            Self::TimedOut => "The receiver did not answer in time; it should answer first and work afterwards.",
            Self::NameNotFound => "The host's name could not be resolved.",
            Self::ConnectionFailed => "No connection to the receiver came about.",
            Self::ConnectionLost => "The receiver closed the connection before it had answered.",
            Self::TlsFailed(TlsFault::Expired) => "The receiver's certificate has expired or is not good yet.",
            Self::TlsFailed(TlsFault::WrongName) => "The receiver's certificate is for another host.",
            Self::TlsFailed(TlsFault::UnknownIssuer) => {
                "The receiver's certificate is not from a trusted authority; its intermediate certificates may be missing."
            }
            Self::TlsFailed(TlsFault::BadCertificate) => "The receiver's certificate is bad.",
            Self::TlsFailed(TlsFault::Handshake) => "No secure connection to the receiver came about.",
            Self::BadAnswer => "The receiver's answer is not HTTP, or has more than 64 KiB of headers.",
            Self::AddressRefused => "The webhook's address is not public.",
            Self::Broken => "This service failed; it tries again.",
        })
    }
}

/// One attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// Where it went; `None`, if it broke before it was known.
    pub url: Option<String>,
    /// When it began.
    pub at: Timestamp,
    /// How long it took.
    pub duration_ms: u64,
    /// What came of it.
    pub outcome: Outcome,
    /// The beginning of the answer's body, as text, if there was an answer with a body.
    pub response: Option<String>,
}

impl Report for Attempt {
    fn broken(at: Timestamp) -> Self {
        Self {
            url: None,
            at,
            duration_ms: 0,
            outcome: Outcome::Broken,
            response: None,
        }
    }

    fn verdict(&self) -> Verdict {
        match self.outcome {
            Outcome::Delivered { .. } => Verdict::Delivered,
            Outcome::Gone => Verdict::Gone,
            Outcome::Answered { retry_after, .. } => Verdict::Failed {
                not_before: retry_after.map(signed),
            },
            _ => Verdict::Failed { not_before: None },
        }
    }
}
