//! Classification of ntfy's responses.
//!
//! Errors are JSON, `{"code": 42901, "http": 429, "error": "limit reached: too many requests", "link": …}`; all codes are in
//! <https://github.com/binwiederhier/ntfy/blob/main/server/errors.go>. 42901 is the limit of requests, 42908 the daily number of
//! messages. 401 and 403 mean that the topic needs a token, or another one.

use jiff::Timestamp;

use super::models::{NtfyError, PublishedMessage};
use crate::channels::outcome::{SendFailure, SendResult, ServiceResponse, accepted, parse};
use crate::message_attempt::MessageOutcome;

pub(super) fn result(response: &ServiceResponse, now: Timestamp) -> SendResult {
    if response.status().is_success() {
        let published: Option<PublishedMessage> = parse(response);
        return accepted(response, published.map(|message| message.id));
    }
    let error: NtfyError = parse(response).unwrap_or_default();
    let mut failure = SendFailure::of_status(response, now, error.error);
    if let (MessageOutcome::Refused { code } | MessageOutcome::Deferred { code, .. }, Some(of_ntfy)) =
        (&mut failure.outcome, error.code)
    {
        *code = of_ntfy;
    }
    Err(failure)
}
