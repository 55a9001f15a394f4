//! Classification of Slack's responses.
//!
//! The body of an error is its name as plain text. The documentation lists `invalid_payload` and `user_not_found` (400),
//! `action_prohibited` and `invalid_token` (403), `no_service`, `channel_not_found` and `no_team` (404), `channel_is_archived` (410)
//! and `rollup_error` (500): <https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks#handling_errors>. After too
//! many requests, the status is 429 with `Retry-After`: <https://docs.slack.dev/apis/web-api/rate-limits>.

use http::StatusCode;
use jiff::Timestamp;

use crate::channels::outcome::{SendFailure, SendResult, ServiceResponse, accepted};
use crate::message_attempt::MessageOutcome;

/// Maximum length of the name of an error, in bytes.
const MAX_NAME_LENGTH: usize = 64;

pub(super) fn result(response: &ServiceResponse, now: Timestamp) -> SendResult {
    if response.status().is_success() {
        return accepted(response, None);
    }
    let name = error_name(response.body()).map(str::to_owned);
    let mut failure = SendFailure::of_status(response, now, name);
    // The secret is part of the URL. A webhook that Slack has revoked or an administrator has forbidden works with no other secret.
    if response.status() == StatusCode::FORBIDDEN {
        failure.outcome = MessageOutcome::Refused { code: 403 };
    }
    Err(failure)
}

/// Returns the name of an error, like `channel_is_archived`.
fn error_name(body: &[u8]) -> Option<&str> {
    let name = std::str::from_utf8(body).ok()?.trim();
    let is_name = (1..=MAX_NAME_LENGTH).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some(name)
}
