//! Classification of Pushover's responses: <https://pushover.net/api#response> and <https://pushover.net/api#friendly>.
//!
//! "If your POST request to our API was valid, you will receive an HTTP 200 status". "If the application token or user key is invalid",
//! or another parameter, the status is 4xx, the body names the parameter as `invalid`, and the request must not be repeated. After
//! 10,000 messages of a month, the status is 429. 5xx: "you may retry the request after 5 seconds at the earliest".

use std::time::Duration;

use jiff::Timestamp;

use super::models::PushoverResponse;
use crate::channels::outcome::{SendFailure, SendResult, ServiceResponse, accepted, deferred, delay, parse};
use crate::message_attempt::MessageOutcome;

/// Minimum delay before a retry after 5xx.
const MIN_DELAY_AFTER_SERVER_ERROR: Duration = Duration::from_secs(5);
/// The header with the Unix time at which the monthly limit is reset: <https://pushover.net/api#limits>.
const RESET_HEADER: &str = "x-limit-app-reset";

pub(super) fn result(response: &ServiceResponse, now: Timestamp) -> SendResult {
    let status = response.status().as_u16();
    let body: Option<PushoverResponse> = parse(response);
    let body = body.unwrap_or_default();
    if response.status().is_success() && body.status.is_none_or(|status| status == 1) {
        return accepted(response, body.request);
    }
    let errors = Some(body.errors.join("; ")).filter(|errors| !errors.is_empty());
    let mut failure = SendFailure::of_status(response, now, errors);
    let code = u32::from(status);
    match status {
        429 => failure.outcome = deferred(code, delay(response, now).or_else(|| until_reset(response, now))),
        500.. => {
            let delay = delay(response, now)
                .unwrap_or_default()
                .max(MIN_DELAY_AFTER_SERVER_ERROR);
            failure.outcome = deferred(code, Some(delay));
        }
        // The token of the application, which its owner or the operator can replace.
        400..=499 if body.token.as_deref() == Some("invalid") => failure.outcome = MessageOutcome::NotAuthenticated,
        // Without a status in its body, the response is not from the API.
        200..=299 | 400..=499 if body.status.is_some() => failure.outcome = MessageOutcome::Refused { code },
        _ => {}
    }
    Err(failure)
}

/// Returns the time until the monthly limit is reset.
fn until_reset(response: &ServiceResponse, now: Timestamp) -> Option<Duration> {
    let reset = response.headers().get(RESET_HEADER)?.to_str().ok()?;
    let reset = Timestamp::from_second(reset.trim().parse().ok()?).ok()?;
    Duration::try_from(reset.duration_since(now)).ok()
}
