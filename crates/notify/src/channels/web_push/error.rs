//! Classification of the responses of push services.
//!
//! 201 and 202 mean that the message is accepted (RFC 8030, section 5). After 404 and 410 the subscription no longer exists (section
//! 7.3): the browser has removed it, or the permission was revoked. 413: the message is too long; 429: too many messages, with
//! `Retry-After` (section 8.4). 401 and 403: the signature is rejected (RFC 8292, section 4.2), often because the browser has
//! subscribed with another key of this service.

use jiff::Timestamp;

use super::models::PushServiceError;
use crate::channels::outcome::{SendFailure, SendResult, ServiceResponse, accepted, parse};
use crate::message_attempt::MessageOutcome;

/// Maximum length of an error that is plain text, in bytes.
const MAX_ERROR_LENGTH: usize = 300;

pub(super) fn result(response: &ServiceResponse, now: Timestamp) -> SendResult {
    if response.status().is_success() {
        return accepted(response, None);
    }
    let failure = SendFailure::of_status(response, now, error_text(response));
    Err(match response.status().as_u16() {
        status @ (404 | 410) => SendFailure {
            outcome: MessageOutcome::Gone {
                code: u32::from(status),
            },
            detail: None,
            ..failure
        },
        _ => failure,
    })
}

/// Returns the words of the service. Pages in HTML have none.
fn error_text(response: &ServiceResponse) -> Option<String> {
    if let Some(error) = parse::<PushServiceError>(response) {
        return error.message.or(error.reason);
    }
    let text = std::str::from_utf8(response.body()).ok()?.trim();
    let is_text = (1..=MAX_ERROR_LENGTH).contains(&text.len()) && !text.starts_with(['<', '{', '[']);
    is_text.then(|| text.to_owned())
}
