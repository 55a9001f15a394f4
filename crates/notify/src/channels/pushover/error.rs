//! Classification of Pushover's responses: <https://pushover.net/api#response> and <https://pushover.net/api#friendly>.
//!
//! 200 and a `status` of 1: the message is accepted. "If we issue a 4xx HTTP response, or the status parameter is not 1, your input was
//! invalid. Either your application is over its quota, your token is invalid, a user is no longer active […] repeating your same
//! request will not work", and an address that repeats many is blocked. So these errors are for good, also those of the token. "If we
//! issue a 500 or any other HTTP response, […] You can repeat your same request again, but no sooner than 5 seconds".
//!
//! The quota is of a month, with 429 and the time of its end in a header: <https://pushover.net/api#limits>.

use std::time::Duration;

use jiff::Timestamp;

use super::models::PushoverResponse;
use crate::channels::outcome::{SendFailure, SendResult, ServiceResponse, accepted, deferred, delay, parse};
use crate::message_attempt::MessageOutcome;
use crate::schedule::MAX_RETRY_AFTER;
use clock::signed;

/// Minimum delay before a retry after 5xx.
const MIN_DELAY_AFTER_SERVER_ERROR: Duration = Duration::from_secs(5);
/// The header with the Unix time at which the quota is reset.
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
    match (status, body.status) {
        (429, _) => failure.outcome = over_quota(response, now),
        // Without a status in its body, the response is not from the API.
        (200..=299 | 400..=499, Some(_)) => failure.outcome = MessageOutcome::Refused { code },
        (500.., _) => {
            let delay = delay(response, now)
                .unwrap_or_default()
                .max(MIN_DELAY_AFTER_SERVER_ERROR);
            failure.outcome = deferred(code, Some(delay));
        }
        _ => {}
    }
    Err(failure)
}

/// Returns the outcome of 429: for good if the quota is used up for longer than a retry can wait.
fn over_quota(response: &ServiceResponse, now: Timestamp) -> MessageOutcome {
    match delay(response, now).or_else(|| until_reset(response, now)) {
        Some(delay) if signed(delay) > MAX_RETRY_AFTER => MessageOutcome::Refused { code: 429 },
        delay => deferred(429, delay),
    }
}

/// Returns the time until the quota is reset.
fn until_reset(response: &ServiceResponse, now: Timestamp) -> Option<Duration> {
    let reset = response.headers().get(RESET_HEADER)?.to_str().ok()?;
    let reset = Timestamp::from_second(reset.trim().parse().ok()?).ok()?;
    Duration::try_from(reset.duration_since(now)).ok()
}
