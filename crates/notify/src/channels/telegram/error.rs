//! Classification of the responses of the Bot API: <https://core.telegram.org/bots/api#making-requests> and
//! <https://core.telegram.org/api/errors>.
//!
//! Errors have an HTTP status, a `description` and sometimes `parameters`. 400: the request is invalid, like
//! `Bad Request: chat not found`. 401: the token is invalid; 404: it has not even the form of one. 403: the bot may not write to the
//! chat, like `Forbidden: bot was blocked by the user`. 409: another program reads the updates. 429: too many requests, with
//! `retry_after` in seconds.

use std::time::Duration;

use jiff::Timestamp;

use super::models::TelegramResponse;
use crate::channels::outcome::{SendFailure, ServiceResponse, deferred, delay, parse};
use crate::message_attempt::MessageOutcome;

/// An error response.
pub(super) struct ErrorResponse {
    pub(super) failure: SendFailure,
    /// The new id of the chat, if it moved.
    pub(super) migrate_to_chat_id: Option<i64>,
}

impl From<SendFailure> for ErrorResponse {
    fn from(failure: SendFailure) -> Self {
        Self {
            failure,
            migrate_to_chat_id: None,
        }
    }
}

/// Returns the body of a successful response, or the classified error.
pub(super) fn result(response: &ServiceResponse, now: Timestamp) -> Result<TelegramResponse, ErrorResponse> {
    let body: TelegramResponse = parse(response).unwrap_or_default();
    if response.status().is_success() {
        // The body may be unreadable; the message is accepted nevertheless.
        return Ok(body);
    }
    let mut failure = SendFailure::of_status(response, now, body.description);
    let status = response.status().as_u16();
    let retry_after = body.parameters.retry_after.map(Duration::from_secs);
    match (status, body.error_code) {
        (429, _) => failure.outcome = deferred(429, retry_after.or_else(|| delay(response, now))),
        // Without a code, the response is not from the Bot API.
        (403, Some(code)) => failure.outcome = MessageOutcome::Refused { code },
        (404, _) => failure.outcome = MessageOutcome::NotAuthenticated,
        _ => {}
    }
    Err(ErrorResponse {
        failure,
        migrate_to_chat_id: body.parameters.migrate_to_chat_id,
    })
}
