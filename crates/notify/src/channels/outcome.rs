//! Results of requests to services, and their classification by HTTP status.

use std::time::Duration;

use bytes::Bytes;
use http::Response;
use jiff::Timestamp;
use serde::de::DeserializeOwned;

use crate::message_attempt::MessageOutcome;
use crate::schedule::requested_delay;

/// A response of a service. The body is empty if it was too long or incomplete: the status alone says whether the service accepted
/// the message, and a retry would send an accepted message twice.
pub(super) type ServiceResponse = Response<Bytes>;

/// A message that a service accepted.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct AcceptedMessage {
    pub(super) http_status: u16,
    /// The id of the message at the service.
    pub(super) provider_id: Option<String>,
    pub(super) migrated_chat_id: Option<i64>,
}

/// A message that a service did not accept.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct SendFailure {
    pub(super) outcome: MessageOutcome,
    /// The error message of the service, or the problem of an unsendable message. It may contain secrets.
    pub(super) detail: Option<String>,
    pub(super) http_status: Option<u16>,
}

pub(super) type SendResult = Result<AcceptedMessage, SendFailure>;

impl SendFailure {
    /// Returns the failure of a message that cannot be sent, with the problem and its fix.
    pub(super) fn unsendable(problem: impl Into<String>) -> Self {
        Self {
            outcome: MessageOutcome::Unsendable,
            detail: Some(problem.into()),
            http_status: None,
        }
    }

    pub(super) fn of(response: &ServiceResponse, outcome: MessageOutcome, detail: Option<String>) -> Self {
        Self {
            outcome,
            detail,
            http_status: Some(response.status().as_u16()),
        }
    }

    /// Classifies an error response by its status alone.
    pub(super) fn of_status(response: &ServiceResponse, now: Timestamp, detail: Option<String>) -> Self {
        let status = response.status().as_u16();
        let code = u32::from(status);
        let outcome = match status {
            401 | 403 => MessageOutcome::NotAuthenticated,
            // The owner must change the URL: redirects are not followed, because the new address was not checked.
            301 | 308 => MessageOutcome::Refused { code },
            ..=399 => MessageOutcome::InvalidResponse,
            // Timeout, conflict, misdirected, locked, failed dependency, too early, too many requests.
            408 | 409 | 421 | 423..=425 | 429 | 500.. => deferred(code, delay(response, now)),
            // Any other client error: the same request fails again.
            400..=499 => MessageOutcome::Refused { code },
        };
        let is_redirect = response.status().is_redirection();
        let redirect = is_redirect.then(|| "the URL redirects, which is not followed; set its new address".to_owned());
        Self::of(response, outcome, redirect.or(detail))
    }
}

/// Returns the result of a message that the service accepted.
pub(super) fn accepted(response: &ServiceResponse, provider_id: Option<String>) -> SendResult {
    Ok(AcceptedMessage {
        http_status: response.status().as_u16(),
        provider_id: provider_id.filter(|id| is_id(id)),
        migrated_chat_id: None,
    })
}

/// Returns the outcome of a message that the service does not accept now.
pub(super) const fn deferred(code: u32, retry_after: Option<Duration>) -> MessageOutcome {
    MessageOutcome::Deferred { code, retry_after }
}

/// Returns the delay that the `Retry-After` header requests.
pub(super) fn delay(response: &ServiceResponse, now: Timestamp) -> Option<Duration> {
    requested_delay(response.headers(), now)
}

/// Parses the body of a response; `None` if it is not the documented JSON.
pub(super) fn parse<T: DeserializeOwned>(response: &ServiceResponse) -> Option<T> {
    serde_json::from_slice(response.body()).ok()
}

/// Returns whether a text is an id as services create them.
fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}
