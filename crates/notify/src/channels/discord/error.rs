//! Classification of Discord's responses: <https://docs.discord.com/developers/topics/opcodes-and-status-codes>.

use std::time::Duration;

use jiff::Timestamp;

use super::models::{CreatedMessage, DiscordError};
use crate::channels::outcome::{SendFailure, SendResult, ServiceResponse, accepted, deferred, delay, parse};
use crate::message_attempt::MessageOutcome;

pub(super) fn result(response: &ServiceResponse, now: Timestamp) -> SendResult {
    let status = response.status().as_u16();
    if response.status().is_success() {
        let created: Option<CreatedMessage> = parse(response);
        return accepted(response, created.map(|message| message.id));
    }
    let error: DiscordError = parse(response).unwrap_or_default();
    let mut failure = SendFailure::of_status(response, now, error.message);
    // Errors have codes from 10001; 0 is a general error, whose status says more.
    let code = error.code.filter(|code| *code != 0);
    match (status, code) {
        // The body is more precise than the header, which has whole seconds.
        (429, _) => {
            let seconds = error
                .retry_after
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            failure.outcome = deferred(code.unwrap_or(429), seconds.or_else(|| delay(response, now)));
        }
        // The token is part of the URL: for a deleted webhook (10015) and a wrong token (50027) there is no other. Without a code,
        // the response is not from the API.
        (400..=499, Some(code)) if !matches!(status, 408 | 409 | 423..=425) => {
            failure.outcome = MessageOutcome::Refused { code };
        }
        _ => {}
    }
    Err(failure)
}
